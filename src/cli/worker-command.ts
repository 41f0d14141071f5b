// `storybar worker`: render for servers elsewhere. Needs the queue's address and nothing else: no database, no keys.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { readSettings, type Settings, SettingsError } from '../config/settings.ts';
import { WorkerNode } from '../dispatch/remote/worker/worker-node.ts';
import { WorkArea } from '../media/work-area.ts';
import { createLogger } from '../telemetry/logger.ts';
import { Metrics } from '../telemetry/metrics.ts';
import { type LocalWorkers, startLocalWorkers } from '../main/local-workers.ts';
import { messageOf } from '../main/message-of.ts';
import { queueAccess } from '../main/queue-access.ts';
import { stopOnSignals } from '../main/stop-on-signals.ts';
import { VERSION } from '../main/version.ts';

const HELP = `storybar worker: render for servers on other machines. Settings come from the environment:
  STORYBAR_NATS_URL        the queue (needed)
  STORYBAR_WORKERS, STORYBAR_VIDEO_WORKERS   renders at once
  STORYBAR_DATA_DIR        where assets lie while they are rendered
  HOST, PORT               of GET /health
See docs/configuration.md and docs/operating.md.
`;

export async function workerCommand(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { help: { type: 'boolean', short: 'h' } } });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const settings = readSettings();
  if (settings.natsUrl === '') throw new SettingsError(['STORYBAR_NATS_URL must name the queue to work for']);
  if (settings.workers + settings.videoWorkers === 0) {
    throw new SettingsError(['STORYBAR_WORKERS and STORYBAR_VIDEO_WORKERS must not both be 0']);
  }
  const worker = await startWorker(settings);
  process.stdout.write(`Storybar ${VERSION} worker, health on ${worker.url}/health\n`);
  stopOnSignals(async () => await worker.drain());
}

interface RunningWorker {
  readonly url: string;
  drain(): Promise<void>;
}

async function startWorker(settings: Settings): Promise<RunningWorker> {
  const queue = queueAccess(settings);
  const logger = createLogger(settings.logLevel);
  const workArea = await WorkArea.open(path.join(settings.dataDirectory, 'work'));
  const metrics = new Metrics(VERSION);
  const workers = await startLocalWorkers(settings, logger, metrics);
  const { renderer } = workers;
  metrics.watchPools(() => renderer.status());
  const node = new WorkerNode({
    queue,
    slots: { image: settings.workers, video: settings.videoWorkers },
    renderer,
    workArea,
    onError: (error) => logger.warn({ err: error }, 'trouble with the queue'),
    onEvent: (event) => logger.info(event, 'queue'),
  });
  const health = await openHealth(settings, node, workers, metrics).catch(async (error: unknown) => {
    await workers.close();
    throw new SettingsError([`PORT ${settings.port} on HOST ${settings.host} cannot be opened: ${messageOf(error)}`]);
  });
  return {
    url: `http://${settings.host}:${(health.address() as AddressInfo).port}`,
    drain: async () => {
      // Renders are given as long as they are allowed to take; whoever is less patient sends a second signal.
      await node.drain();
      await workers.close();
      await workArea.close();
      health.close();
    },
  };
}

/** `/health` is 503 unless it takes tickets: an orchestrator sees at once who is of use. `/metrics` is for Prometheus. */
async function openHealth(
  settings: Settings,
  node: WorkerNode,
  { renderer, sandbox }: LocalWorkers,
  metrics: Metrics,
): Promise<Server> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url !== '/health' && request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    if (request.url === '/metrics') {
      response.writeHead(200, { 'content-type': metrics.contentType }).end(await metrics.text());
      return;
    }
    const state = node.status();
    const status = state.isDraining ? 'draining' : state.isConnected ? 'ok' : 'disconnected';
    response.writeHead(status === 'ok' ? 200 : 503, {
      'content-type': 'application/json',
      'cache-control': 'no-store',
    });
    response.end(JSON.stringify({ status, version: VERSION, sandbox, ...state, renderer: renderer.status() }));
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(settings.port, settings.host, resolve);
  });
  return server;
}

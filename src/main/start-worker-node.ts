// Composition root of `storybar worker`: a worker node, its local render processes and its health endpoint.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type Settings, SettingsError } from '../config/settings.ts';
import { WorkerNode, type WorkerNodeOptions } from '../dispatch/remote/worker/worker-node.ts';
import { WorkArea } from '../media/work-area.ts';
import { createLogger, type Logger } from '../telemetry/logger.ts';
import { Metrics } from '../telemetry/metrics.ts';
import { type LocalWorkers, startLocalWorkers } from './local-workers.ts';
import { messageOf } from './message-of.ts';
import { natsHosts, queueAccess } from './queue-access.ts';
import { VERSION } from './version.ts';
import { keepFilesPrivate } from './private-files.ts';
import { ResourceStack } from './resource-stack.ts';

export interface RunningWorkerNode {
  /** The address of the health endpoint. */
  readonly url: string;
  /** Finishes running renders, takes no new ones and closes everything. */
  drain(): Promise<void>;
}

export async function startWorkerNode(settings: Settings): Promise<RunningWorkerNode> {
  keepFilesPrivate();
  const resources = new ResourceStack();
  try {
    return await open(settings, resources);
  } catch (error) {
    // Reported apart, because it must not hide why the start failed.
    await resources.close().catch((closeError: unknown) => {
      process.emitWarning(`closing after a failed start: ${messageOf(closeError)}`);
    });
    throw error;
  }
}

async function open(settings: Settings, resources: ResourceStack): Promise<RunningWorkerNode> {
  const queue = queueAccess(settings);
  const logger = createLogger(settings.logLevel);
  const workArea = resources.add(await WorkArea.open(path.join(settings.dataDirectory, 'work')));
  const metrics = new Metrics(VERSION);
  const workers = resources.add(await startLocalWorkers(settings, logger, metrics));
  const { renderer } = workers;
  metrics.watchPools(() => renderer.status());
  const queueLogger = logger.child({ nats: natsHosts(settings) });
  const node: WorkerNode = new WorkerNode({
    queue,
    slots: { image: settings.workers, video: settings.videoWorkers },
    renderer,
    workArea,
    onError: (error) => queueLogger.warn({ worker: node.status().worker, err: error }, 'queue error'),
    onEvent: (event) => logEvent(event, node.status().worker, queueLogger),
  });
  resources.add({ close: async () => await node.drain() });
  const health = await openHealth(settings, node, workers, metrics).catch((error: unknown) => {
    throw new SettingsError([`PORT ${settings.port} on HOST ${settings.host} cannot be opened: ${messageOf(error)}`]);
  });
  return {
    url: `http://${settings.host}:${(health.address() as AddressInfo).port}`,
    drain: async () => {
      await resources.close();
      health.close();
    },
  };
}

function logEvent(event: Parameters<WorkerNodeOptions['onEvent']>[0], worker: string, logger: Logger): void {
  switch (event.type) {
    case 'connected':
      return logger.info({ worker }, 'connected to NATS');
    case 'disconnected':
      return logger.warn({ worker }, 'NATS connection lost, reconnecting');
    case 'refused':
      return logger.info({ worker, status: event.status }, 'API server refused the result');
  }
}

/** `/health` is 503 unless the worker takes tickets, so that an orchestrator sees which workers are useful. */
async function openHealth(
  settings: Settings,
  node: WorkerNode,
  { renderer, sandbox }: LocalWorkers,
  metrics: Metrics,
): Promise<Server> {
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
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
    respond(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(settings.port, settings.host, resolve);
  });
  return server;
}

// Composition root of `storybar worker`: a worker node, its local render processes and its health endpoint.

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import path from 'node:path';
import { type Settings, SettingsError } from '../service/config/settings.ts';
import { PROTOCOL } from '../service/dispatch/remote/shared/protocol.ts';
import { type WorkerEvent, WorkerNode } from '../service/dispatch/remote/worker/worker-node.ts';
import { hasMetricsToken, mayReadMetrics } from '../service/http/access/metrics-access.ts';
import { WorkArea } from '../engine/media/work-area.ts';
import { createLogger, type Logger } from '../service/telemetry/logger.ts';
import { Metrics } from '../service/telemetry/metrics.ts';
import { PeriodicTasks } from './periodic-tasks.ts';
import { warnAboutDisk, watchDisks } from './watch-resources.ts';
import { type LocalWorkers, startLocalWorkers } from './local-workers.ts';
import { messageOf } from '../shared/error-facts.ts';
import { natsHosts, queueAccess } from './queue-access.ts';
import { VERSION } from './version.ts';
import { keepFilesPrivate } from './private-files.ts';
import { openAll, type ResourceStack } from './resource-stack.ts';
import { warnAboutRemovedSettings } from './startup-checks.ts';

const MAX_HOST_CHARACTERS = 48;
const DISK_MS = 10_000;

export interface RunningWorkerNode {
  /** The address of the health endpoint. */
  readonly url: string;
  /** Finishes running renders, takes no new ones and closes everything. */
  drain(): Promise<void>;
}

export async function startWorkerNode(settings: Settings): Promise<RunningWorkerNode> {
  keepFilesPrivate();
  return await openAll(async (resources) => await open(settings, resources));
}

async function open(settings: Settings, resources: ResourceStack): Promise<RunningWorkerNode> {
  const queue = queueAccess(settings);
  const name = workerName();
  const logger = createLogger(settings.logLevel, VERSION).child({ node: name });
  logger.info({ pid: process.pid, nodejs: process.version, protocol: PROTOCOL }, 'worker node starting');
  warnAboutRemovedSettings(logger);
  const workArea = resources.add(await WorkArea.open(path.join(settings.dataDirectory, 'work')));
  const metrics = new Metrics(VERSION);
  const workers = resources.add(await startLocalWorkers(settings, logger, metrics));
  const disk = await watchDisks({ data: settings.dataDirectory }, metrics);
  warnAboutDisk(disk.free, settings.dataDirectory, logger);
  const tasks = new PeriodicTasks(logger, metrics.dependencies);
  resources.add({ close: async () => tasks.stop() });
  tasks.every(DISK_MS, 'read free disk space', async () => await disk.read());
  const { renderer } = workers;
  metrics.watchPools(() => renderer.status());
  const queueLogger = logger.child({ nats: natsHosts(settings) });
  const node: WorkerNode = new WorkerNode({
    name,
    version: VERSION,
    queue,
    slots: workers.slots,
    renderer,
    workArea,
    onError: (error) => queueLogger.warn({ err: error }, 'queue error'),
    onEvent: (event) => {
      countEvent(event, metrics);
      logEvent(event, queueLogger);
    },
  });
  metrics.dependencies.watchNats(() => node.status().isConnected);
  resources.add({ close: async () => await node.drain() });
  const health = await openHealth(settings, node, workers, metrics).catch((error: unknown) => {
    throw new SettingsError([`PORT ${settings.port} on HOST ${settings.host} cannot be opened: ${messageOf(error)}`]);
  });
  const url = `http://${settings.host}:${(health.address() as AddressInfo).port}`;
  logger.info({ url, slots: workers.slots }, 'worker node listening');
  return {
    url,
    drain: async () => {
      const { busy } = node.status();
      logger.info({ busy }, 'worker node draining');
      await resources.close();
      health.close();
      logger.info('worker node stopped');
    },
  };
}

/** Names the machine, so that the log of an API server shows where to look. Names have at most 64 characters. */
function workerName(): string {
  const host = hostname()
    .replaceAll(/[^\w-]/gu, '-')
    .slice(0, MAX_HOST_CHARACTERS);
  return `${host}-${randomUUID().slice(0, 8)}`;
}

function countEvent(event: WorkerEvent, { dependencies }: Metrics): void {
  if (event.type === 'disconnected') dependencies.natsDisconnected();
  else if (event.type === 'served') dependencies.ticket(event.verdict === 'used' ? 'served' : 'given_back');
  else if (event.type === 'refused' || event.type === 'incompatible') dependencies.ticket(event.type);
}

function logEvent({ type, ...fields }: WorkerEvent, logger: Logger): void {
  switch (type) {
    case 'connected':
      return logger.info('connected to NATS');
    case 'disconnected':
      return logger.warn('NATS connection lost, reconnecting');
    case 'refused':
      return logger.info(fields, 'API server refused the result');
    case 'again':
      return logger.warn(fields, 'ticket given back to the queue');
    case 'served':
      return logger.debug(fields, 'ticket served');
    case 'incompatible':
      return logger.error({ ...fields, ourProtocol: PROTOCOL }, 'ticket of an incompatible version given back');
  }
}

/** `/health` is 503 unless the worker takes tickets, so that an orchestrator sees which workers are useful. */
async function openHealth(
  settings: Pick<Settings, 'host' | 'port' | 'metricsToken'>,
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
      if (!mayReadMetrics(request, settings.metricsToken)) {
        response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
        return;
      }
      response.writeHead(200, { 'content-type': metrics.contentType }).end(await metrics.text());
      return;
    }
    const state = node.status();
    const status = state.isDraining ? 'draining' : state.isConnected ? 'ok' : 'disconnected';
    response.writeHead(status === 'ok' ? 200 : 503, {
      'content-type': 'application/json',
      'cache-control': 'no-store',
    });
    const details = { sandbox, ...state, renderer: renderer.status() };
    response.end(JSON.stringify({ status, ...(hasMetricsToken(request, settings.metricsToken) && details) }));
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

// Decides where renders run: in worker processes on this machine, on worker nodes behind the queue, or both.

import { hostname } from 'node:os';
import { type ClusterSettings, SettingsError, type WorkerSettings } from '../service/config/settings.ts';
import { FallbackRenderer } from '../service/dispatch/remote/api-server/fallback-renderer.ts';
import type { RemoteEvent } from '../service/dispatch/remote/api-server/remote-event.ts';
import type { RemoteRenderer } from '../service/dispatch/remote/api-server/remote-renderer.ts';
import { PROTOCOL } from '../service/dispatch/remote/shared/protocol.ts';
import { ASYNC_BUDGET_MS, type PoolStatus, type Renderer, type RendererStatus } from '../service/dispatch/renderer.ts';
import type { FleetReading } from '../service/telemetry/dependency-metrics.ts';
import type { HealthReport } from '../service/telemetry/health.ts';
import type { Logger } from '../service/telemetry/logger.ts';
import type { Metrics } from '../service/telemetry/metrics.ts';
import { type LocalWorkerSettings, startLocalWorkers } from './local-workers.ts';
import { messageOf } from '../shared/error-facts.ts';
import { natsHosts, queueAccess } from './queue-access.ts';
import { VERSION } from './version.ts';

export interface RendererServices {
  readonly renderer: Renderer;
  readonly sandbox: HealthReport['sandbox'];
  close(): Promise<void>;
}

type RendererSettings = LocalWorkerSettings & ClusterSettings;

const WILDCARD_ADDRESSES: ReadonlySet<string> = new Set(['0.0.0.0', '::']);
const NO_WORKERS: PoolStatus = { workers: 0, ready: 0, busy: 0, waiting: 0, backlogMs: 0, restarts: 0 };
/** Added to the longest deadline, because clocks of different machines differ a little. */
const EXPIRY_SLACK_MS = 60_000;

export async function startRenderer(
  settings: RendererSettings,
  logger: Logger,
  metrics: Metrics,
): Promise<RendererServices> {
  const { workers, videoWorkers, natsUrl } = settings;
  if (natsUrl === '') {
    if (workers === 0 || videoWorkers === 0) {
      const which = workers === 0 ? 'STORYBAR_WORKERS' : 'STORYBAR_VIDEO_WORKERS';
      throw new SettingsError([`${which} must be at least 1 unless STORYBAR_NATS_URL is set`]);
    }
    const only = await startLocalWorkers(settings, logger, metrics);
    metrics.watchPools(() => only.renderer.status());
    return only;
  }
  const remote = await startRemoteRenderer(settings, logger, metrics);
  watchRemote(metrics, remote);
  if (workers + videoWorkers === 0) {
    metrics.watchPools(() => ownPools(remote.status()));
    return { renderer: remote, sandbox: { level: 'elsewhere', guards: [] }, close: () => remote.close() };
  }
  const local = await startLocalWorkers(settings, logger, metrics).catch(async (error: unknown) => {
    await remote.close();
    throw error;
  });
  metrics.watchPools(() => ownPools(remote.status(), local.renderer.status()));
  const serves = { image: workers > 0, video: videoWorkers > 0 };
  return {
    renderer: new FallbackRenderer(remote, { renderer: local.renderer, serves }),
    sandbox: local.sandbox,
    close: async () => {
      await remote.close();
      await local.close();
    },
  };
}

async function startRemoteRenderer(
  settings: RendererSettings,
  logger: Logger,
  metrics: Metrics,
): Promise<RemoteRenderer> {
  const { internalHost: host, internalPort: port } = settings;
  const queue = queueAccess(settings);
  const queueLogger = logger.child({ nats: natsHosts(settings) });
  try {
    // Loaded on demand, because servers without NATS don't need its client.
    const { RemoteRenderer: Remote } = await import('../service/dispatch/remote/api-server/remote-renderer.ts');
    return await Remote.start({
      version: VERSION,
      queue,
      listen: { host, port },
      urlOf: (taken) => settings.internalUrl || internalUrl(host, taken),
      maxWaiting: settings.queueLength,
      longestMs: longestMs(settings) + EXPIRY_SLACK_MS,
      maxOutputBytes: settings.outputBytes,
      onError: (error) => queueLogger.warn({ err: error }, 'queue error'),
      onEvent: (event) => {
        countEvent(event, metrics);
        logEvent(event, queueLogger);
      },
    });
  } catch (error) {
    throw new SettingsError([
      `STORYBAR_INTERNAL_PORT ${port} on STORYBAR_INTERNAL_HOST ${host} cannot be opened: ${messageOf(error)}`,
    ]);
  }
}

/** Accepted renders may run although new ones are refused. */
function longestMs({ deadlineSeconds, videoDeadlineSeconds }: WorkerSettings): number {
  return Math.max(deadlineSeconds * 1_000, videoDeadlineSeconds * 1_000, ASYNC_BUDGET_MS);
}

/** Workers of other machines belong to every API server, so they count for the fleet and not for this process. */
function ownPools(remote: RendererStatus, local?: RendererStatus): Pick<RendererStatus, 'images' | 'videos'> {
  const own = (kind: 'images' | 'videos'): PoolStatus => ({
    ...(local?.[kind] ?? NO_WORKERS),
    waiting: remote[kind].waiting + (local?.[kind].waiting ?? 0),
    backlogMs: remote[kind].backlogMs + (local?.[kind].backlogMs ?? 0),
  });
  return { images: own('images'), videos: own('videos') };
}

function watchRemote({ dependencies }: Metrics, remote: RemoteRenderer): void {
  const reading = (status: RendererStatus, kind: 'images' | 'videos'): FleetReading => {
    const { workers: slots, ready, busy } = status[kind];
    const { waiting: ticketsWaiting = 0, taken: ticketsTaken = 0 } = status.remote?.queue[kind] ?? {};
    return { slots, ready, busy, ticketsWaiting, ticketsTaken };
  };
  dependencies.watchNats(() => remote.status().remote?.isConnected === true);
  dependencies.watchFleet(() => {
    const status = remote.status();
    return { image: reading(status, 'images'), video: reading(status, 'videos') };
  });
}

function countEvent(event: RemoteEvent, metrics: Metrics): void {
  const { type } = event;
  if (type === 'claimed') metrics.waited(event.kind, event.waitedMs);
  if (type === 'disconnected') metrics.dependencies.natsDisconnected();
  if (type === 'issued' || type === 'claimed' || type === 'lost' || type === 'incompatible') {
    metrics.dependencies.ticket(type);
  }
}

function internalUrl(host: string, port: number): string {
  const name = WILDCARD_ADDRESSES.has(host) ? hostname() : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

function logEvent({ type, ...fields }: RemoteEvent, logger: Logger): void {
  switch (type) {
    case 'issued':
      return;
    case 'claimed':
      return logger.debug(fields, 'ticket claimed by a worker');
    case 'lost':
      return logger.warn(fields, 'worker lost a render, handing it out again');
    case 'incompatible':
      return logger.error({ ...fields, ourProtocol: PROTOCOL }, 'worker of an incompatible version ignored');
    case 'connected':
      return logger.info('connected to NATS');
    case 'disconnected':
      return logger.warn('NATS connection lost, reconnecting');
  }
}

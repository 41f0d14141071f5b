// Where renders run: in worker processes here, elsewhere by way of a queue, or both.

import { hostname } from 'node:os';
import { type Settings, SettingsError } from '../config/settings.ts';
import { FallbackRenderer } from '../dispatch/remote/api-server/fallback-renderer.ts';
import { type RemoteEvent, RemoteRenderer } from '../dispatch/remote/api-server/remote-renderer.ts';
import type { Renderer } from '../dispatch/renderer.ts';
import type { HealthReport } from '../telemetry/health.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { startLocalWorkers } from './local-workers.ts';
import { messageOf } from './message-of.ts';
import { queueAccess } from './queue-access.ts';

export interface Workers {
  readonly renderer: Renderer;
  readonly sandbox: HealthReport['sandbox'];
  close(): Promise<void>;
}

const EVERY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);
/** Beyond the longest deadline, for clocks that differ a little. */
const EXPIRY_SLACK_MS = 60_000;

export async function startRenderer(settings: Settings, logger: Logger, metrics: Metrics): Promise<Workers> {
  const { workers, videoWorkers, natsUrl } = settings;
  if (natsUrl === '') {
    if (workers === 0 || videoWorkers === 0) {
      const which = workers === 0 ? 'STORYBAR_WORKERS' : 'STORYBAR_VIDEO_WORKERS';
      throw new SettingsError([`${which} must be at least 1 without STORYBAR_NATS_URL`]);
    }
    return await startLocalWorkers(settings, logger, metrics);
  }
  const remote = await startRemoteRenderer(settings, logger, metrics);
  if (workers + videoWorkers === 0) {
    return { renderer: remote, sandbox: { level: 'elsewhere', guards: [] }, close: () => remote.close() };
  }
  const here = await startLocalWorkers(settings, logger, metrics).catch(async (error: unknown) => {
    await remote.close();
    throw error;
  });
  const serves = { image: workers > 0, video: videoWorkers > 0 };
  return {
    renderer: new FallbackRenderer(remote, { renderer: here.renderer, serves }),
    sandbox: here.sandbox,
    close: async () => {
      await remote.close();
      await here.close();
    },
  };
}

async function startRemoteRenderer(settings: Settings, logger: Logger, metrics: Metrics): Promise<RemoteRenderer> {
  const { internalHost: host, internalPort: port } = settings;
  const queue = queueAccess(settings);
  try {
    return await RemoteRenderer.start({
      queue,
      listen: { host, port },
      urlOf: (taken) => settings.internalUrl || internalUrl(host, taken),
      maxWaiting: settings.queueLength,
      longestMs: Math.max(settings.deadlineSeconds, settings.videoDeadlineSeconds) * 1_000 + EXPIRY_SLACK_MS,
      segmentSeconds: settings.segmentSeconds,
      onError: (error) => logger.warn({ err: error }, 'trouble with the queue'),
      onEvent: (event) => {
        if (event.type === 'claimed') metrics.waited(event.kind, event.waitedMs);
        logEvent(event, logger);
      },
    });
  } catch (error) {
    throw new SettingsError([
      `STORYBAR_INTERNAL_PORT ${port} on STORYBAR_INTERNAL_HOST ${host} cannot be opened: ${messageOf(error)}`,
    ]);
  }
}

function internalUrl(host: string, port: number): string {
  const name = EVERY_ADDRESS.has(host) ? hostname() : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

function logEvent(event: RemoteEvent, logger: Logger): void {
  switch (event.type) {
    case 'claimed':
      return logger.debug({ kind: event.kind, waitedMs: Math.round(event.waitedMs) }, 'ticket taken');
    case 'lost':
      return logger.warn({ kind: event.kind, reason: event.reason }, 'render lost by a worker, handed out again');
    case 'split':
      return logger.debug({ segments: event.segments, workers: event.workers }, 'video cut into segments');
    case 'hedged':
      return logger.info('segment takes long, handed out a second time');
    case 'unsplit':
      return logger.warn({ err: event.reason }, 'video in segments failed, rendered whole');
    case 'connected':
      return logger.info('connected to the queue');
    case 'disconnected':
      return logger.warn('connection to the queue lost');
  }
}

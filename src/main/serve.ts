// Composition root of the server. No other file knows every part.

import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import { type Settings, SettingsError } from '../config/settings.ts';
import { AppError } from '../errors.ts';
import { AssetFetcher } from '../fetch/asset-fetcher.ts';
import { FetchPolicy } from '../fetch/fetch-policy.ts';
import type { Admission } from '../http/access/admission.ts';
import { LocalLimits } from '../limits/local-limits.ts';
import { Connections } from '../http/transport/connections.ts';
import { RunningRequests } from '../http/transport/running-requests.ts';
import { FileSender } from '../http/overlay/file-sender.ts';
import { createServer } from '../http/server.ts';
import { serviceRoutes } from '../http/service-routes.ts';
import { apiRoutes } from './api-routes.ts';
import { WebhookChanges } from '../webhooks/webhook-changes.ts';
import { UploadBudget } from '../renders/upload-budget.ts';
import { WorkArea } from '../media/work-area.ts';
import type { Store } from '../store/store.ts';
import type { HealthReport } from '../telemetry/health.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { assertPlans, healthOf, Readiness, warnAboutPublicSignUp } from './startup-checks.ts';
import { loadPlans } from './load-plans.ts';
import { messageOf } from '../primitives/error-facts.ts';
import { keepFilesPrivate } from './private-files.ts';
import { wireBilling } from './wire-access.ts';
import { openStore } from './open-store.ts';
import { openAll, type ResourceStack } from './resource-stack.ts';
import { createPages } from './pages.ts';
import { assertPaymentSettings, startPayments } from './payments.ts';
import { startRenders } from './start-renders.ts';
import { startWebhooks } from './start-webhooks.ts';
import { startRenderer } from './start-renderer.ts';
import { startTelemetry } from './start-telemetry.ts';
import { VERSION } from './version.ts';
import { printWelcome } from './welcome.ts';

/** The time to send error responses after running requests were aborted. */
const FINAL_RESPONSES_MS = 2_000;
/** The time to charge the last render after its connection was closed. Renders that are left by then stay uncharged. */
const LAST_SETTLE_MS = 10_000;

export interface RunningServer {
  readonly url: string;
  /** Reports not ready, stops accepting, lets running requests finish, then stops the workers and closes the store. */
  close(): Promise<void>;
}

/** With `showSecrets`, a new installation gets its first key and the operator's link on stdout. */
export async function serve(settings: Settings, showSecrets = false): Promise<RunningServer> {
  keepFilesPrivate();
  return await openAll(async (resources) => await open(settings, showSecrets, resources));
}

async function open(settings: Settings, showSecrets: boolean, resources: ResourceStack): Promise<RunningServer> {
  const { logger, metrics, traces } = resources.add(await startTelemetry(settings));
  const plans = loadPlans(settings);
  assertPaymentSettings(settings, plans);
  warnAboutPublicSignUp(settings, logger);
  const onBroken = (error: unknown): void => logger.warn({ err: error }, 'database connection failed, opening another');
  const onRetry = (error: unknown): void => logger.warn({ err: error }, 'database unavailable, retrying');
  const store = resources.add(
    await onceAvailable(async () => await openStore(settings, onBroken, metrics.dependencies), onRetry),
  );
  await assertPlans(store, plans);
  const billing = resources.add(await wireBilling(settings, store, plans, logger));
  const workArea = resources.add(await WorkArea.open(path.join(settings.dataDirectory, 'work')));
  const { renderer, sandbox } = resources.add(await startRenderer(settings, logger, metrics));
  const readiness = new Readiness(renderer);
  const shutdown = new AbortController();
  let stage: 'serving' | 'draining' | 'closing' = 'serving';
  const uploads = createUploadBudget(settings, metrics, billing.parts.admission);
  const health = (): HealthReport => healthOf(renderer.status(), sandbox, metrics.latency);
  const payments = resources.add(await startPayments(settings, store, plans, logger, metrics.dependencies));
  const sender = new FileSender(shutdown.signal, settings.downloadSeconds);
  const running = new RunningRequests();
  const forRenders = { renderer, workArea, uploads, sender, running };
  const parts = { settings, logger, metrics, plans, store, billing: payments.billing, health, ...forRenders };
  const fetcher = createFetcher(settings);
  const changes = createWebhookChanges(store, fetcher);
  const renders = resources.add(await startRenders({ ...parts, ...billing.parts, fetcher, shutdown: shutdown.signal }));
  const forPages = { ...parts, ...renders.forPages, webhooks: changes };
  const pages = resources.add(await createPages({ ...forPages, shutdown: shutdown.signal }));
  const forWebhooks = { ...parts, ...billing.parts, fetcher, changes, mailer: pages.mailer };
  const webhooks = resources.add(startWebhooks({ ...forWebhooks, shutdown: shutdown.signal }));
  const forApi = { ...parts, billing: billing.parts, renders: renders.parts, playground: pages.playground };
  const api = apiRoutes({ ...forApi, fetcher, shutdown: shutdown.signal });
  const isReady = (): string | undefined => readiness.whyNot(stage !== 'serving');
  const service = serviceRoutes({ health, readiness: isReady, metrics, metricsToken: settings.metricsToken });
  const app = createServer({
    groups: [api, service, ...pages.groups, ...payments.groups, ...renders.groups, ...webhooks.groups],
    errors: { publicUrl: settings.publicUrl, errorPage: pages.errorPage },
    log: { logger, metrics, traces, requests: billing.parts.requests },
    trustProxy: settings.trustProxy,
    uploadSeconds: settings.uploadSeconds,
    isDraining: () => stage !== 'serving',
    isClosing: () => stage === 'closing',
  });
  const connections = new Connections(resources.add(app).server);
  const url = await listen(app, settings, logger);
  await webhooks.start(url);
  await printWelcome({ settings, store, plans, url, logger, showSecrets });
  const graceMs = settings.shutdownSeconds * 1_000;
  return {
    url,
    close: async () => {
      stage = 'draining';
      await drain(settings, billing.parts.admission, logger);
      stage = 'closing';
      const stopping = stopAccepting(app, connections, shutdown, graceMs);
      await Promise.all([stopping, renders.stop(graceMs), webhooks.stop(graceMs)]);
      await waitForHandlers(running, logger);
      await resources.close();
      logger.info('server stopped');
    },
  };
}

function createUploadBudget(
  { dataDirectory, uploadMegabytes, uploadSeconds }: Settings,
  metrics: Metrics,
  admission: Admission,
): UploadBudget {
  const limits = { maxBytes: uploadMegabytes * 1_000_000, maxSeconds: uploadSeconds };
  const uploads = new UploadBudget(dataDirectory, limits);
  metrics.watchRequests({ inside: () => admission.inside, reservedBytes: () => uploads.reservedBytes });
  return uploads;
}

function createFetcher({ fetch, fetchAllow, publicUrl }: Settings): AssetFetcher {
  const contact = publicUrl === '' ? '' : ` (+${publicUrl})`;
  return new AssetFetcher({ policy: new FetchPolicy(fetch, fetchAllow), userAgent: `storybar/${VERSION}${contact}` });
}

function createWebhookChanges(store: Store, { policy }: AssetFetcher): WebhookChanges {
  return new WebhookChanges({ store, policy, limits: store.limits ?? new LocalLimits() });
}

async function listen(app: FastifyInstance, { port, host }: Settings, logger: Logger): Promise<string> {
  try {
    const url = await app.listen({ port, host });
    logger.info({ url }, 'server listening');
    return url;
  } catch (error) {
    throw new SettingsError([`PORT ${port} on HOST ${host} cannot be opened: ${messageOf(error)}`]);
  }
}

/** Load balancers notice at their next check of `/ready`. Until then the server accepts requests. */
async function drain({ drainSeconds }: Settings, admission: Admission, logger: Logger): Promise<void> {
  logger.info({ requests: admission.inside, seconds: drainSeconds }, 'server draining');
  await new Promise((resolve) => setTimeout(resolve, drainSeconds * 1_000));
}

/** Running requests get `graceMs` to finish. Then they fail with an error, and soon after their connections are closed. */
async function stopAccepting(
  app: FastifyInstance,
  connections: Connections,
  shutdown: AbortController,
  graceMs: number,
): Promise<void> {
  const abortTimer = setTimeout(() => {
    shutdown.abort(new AppError('shutting_down', 'The server is shutting down. Try again.', { retryAfterSeconds: 1 }));
  }, graceMs);
  const closeTimer = setTimeout(() => connections.closeAll(), graceMs + FINAL_RESPONSES_MS);
  const closed = app.close();
  connections.closeIdle();
  await closed;
  clearTimeout(abortTimer);
  clearTimeout(closeTimer);
}

async function waitForHandlers(running: RunningRequests, logger: Logger): Promise<void> {
  const unfinished = await running.ended(LAST_SETTLE_MS);
  if (unfinished > 0) logger.error({ requests: unfinished }, 'requests not finished before shutdown');
}

// Composition root of the server. No other file knows every part.

import { setMaxListeners } from 'node:events';
import type { FastifyInstance } from 'fastify';
import { type Settings, SettingsError } from '../service/config/settings.ts';
import { AppError } from '../shared/errors.ts';
import type { Admission } from '../service/http/access/admission.ts';
import { createServer } from '../service/http/server.ts';
import { serviceRoutes } from '../service/http/service-routes.ts';
import { Connections } from '../service/http/transport/connections.ts';
import type { RunningRequests } from '../service/http/transport/running-requests.ts';
import { messageOf } from '../shared/error-facts.ts';
import type { Logger } from '../service/telemetry/logger.ts';
import { WebhookChanges } from '../service/webhooks/webhook-changes.ts';
import { apiRoutes } from './api-routes.ts';
import { createPages } from './pages.ts';
import { startPayments } from './payments.ts';
import { keepFilesPrivate } from './private-files.ts';
import { openAll, type ResourceStack } from './resource-stack.ts';
import { openParts } from './server-parts.ts';
import { startRenders } from './start-renders.ts';
import { startWebhooks } from './start-webhooks.ts';
import { Readiness } from './startup-checks.ts';
import { watchResources } from './watch-resources.ts';
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
  const shutdown = new AbortController();
  // Each running request adds a listener, so a large number of them doesn't indicate a leak.
  setMaxListeners(0, shutdown.signal);
  let stage: 'serving' | 'draining' | 'closing' = 'serving';
  const parts = await openParts(settings, shutdown.signal, resources);
  const { logger, metrics, traces, plans, store, access, limits, health, fetcher } = parts;
  const payments = resources.add(await startPayments(settings, store, plans, logger, metrics.dependencies));
  const webhookChanges = new WebhookChanges({ store, policy: fetcher.policy, limits });
  const renders = resources.add(await startRenders(parts));
  const { billing } = payments;
  const pages = resources.add(await createPages(parts, { billing, renderActions: renders.actions, webhookChanges }));
  const webhooks = resources.add(startWebhooks(parts, webhookChanges, pages.mailer));
  resources.add(await watchResources(parts));
  const api = apiRoutes(parts, renders, pages.playground);
  const readiness = new Readiness(parts.renderer);
  const isReady = (): string | undefined => readiness.whyNot(stage !== 'serving');
  const service = serviceRoutes({ health, readiness: isReady, metrics, metricsToken: settings.metricsToken });
  const app = createServer({
    groups: [api, service, ...pages.groups, ...payments.groups, ...renders.groups, ...webhooks.groups],
    errors: { publicUrl: settings.publicUrl, errorPage: pages.errorPage },
    log: { logger, metrics, traces, requests: access.requestLog },
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
      await drain(settings, access.admission, logger);
      stage = 'closing';
      const stopping = stopAccepting(app, connections, shutdown, graceMs);
      await Promise.all([stopping, renders.stop(graceMs), webhooks.stop(graceMs)]);
      await waitForHandlers(parts.running, logger);
      await resources.close();
      logger.info('server stopped');
    },
  };
}

async function listen(
  app: FastifyInstance,
  { port, host }: Pick<Settings, 'port' | 'host'>,
  logger: Logger,
): Promise<string> {
  try {
    const url = await app.listen({ port, host });
    logger.info({ url }, 'server listening');
    return url;
  } catch (error) {
    throw new SettingsError([`PORT ${port} on HOST ${host} cannot be opened: ${messageOf(error)}`]);
  }
}

/** Load balancers notice at their next check of `/ready`. Until then the server accepts requests. */
async function drain(
  { drainSeconds }: Pick<Settings, 'drainSeconds'>,
  admission: Admission,
  logger: Logger,
): Promise<void> {
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

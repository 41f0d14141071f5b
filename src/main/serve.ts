// Composition root of the server: the only place that knows every part.

import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { PlanBook } from '../account/plans.ts';
import { type Settings, SettingsError } from '../config/settings.ts';
import type { Renderer } from '../dispatch/renderer.ts';
import { AppError } from '../errors.ts';
import type { Admission } from '../http/limits/admission.ts';
import { Connections } from '../http/transport/connections.ts';
import { FileSender } from '../http/overlay/send.ts';
import { createServer } from '../http/server.ts';
import { UploadBudget } from '../http/limits/upload-budget.ts';
import { WorkArea } from '../media/work-area.ts';
import type { Store } from '../store/store.ts';
import type { HealthReport } from '../telemetry/health.ts';
import { createLogger } from '../telemetry/logger.ts';
import { Metrics } from '../telemetry/metrics.ts';
import { assertPlans, healthOf, whyNotReady } from './startup-checks.ts';
import { issueKey, openAccount } from './issue-key.ts';
import { loadPlans } from './load-plans.ts';
import { messageOf } from './message-of.ts';
import { wireBilling } from './wire-billing.ts';
import { openStore } from './open-store.ts';
import { ResourceStack } from './resource-stack.ts';
import { createPages } from './pages.ts';
import { assertPaymentSettings, startPayments } from './payments.ts';
import { operatorInstructions } from './wire-identity.ts';
import { startRenderer } from './start-renderer.ts';
import { VERSION } from './version.ts';
import { welcome } from './welcome.ts';

/** Time to send the last answers after running requests were given up. */
const LAST_WORDS_MS = 2_000;

export interface RunningServer {
  readonly url: string;
  /** Says that it leaves, stops accepting, lets running requests finish, then ends workers and closes the store. */
  close(): Promise<void>;
}

export async function serve(settings: Settings): Promise<RunningServer> {
  const opened = new ResourceStack();
  try {
    return await open(settings, opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function open(settings: Settings, opened: ResourceStack): Promise<RunningServer> {
  const logger = createLogger(settings.logLevel);
  const metrics = new Metrics(VERSION);
  const plans = loadPlans(settings);
  assertPaymentSettings(settings, plans);
  const onBroken = (error: unknown): void => logger.warn({ err: error }, 'a database connection broke');
  const store = opened.add(await openStore(settings, onBroken));
  await assertPlans(store, plans);
  const money = opened.add(await wireBilling(settings, store, plans, logger));
  const workArea = opened.add(await WorkArea.open(path.join(settings.dataDirectory, 'work')));
  const { renderer, sandbox } = opened.add(await startRenderer(settings, logger, metrics));
  const shutdown = new AbortController();
  let stage: 'open' | 'leaving' | 'closing' = 'open';
  const uploads = new UploadBudget(settings.dataDirectory, settings.uploadMegabytes * 1_000_000);
  watch(metrics, renderer, money.parts.admission, uploads);
  const health = (): HealthReport => healthOf(renderer.status(), sandbox, metrics.latency);
  const payments = opened.add(startPayments(settings, store, plans, logger));
  const sender = new FileSender(shutdown.signal);
  const forRenders = { renderer, workArea, uploads, sender };
  const parts = { settings, logger, plans, store, billing: payments.billing, health, ...forRenders };
  const pages = opened.add(await createPages({ ...parts, shutdown: shutdown.signal }));
  const app = createServer({
    ...money.parts,
    ...pages,
    groups: [...pages.groups, ...payments.groups],
    logger,
    publicUrl: settings.publicUrl,
    trustProxy: settings.trustProxy,
    ...forRenders,
    metrics,
    metricsToken: settings.metricsToken,
    deadlineMs: { image: settings.deadlineSeconds * 1_000, video: settings.videoDeadlineSeconds * 1_000 },
    shutdown: shutdown.signal,
    isDraining: () => stage !== 'open',
    isClosing: () => stage === 'closing',
    readiness: async () => await whyNotReady(store, renderer, stage !== 'open'),
    health,
  });
  opened.add(app);
  const connections = new Connections(app.server);
  const url = await listen(app, settings);
  await greet(settings, store, plans, url);
  return {
    url,
    close: async () => {
      stage = 'leaving';
      // Whoever balances the load hears of it by asking; until then requests come, and are served.
      await new Promise((resolve) => setTimeout(resolve, settings.drainSeconds * 1_000));
      stage = 'closing';
      await stopAccepting(app, connections, shutdown, settings.shutdownSeconds * 1_000);
      await opened.close();
    },
  };
}

async function listen(app: FastifyInstance, { port, host }: Settings): Promise<string> {
  try {
    return await app.listen({ port, host });
  } catch (error) {
    throw new SettingsError([`PORT ${port} on HOST ${host} cannot be opened: ${messageOf(error)}`]);
  }
}

function watch(metrics: Metrics, renderer: Renderer, admission: Admission, uploads: UploadBudget): void {
  metrics.watchPools(() => renderer.status());
  metrics.watchRequests({ inside: () => admission.inside, promisedBytes: () => uploads.reservedBytes });
}

/** A new installation gets an account on the largest plan, for the operator's own use. */
async function greet(settings: Settings, store: Store, { plans }: PlanBook, url: string): Promise<void> {
  const plan = plans.at(-1);
  let key: string | undefined;
  if (plan !== undefined && (await store.accounts.count()) === 0) {
    const accountId = await openAccount(store, plan.name, 'local', 'system');
    ({ key } = await issueKey(store, accountId, { name: 'local', mode: 'live' }, 'system'));
  }
  process.stdout.write(welcome(url, key) + (await operatorInstructions(settings, store, url)));
}

/** Running requests get `graceMs`; then they are told that it is over, and soon after cut off. */
async function stopAccepting(
  app: FastifyInstance,
  connections: Connections,
  shutdown: AbortController,
  graceMs: number,
): Promise<void> {
  const told = setTimeout(() => {
    shutdown.abort(new AppError('shutting_down', 'The server is shutting down. Try again.', { retryAfterSeconds: 1 }));
  }, graceMs);
  const cut = setTimeout(() => connections.closeAll(), graceMs + LAST_WORDS_MS);
  const closed = app.close();
  connections.closeIdle();
  await closed;
  clearTimeout(told);
  clearTimeout(cut);
}

// Wires asynchronous renders: storage, the runner, and the routes of renders, results and batches.

import { PutSender } from '../service/fetch/put-sender.ts';
import { batchRoutes } from '../service/http/renders/batch-routes.ts';
import { renderRoutes } from '../service/http/renders/render-routes.ts';
import { ResultLinks } from '../service/http/renders/result-links.ts';
import { resultRoutes } from '../service/http/renders/result-route.ts';
import type { RouteGroup } from '../service/http/route-group.ts';
import { RenderAcceptor } from '../service/renders/accept.ts';
import { IdempotencyKeys } from '../service/renders/idempotency.ts';
import { RenderActions } from '../service/renders/render-actions.ts';
import { PutTargets } from '../service/renders/put-targets.ts';
import { RenderRunner, type RenderRunnerDependencies } from '../service/renders/render-runner.ts';
import { deleteExpiredObjects, deleteOldRecords } from '../service/renders/retention.ts';
import { StoredResults } from '../service/renders/stored-results.ts';
import { isGone } from '../service/store/owner.ts';
import { hasSharedStorage } from './open-storage.ts';
import { PeriodicTasks } from './periodic-tasks.ts';
import type { ServerParts } from './server-parts.ts';

export interface RenderServices {
  readonly acceptor: RenderAcceptor;
  readonly idempotency: IdempotencyKeys;
  readonly links: ResultLinks;
  readonly results: StoredResults;
  readonly runner: RenderRunner;
  readonly actions: RenderActions;
  readonly groups: readonly RouteGroup[];
  /** Claims no more renders, and gives back those that haven't ended after `graceMs`. */
  stop(graceMs: number): Promise<void>;
  close(): Promise<void>;
}

const SWEEP_MS = 10_000;
const RETENTION_MS = 60_000;
const HOUR_MS = 3_600_000;

export async function startRenders(parts: ServerParts): Promise<RenderServices> {
  const { settings, store, logger, access, storage, serviceBytes, fetcher, sender, styles, shutdown } = parts;
  const { renders, keys, users } = store;
  const { keyRoutes, speechCaptions } = access;
  const links = createLinks(parts);
  const targets = new PutTargets({ storage, workArea: parts.workArea });
  const results = new StoredResults({ renders, storage, targets, resultHours: settings.resultHours, serviceBytes });
  const runner = createRunner(parts, { storage, targets, results });
  const acceptor = new RenderAcceptor({ renders, storage, targets, logger, serviceBytes, wake: () => runner.wake() });
  const tasks = startTasks(parts);
  // This also runs with STORYBAR_ASYNC=off, so that renders that were accepted earlier are finished.
  await releaseLost(parts);
  runner.start();
  const forRoutes = { keyRoutes, renders, keys, storage, links, runner, shutdown };
  return {
    acceptor,
    idempotency: new IdempotencyKeys({ store: store.idempotency, replayCache: access.replayCache, results, logger }),
    links,
    results,
    runner,
    actions: new RenderActions({ renders, storage, runner }),
    groups: [
      renderRoutes(forRoutes),
      resultRoutes({ renders, storage, sender }),
      batchRoutes({ ...forRoutes, acceptor, users, fetcher, styles, speechCaptions }),
    ],
    stop: async (graceMs) => await runner.stop(graceMs),
    close: async () => {
      tasks.stop();
      await runner.stop(0);
    },
  };
}

function createLinks({ settings, access, logger }: ServerParts): ResultLinks {
  const { isAsync, publicUrl, host } = settings;
  const lacksSharedStorage = !hasSharedStorage(settings);
  if (lacksSharedStorage) {
    logger.warn(
      'asynchronous renders, logos and fonts are refused: with PostgreSQL, set STORYBAR_STORAGE to a bucket or directory that all servers share',
    );
  }
  return new ResultLinks({ isAsync, lacksSharedStorage, publicUrl, host, marketplace: access.marketplace });
}

function createRunner(
  parts: ServerParts,
  stored: Pick<RenderRunnerDependencies, 'storage' | 'targets' | 'results'>,
): RenderRunner {
  const { settings, store, plans, access, fetcher, workArea, uploads, renderer, logger, metrics } = parts;
  return new RenderRunner({
    renders: store.renders,
    accounts: store.accounts,
    logos: parts.logos,
    plans,
    reservations: access.reservations,
    failedDecodes: access.failedDecodes,
    ...stored,
    speechCaptions: access.speechCaptions,
    outputBytes: settings.outputBytes,
    fetcher,
    putSender: new PutSender({ policy: fetcher.policy, userAgent: fetcher.userAgent }),
    workArea,
    uploads,
    renderer,
    publicUrl: settings.publicUrl || undefined,
    logger,
    metrics,
  });
}

function startTasks(parts: ServerParts): PeriodicTasks {
  const { store, storage, logger, metrics } = parts;
  const retention = { renders: store.renders, brandFiles: store.brandFiles, storage, logger };
  const tasks = new PeriodicTasks(logger, metrics.dependencies);
  tasks.every(SWEEP_MS, 'release lost renders', async () => await releaseLost(parts));
  // A clock that may be years ahead must not delete anything.
  const isTimeTrusted = async (): Promise<boolean> => (await store.ledger.heartbeat()).isTimeTrusted;
  tasks.every(RETENTION_MS, 'delete expired objects', async () => {
    if (!(await isTimeTrusted())) return;
    const deleted = await deleteExpiredObjects(retention);
    if (deleted > 0) logger.debug({ deleted }, 'expired objects deleted');
  });
  tasks.every(HOUR_MS, 'delete old records', async () => {
    if (!(await isTimeTrusted())) return;
    await store.sharedTasks.run('delete old records', HOUR_MS, async () => await deleteOldRecords(retention));
  });
  return tasks;
}

/** All processes that use an embedded store are on this machine, so dead ones are recognized immediately. */
async function releaseLost({ store, settings, logger }: ServerParts): Promise<void> {
  if (settings.databaseUrl !== '') return;
  const renderIds = await store.renders.releaseLost(isGone);
  if (renderIds.length > 0) logger.warn({ renderIds }, 'took over renders of a dead server');
}

// Wires asynchronous renders: storage, the runner, and the routes of renders, results and batches.

import type { PlanBook } from '../account/plans.ts';
import type { Settings } from '../config/settings.ts';
import type { Renderer } from '../dispatch/renderer.ts';
import { RenderAcceptor } from '../renders/accept.ts';
import { batchRoutes } from '../http/renders/batch-routes.ts';
import { ResultLinks } from '../http/renders/result-links.ts';
import { StoredResults } from '../renders/stored-results.ts';
import { RenderActions } from '../renders/render-actions.ts';
import type { StoredRenderJobDependencies } from '../renders/stored-render-job.ts';
import { RenderRunner } from '../renders/render-runner.ts';
import { renderRoutes, type RenderRouteDependencies } from '../http/renders/render-routes.ts';
import { resultRoutes } from '../http/renders/result-route.ts';
import { deleteExpiredObjects, deleteOldRecords } from '../renders/retention.ts';
import type { OverlayDependencies } from '../http/overlay/overlay-route.ts';
import type { RouteGroup } from '../http/route-group.ts';
import type { ObjectStorage } from '../storage/object-storage.ts';
import { isGone } from '../store/owner.ts';
import type { Store } from '../store/store.ts';
import { openStorage, storedBytesLimit } from './open-storage.ts';
import { PeriodicTasks } from './periodic-tasks.ts';

type Shared = Pick<
  StoredRenderJobDependencies,
  'workArea' | 'uploads' | 'fetcher' | 'reservations' | 'failedDecodes' | 'logger' | 'metrics'
> &
  Pick<OverlayDependencies, 'marketplace' | 'sender' | 'shutdown'> &
  Pick<RenderRouteDependencies, 'authenticator' | 'admission'>;

export interface RendersOptions extends Shared {
  readonly settings: Settings;
  readonly store: Store;
  readonly plans: PlanBook;
  readonly renderer: Renderer;
}

export interface RenderServices {
  readonly parts: Pick<OverlayDependencies, 'acceptor' | 'links' | 'results' | 'users'>;
  readonly groups: readonly RouteGroup[];
  readonly forPages: { readonly renderActions: RenderActions };
  /** Claims no more renders, and gives back those that haven't ended after `graceMs`. */
  stop(graceMs: number): Promise<void>;
  close(): Promise<void>;
}

const SWEEP_MS = 10_000;
const RETENTION_MS = 60_000;
const HOUR_MS = 3_600_000;

export async function startRenders(options: RendersOptions): Promise<RenderServices> {
  const { settings, store, plans, logger, marketplace } = options;
  const { renders, accounts, keys, users } = store;
  const { resultHours, publicUrl, host, isAsync } = settings;
  const storage = await openStorage(settings, logger);
  const serviceBytes = await storedBytesLimit(settings);
  const lacksSharedStorage = settings.databaseUrl !== '' && settings.storage.kind === 'default';
  if (isAsync && lacksSharedStorage) {
    logger.warn(
      'asynchronous renders are refused: with PostgreSQL, set STORYBAR_STORAGE to a bucket or directory that all servers share',
    );
  }
  const links = new ResultLinks({ isAsync, lacksSharedStorage, publicUrl, host, marketplace });
  const results = new StoredResults({ renders, storage, resultHours, serviceBytes });
  const runner = new RenderRunner({
    ...options,
    renders,
    results,
    storage,
    accounts,
    plans,
    publicUrl: publicUrl || undefined,
  });
  const acceptor = new RenderAcceptor({ renders, storage, logger, serviceBytes, wake: () => runner.wake() });
  const tasks = startTasks(options, storage);
  // This also runs with STORYBAR_ASYNC=off, so that renders that were accepted earlier are finished.
  await releaseLost(options);
  runner.start();
  const forRoutes = { ...options, renders, storage, links, keys, users, runner, acceptor };
  return {
    parts: { acceptor, links, results, users },
    groups: [renderRoutes(forRoutes), resultRoutes({ ...options, renders, storage }), batchRoutes(forRoutes)],
    forPages: { renderActions: new RenderActions({ renders, storage, runner }) },
    stop: async (graceMs) => await runner.stop(graceMs),
    close: async () => {
      tasks.stop();
      await runner.stop(0);
      storage.close();
    },
  };
}

function startTasks(options: RendersOptions, storage: ObjectStorage): PeriodicTasks {
  const { store, logger } = options;
  const retention = { renders: store.renders, storage, logger };
  const tasks = new PeriodicTasks(logger);
  tasks.every(SWEEP_MS, 'release lost renders', async () => await releaseLost(options));
  // A clock that may be years ahead must not delete anything.
  const isTimeTrusted = async (): Promise<boolean> => (await store.ledger.heartbeat()).isTimeTrusted;
  tasks.every(RETENTION_MS, 'delete expired objects', async () => {
    if (!(await isTimeTrusted())) return;
    const deleted = await deleteExpiredObjects(retention);
    if (deleted > 0) logger.debug({ deleted }, 'expired objects deleted');
  });
  tasks.every(HOUR_MS, 'delete old records', async () => {
    if (await isTimeTrusted()) await deleteOldRecords(retention);
  });
  return tasks;
}

/** All processes that use an embedded store are on this machine, so dead ones are recognized immediately. */
async function releaseLost({ store, settings, logger }: RendersOptions): Promise<void> {
  if (settings.databaseUrl !== '') return;
  const renderIds = await store.renders.releaseLost(isGone);
  if (renderIds.length > 0) logger.warn({ renderIds }, 'took over renders of a dead server');
}

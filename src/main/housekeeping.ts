// Periodic tasks of a running server. Each task is independent: one that fails is logged and runs again at its next interval.

import type { Refusals } from '../service/renders/refusals.ts';
import type { ReplayCache } from '../service/renders/replay-cache.ts';
import type { RequestLogWriter } from '../service/store/requests/request-log-writer.ts';
import { isGone } from '../service/store/owner.ts';
import type { Store } from '../service/store/store.ts';
import type { DependencyMetrics } from '../service/telemetry/dependency-metrics.ts';
import type { Logger } from '../service/telemetry/logger.ts';
import { PeriodicTasks } from './periodic-tasks.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;
const KEEP_UNCONFIRMED_DAYS = 7;
const KEEP_REQUESTS_DAYS = 30;
const MAX_REQUESTS_PER_ACCOUNT = 100_000;

export interface HousekeepingOptions {
  readonly store: Store;
  readonly refusals: Refusals;
  readonly requestLog: RequestLogWriter;
  readonly replayCache: ReplayCache;
  readonly logger: Logger;
  readonly metrics: DependencyMetrics;
  readonly keepRendersDays: number;
  /** True if all processes that use the store are on this machine, so dead ones are recognized immediately. */
  readonly embedded: boolean;
}

export class Housekeeping {
  readonly #options: HousekeepingOptions;
  readonly #tasks: PeriodicTasks;
  #isTimeTrusted = true;

  constructor(options: HousekeepingOptions) {
    this.#options = options;
    this.#tasks = new PeriodicTasks(options.logger, options.metrics);
  }

  /** Renews the lease of this process and cleans up after dead ones, before the first request arrives. */
  async start(): Promise<void> {
    const { refusals } = this.#options;
    await this.#heartbeat();
    await this.#sweep();
    this.#tasks.every(5 * SECOND_MS, 'heartbeat', async () => await this.#heartbeat());
    this.#tasks.every(2 * SECOND_MS, 'retry pending writes', async () => await this.#retryPendingWrites());
    this.#tasks.every(10 * SECOND_MS, 'sweep', async () => await this.#sweep());
    this.#tasks.every(2 * SECOND_MS, 'write refusal counts', async () => await refusals.flush());
    this.#tasks.every(SECOND_MS, 'write request log', async () => await this.#writeRequestLog());
    this.#tasks.every(30 * SECOND_MS, 'delete data of deleted accounts', async () => await this.#purgeAccounts());
    this.#startHourly();
  }

  /** Writes pending entries. A database that is unavailable must not keep the process from ending. */
  async stop(): Promise<void> {
    const { store, refusals, requestLog, logger } = this.#options;
    this.#tasks.stop();
    await this.#retryPendingWrites();
    const writes = store.pendingWrites.list();
    if (writes.length > 0) logger.error({ writes }, 'ledger entries not written before shutdown');
    await refusals.flush().catch((error: unknown) => {
      logger.error({ err: error }, 'refusal counts not written before shutdown');
    });
    await requestLog.flush().catch((error: unknown) => {
      logger.error({ err: error }, 'request log not written before shutdown');
    });
  }

  async #retryPendingWrites(): Promise<void> {
    const { store, logger } = this.#options;
    for (const { write, error } of await store.pendingWrites.retry()) {
      logger.error({ ...write, err: error }, 'ledger entry given up after repeated failures');
    }
  }

  async #writeRequestLog(): Promise<void> {
    const { requestLog, logger } = this.#options;
    const dropped = requestLog.takeDropped();
    if (dropped > 0) logger.warn({ dropped }, 'request log entries dropped, the database was unavailable for too long');
    for (const leftOut of requestLog.takeLeftOut()) {
      logger.info(leftOut, 'refused requests left out of the request log');
    }
    await requestLog.flush();
  }

  async #sweep(): Promise<void> {
    const { store, embedded, logger } = this.#options;
    const renderIds = await store.ledger.sweep(embedded ? isGone : undefined);
    if (renderIds.length > 0) logger.warn({ renderIds }, 'released holds of a dead server');
  }

  async #purgeAccounts(): Promise<void> {
    const { store, logger } = this.#options;
    const purged = await store.accountData.purge((accountId, error) => {
      logger.error({ accountId, err: error }, 'data of a deleted account not removed, retrying later');
    });
    for (const accountId of purged) logger.info({ accountId }, 'account deleted');
  }

  /** Each step is a task of its own, so that one that fails doesn't keep the others from running. */
  #startHourly(): void {
    const { store, replayCache, keepRendersDays } = this.#options;
    const daysAgo = (days: number): Date => new Date(Date.now() - days * DAY_MS);
    this.#tasks.every(HOUR_MS, 'delete expired replays', async () => {
      if (this.#isTimeTrusted) await replayCache.removeExpired();
    });
    this.#hourly('forget rate limits', async () => await store.limits?.forget());
    this.#hourly('delete expired idempotency keys', async () => await store.idempotency.removeExpired());
    this.#hourly('delete expired sessions', async () => await store.sessions.removeExpired());
    this.#hourly('delete expired links', async () => await store.users.removeExpired());
    this.#hourly('delete expired invitations', async () => await store.members.removeExpired());
    this.#hourly('delete expired passkey challenges', async () => await store.passkeys.removeExpired());
    this.#hourly('delete old requests', async () => await store.requests.deleteBefore(daysAgo(KEEP_REQUESTS_DAYS)));
    this.#hourly('trim the request log', async (since) => await store.requests.trim(MAX_REQUESTS_PER_ACCOUNT, since));
    this.#hourly('delete old renders', async () => await store.usage.deleteBefore(daysAgo(keepRendersDays)));
    this.#hourly('erase unconfirmed accounts', async () => await this.#eraseUnconfirmed());
  }

  /** By one server for all. Nothing is deleted by a clock that may be years ahead. */
  #hourly(task: string, work: (since: Date | undefined) => Promise<unknown>): void {
    this.#tasks.every(HOUR_MS, task, async () => {
      if (!this.#isTimeTrusted) return;
      await this.#options.store.sharedTasks.run(task, HOUR_MS, async (since) => {
        await work(since);
      });
    });
  }

  async #eraseUnconfirmed(): Promise<void> {
    const { store, logger } = this.#options;
    const erased = await store.users.eraseUnconfirmed(new Date(Date.now() - KEEP_UNCONFIRMED_DAYS * DAY_MS));
    if (erased > 0) logger.info({ erased }, 'unconfirmed accounts erased');
  }

  async #heartbeat(): Promise<void> {
    const { store, logger } = this.#options;
    const { isTimeTrusted } = await store.ledger.heartbeat();
    if (isTimeTrusted === this.#isTimeTrusted) return;
    this.#isTimeTrusted = isTimeTrusted;
    if (isTimeTrusted) logger.info('system clock trusted again');
    else logger.warn({ now: new Date().toISOString() }, 'system clock jumped, billing periods are left as they are');
  }
}

// What has to happen from time to time while a server runs. Each task is on its own: one that fails is logged and comes
// round again.

import type { Refusals } from '../http/overlay/refusals.ts';
import type { ReplayCache } from '../http/overlay/replay-cache.ts';
import { isGone } from '../store/sql-store.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;

export interface HousekeepingOptions {
  readonly store: Store;
  readonly refusals: Refusals;
  readonly replayCache: ReplayCache;
  readonly logger: Logger;
  readonly keepRendersDays: number;
  /** All processes that use the store are on this machine, so that a dead one is known at once. */
  readonly embedded: boolean;
}

export class Housekeeping {
  readonly #options: HousekeepingOptions;
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(options: HousekeepingOptions) {
    this.#options = options;
  }

  /** Says that we live and cleans up after those who do not, before the first request comes. */
  async start(): Promise<void> {
    const { store, refusals } = this.#options;
    await store.ledger.heartbeat();
    await this.#sweep();
    this.#every(5 * SECOND_MS, 'heartbeat', async () => await store.ledger.heartbeat());
    this.#every(2 * SECOND_MS, 'retry pending writes', async () => await this.#retryPendingWrites());
    this.#every(10 * SECOND_MS, 'sweep', async () => await this.#sweep());
    this.#every(2 * SECOND_MS, 'count refusals', async () => await refusals.flush());
    this.#every(HOUR_MS, 'forget', async () => await this.#forget());
  }

  /** Writes what is still unwritten; a database that does not answer now must not keep the process. */
  async stop(): Promise<void> {
    const { store, refusals, logger } = this.#options;
    for (const timer of this.#timers) clearInterval(timer);
    await this.#retryPendingWrites();
    const writes = store.pendingWrites.list();
    if (writes.length > 0) logger.error({ writes }, 'ledger entries not written before shutdown');
    await refusals.flush().catch((error: unknown) => {
      logger.error({ err: error }, 'counts of refused requests not written before shutdown');
    });
  }

  async #retryPendingWrites(): Promise<void> {
    const { store, logger } = this.#options;
    for (const { write, error } of await store.pendingWrites.retry()) {
      logger.error({ ...write, err: error }, 'ledger entry given up after repeated failures');
    }
  }

  async #sweep(): Promise<void> {
    const { store, embedded, logger } = this.#options;
    const released = await store.ledger.sweep(embedded ? isGone : undefined);
    if (released > 0) logger.warn({ released }, 'released credits that a lost server had reserved');
  }

  async #forget(): Promise<void> {
    const { store, replayCache, keepRendersDays } = this.#options;
    await store.limits?.forget();
    await store.idempotency.removeExpired();
    await store.sessions.removeExpired();
    await store.users.removeExpired();
    await replayCache.removeExpired();
    await store.usage.forgetBefore(new Date(Date.now() - keepRendersDays * DAY_MS));
  }

  #every(milliseconds: number, task: string, work: () => Promise<void>): void {
    let running = false;
    const timer = setInterval(() => {
      if (running) return;
      running = true;
      work()
        .catch((error: unknown) => this.#options.logger.warn({ err: error, task }, 'housekeeping failed'))
        .finally(() => {
          running = false;
        });
    }, milliseconds);
    this.#timers.push(timer.unref());
  }
}

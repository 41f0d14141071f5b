// Rate limits and concurrent renders that all servers of a database share. Rates use the clock of the database, so the
// clocks of the servers don't have to agree. Each change of a rate is one statement.

import { type Rate, type RateVerdict, take } from '../account/gcra.ts';
import { must } from '../../shared/must.ts';
import { type Engine, first, type SqlSession, insertRow } from './engine.ts';
import { integer, real, type SqlRow } from './rows.ts';
import type { Clock } from './audit.ts';
import type { ServerLease } from './lease.ts';
import type { Limits } from './limits.ts';

const NOW = 'extract(epoch from clock_timestamp())::float8 * 1000';
/** The same tolerance as in `take`. */
const TOLERANCE_MS = 0.000_5;

interface Bucket {
  readonly fullAt: number;
  readonly now: number;
}

export class PostgresLimits implements Limits {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #lease: ServerLease;
  /**
   * Renders per account in this process. The total is written, not the difference, so the next write corrects a lost
   * one. It is read and written under the lock of the account, so an older total never replaces a newer one.
   */
  readonly #running = new Map<string, number>();

  constructor(engine: Engine, clock: Clock, lease: ServerLease) {
    this.#engine = engine;
    this.#clock = clock;
    this.#lease = lease;
  }

  async take(name: string, rate: Rate, count = 1): Promise<RateVerdict & { readonly fullInMs: number }> {
    const interval = rate.windowMs / rate.burst;
    const taking = interval * count;
    const taken = await first(
      this.#engine,
      `insert into rates as r (name, full_at) values (:name, ${NOW} + :taking::float8)
       on conflict (name) do update set full_at = greatest(r.full_at, excluded.full_at - :taking::float8) + :taking::float8
         where greatest(r.full_at - (excluded.full_at - :taking::float8), 0) + :taking::float8 <= :most::float8
       returning r.full_at, ${NOW} as now`,
      { name, taking, most: rate.windowMs + TOLERANCE_MS },
    );
    if (taken !== undefined) {
      const { fullAt, now } = toBucket(taken);
      const fullInMs = Math.max(0, fullAt - now);
      const remaining = Math.max(0, Math.floor((rate.windowMs - fullInMs) / interval + 1e-9));
      return { allowed: true, fullAt, remaining, retryAfterMs: 0, fullInMs };
    }
    const { fullAt, now } = await this.#readBucket(name);
    const { retryAfterMs } = take(rate, fullAt, now, count);
    return { allowed: false, fullAt, remaining: 0, retryAfterMs, fullInMs: Math.max(0, fullAt - now) };
  }

  async giveBack(name: string, { burst, windowMs }: Rate): Promise<void> {
    await this.#engine.run('update rates set full_at = full_at - :interval::float8 where name = :name', {
      interval: windowMs / burst,
      name,
    });
  }

  async enter(account: string, maxRunning: number): Promise<(() => void) | undefined> {
    await this.#lease.ensure();
    if (!(await this.#takePlace(account, maxRunning))) return undefined;
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      this.#count(account, -1);
      this.#writeLater(account);
    };
  }

  async forget(): Promise<void> {
    await this.#engine.run(`delete from rates where full_at < ${NOW}`);
    await this.#engine.run('delete from places where owner not in (select id from owners)');
  }

  /** Another server may have removed the bucket meanwhile, because it is full. */
  async #readBucket(name: string): Promise<Bucket> {
    const row = await first(this.#engine, `select full_at, ${NOW} as now from rates where name = :name`, { name });
    return row ? toBucket(row) : { fullAt: 0, now: 0 };
  }

  async #takePlace(account: string, maxRunning: number): Promise<boolean> {
    let counted = false;
    const uncount = (): void => {
      if (counted) this.#count(account, -1);
      counted = false;
    };
    try {
      return await this.#locked(account, async (session) => {
        // The transaction may be a second attempt.
        uncount();
        if ((await this.#runningElsewhere(session, account)) + this.#runningHere(account) >= maxRunning) return false;
        // The render is counted before the lock is released, so that the next request of this process sees it.
        this.#count(account, 1);
        counted = true;
        await this.#write(session, account);
        return true;
      });
    } catch (error) {
      uncount();
      // The transaction may have been committed before the connection broke.
      this.#writeLater(account);
      throw error;
    }
  }

  /** Runs a transaction. Those of one account run one after another, across all servers. */
  async #locked<Result>(account: string, action: (session: SqlSession) => Promise<Result>): Promise<Result> {
    return await this.#engine.transaction(async (session) => {
      await session.all('select pg_advisory_xact_lock(hashtextextended(:account, 0))', { account });
      return await action(session);
    });
  }

  async #runningElsewhere(session: SqlSession, account: string): Promise<number> {
    const row = await first(
      session,
      `select coalesce(sum(p.running), 0) as running from places p join owners o on o.id = p.owner
       where p.account_id = :account and p.owner <> :owner and o.alive_until > :now`,
      { account, owner: this.#lease.owner, now: this.#clock() },
    );
    return integer(must(row, 'the number of running renders'), 'running');
  }

  #runningHere(account: string): number {
    return this.#running.get(account) ?? 0;
  }

  async #write(session: SqlSession, account: string): Promise<void> {
    await insertRow(
      session,
      'places',
      { accountId: account, owner: this.#lease.owner, running: this.#runningHere(account) },
      `on conflict (account_id, owner) do update set running = excluded.running`,
    );
  }

  /** Never fails, because the next write for the account makes up for a lost one. */
  #writeLater(account: string): void {
    void this.#locked(account, async (session) => await this.#write(session, account)).catch(() => undefined);
  }

  #count(account: string, change: number): void {
    const running = this.#runningHere(account) + change;
    if (running > 0) this.#running.set(account, running);
    else this.#running.delete(account);
  }
}

function toBucket(row: SqlRow): Bucket {
  return { fullAt: real(row, 'full_at'), now: real(row, 'now') };
}

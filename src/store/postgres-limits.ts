// Rates and places that all servers of a database share. Rates go by the clock of the database, so that the servers' own
// need not agree; each change is one statement.

import { type Rate, take, type RateVerdict } from '../account/gcra.ts';
import { type Engine, first, type SqlSession } from './engine.ts';
import type { Clock } from './sql-audit.ts';
import type { Lease } from './sql-lease.ts';
import type { Limits } from './store.ts';

const NOW = 'extract(epoch from clock_timestamp())::float8 * 1000';
/** The slack of `take`, in milliseconds. */
const SLACK_MS = 0.000_5;

interface Bucket {
  readonly fullAt: number;
  readonly now: number;
}

export class PostgresLimits implements Limits {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #lease: Lease;
  /** How many run here. Written as they are, not as differences: what a broken connection lost is right the next time. */
  readonly #running = new Map<string, number>();
  #pendingWrites: Promise<void> = Promise.resolve();

  constructor(engine: Engine, clock: Clock, lease: Lease) {
    this.#engine = engine;
    this.#clock = clock;
    this.#lease = lease;
  }

  async take(name: string, rate: Rate): Promise<RateVerdict & { readonly fullInMs: number }> {
    const interval = rate.windowMs / rate.burst;
    const taken = await first<Bucket>(
      this.#engine,
      `insert into rates as r (name, full_at) values (?, ${NOW} + ?::float8)
       on conflict (name) do update set full_at = greatest(r.full_at, excluded.full_at - ?::float8) + ?::float8
         where greatest(r.full_at - (excluded.full_at - ?::float8), 0) + ?::float8 <= ?::float8
       returning r.full_at as "fullAt", ${NOW} as now`,
      [name, interval, interval, interval, interval, interval, rate.windowMs + SLACK_MS],
    );
    if (taken !== undefined) {
      const fullInMs = Math.max(0, taken.fullAt - taken.now);
      const remaining = Math.max(0, Math.floor((rate.windowMs - fullInMs) / interval + 1e-9));
      return { allowed: true, fullAt: taken.fullAt, remaining, retryAfterMs: 0, fullInMs };
    }
    const bucket = await first<Bucket>(
      this.#engine,
      `select full_at as "fullAt", ${NOW} as now from rates where name = ?`,
      [name],
    );
    const { fullAt, now } = bucket ?? { fullAt: 0, now: 0 };
    const { retryAfterMs } = take(rate, fullAt, now);
    return { allowed: false, fullAt, remaining: 0, retryAfterMs, fullInMs: Math.max(0, fullAt - now) };
  }

  async enter(account: string, most: number): Promise<(() => void) | undefined> {
    await this.#lease.ensure();
    if (!(await this.#takePlace(account, most))) return undefined;
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      this.#count(account, -1);
      this.#tell(account);
    };
  }

  async forget(): Promise<void> {
    await this.#engine.run(`delete from rates where full_at < ${NOW}`);
    await this.#engine.run('delete from places where owner not in (select id from owners)');
  }

  async #takePlace(account: string, most: number): Promise<boolean> {
    let counted = false;
    const uncount = (): void => {
      if (counted) this.#count(account, -1);
      counted = false;
    };
    try {
      return await this.#engine.transaction(async (session) => {
        // This may be a second try.
        uncount();
        // One at a time for an account; others do not wait.
        await session.all('select pg_advisory_xact_lock(hashtextextended(?, 0))', [account]);
        if ((await this.#elsewhere(session, account)) + (this.#running.get(account) ?? 0) >= most) return false;
        // Before the lock is gone: the next one of ours must see it.
        this.#count(account, 1);
        counted = true;
        await this.#write(session, account, this.#running.get(account) ?? 0);
        return true;
      });
    } catch (error) {
      uncount();
      throw error;
    }
  }

  async #elsewhere(session: SqlSession, account: string): Promise<number> {
    const row = await first<{ running: number }>(
      session,
      `select coalesce(sum(p.running), 0) as running from places p join owners o on o.id = p.owner
       where p.account_id = ? and p.owner <> ? and o.alive_until > ?`,
      [account, this.#lease.owner, this.#clock().toISOString()],
    );
    return row?.running ?? 0;
  }

  async #write(session: SqlSession, account: string, running: number): Promise<void> {
    await session.run(
      `insert into places (account_id, owner, running) values (?, ?, ?)
       on conflict (account_id, owner) do update set running = excluded.running`,
      [account, this.#lease.owner, running],
    );
  }

  /** In turn, each with the number of its moment. Should one fail, the next to come or go sets it right. */
  #tell(account: string): void {
    this.#pendingWrites = this.#pendingWrites
      .then(async () => await this.#write(this.#engine, account, this.#running.get(account) ?? 0))
      .catch(() => undefined);
  }

  #count(account: string, change: number): void {
    const running = (this.#running.get(account) ?? 0) + change;
    if (running > 0) this.#running.set(account, running);
    else this.#running.delete(account);
  }
}

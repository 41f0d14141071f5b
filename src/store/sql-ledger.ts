// Credits. A render's hold is a row that goes from `reserved` to `settled` or `released`, once; the sums of a period follow
// in the same transaction. Tables are touched in one order everywhere (idempotency, renders, periods, usage), so that two
// transactions never wait for each other in a circle.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Balance, priceOf } from '../account/credits.ts';
import type { Period } from '../account/period.ts';
import { type Engine, first, isUnavailable, OutcomeUnknown, type SqlSession } from './engine.ts';
import type { RetryQueue } from './pending-writes.ts';
import type { Clock } from './sql-audit.ts';
import type { Lease } from './sql-lease.ts';
import { addUsage } from './sql-usage.ts';
import type { Ending, Ledger, NewHold, Remembered, ReserveResult } from './store.ts';

const SWEEP_BATCH = 50;

/** Thrown to roll a reservation back. */
class NotEnough extends Error {}

/** How a render is to end. */
interface End {
  readonly state: 'settled' | 'released';
  readonly ending: Ending;
  readonly remember?: Remembered | undefined;
}

interface HoldRow {
  readonly accountId: string;
  readonly mode: string;
  readonly credits: number;
  readonly periodStartsAt: string;
}

export class SqlLedger implements Ledger {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #lease: Lease;
  readonly #pendingWrites: RetryQueue;

  constructor(engine: Engine, clock: Clock, lease: Lease, pendingWrites: RetryQueue) {
    this.#engine = engine;
    this.#clock = clock;
    this.#lease = lease;
    this.#pendingWrites = pendingWrites;
  }

  async reserve(hold: NewHold): Promise<ReserveResult> {
    const { renderId } = hold;
    await this.#lease.ensure();
    try {
      const reservation = await this.#engine.transaction(async (session) => await this.#reserve(session, hold));
      this.#pendingWrites.remove({ kind: 'release', renderId });
      return reservation;
    } catch (error) {
      if (error instanceof NotEnough) {
        return { granted: false, balance: await this.balance(hold.accountId, hold.period, hold.limit) };
      }
      // The caller does not render, so a reservation that was committed after all must be released.
      if (error instanceof OutcomeUnknown) {
        const end: End = { state: 'released', ending: { outcome: 'storage_unavailable', durationMs: undefined } };
        this.#pendingWrites.add({ kind: 'release', renderId }, async () => await this.#end(renderId, end));
      }
      throw error;
    }
  }

  async settle(renderId: string, ending: Ending, remember?: Remembered): Promise<boolean> {
    const end: End = { state: 'settled', ending, remember };
    return await this.#pendingWrites.run({ kind: 'settle', renderId }, async () => await this.#end(renderId, end));
  }

  async release(renderId: string, ending: Ending): Promise<boolean> {
    const end: End = { state: 'released', ending };
    return await this.#pendingWrites.run({ kind: 'release', renderId }, async () => await this.#end(renderId, end));
  }

  async balance(accountId: string, { startsAt }: Period, limit: number): Promise<Balance> {
    return await readBalance(this.#engine, accountId, startsAt.toISOString(), limit);
  }

  async heartbeat(): Promise<void> {
    await this.#lease.renew();
  }

  async sweep(isGone: (owner: string) => boolean = () => false): Promise<number> {
    const now = this.#clock().toISOString();
    const owners = await this.#engine.all<{ id: string; aliveUntil: string | null }>(
      `select id, alive_until as "aliveUntil" from owners where id <> ?
       union select distinct r.owner, o.alive_until from renders r left join owners o on o.id = r.owner
       where r.state = 'reserved' and r.owner <> ?`,
      [this.#lease.owner, this.#lease.owner],
    );
    const dead = owners.filter(({ id, aliveUntil }) => (aliveUntil ?? '') <= now || isGone(id));
    let released = 0;
    for (const { id } of dead) released += await this.#releaseAllOf(id);
    return released;
  }

  /** One hold at a time, with a pause after each, so that a server that sweeps stays responsive. */
  async #releaseAllOf(owner: string): Promise<number> {
    let released = 0;
    for (let last = ''; ; ) {
      const held = await this.#engine.all<{ id: string }>(
        "select id from renders where owner = ? and state = 'reserved' and id > ? order by id limit ?",
        [owner, last, SWEEP_BATCH],
      );
      for (const { id } of held) {
        if (await this.#releaseLost(id)) released += 1;
        await yieldToEventLoop();
        last = id;
      }
      if (held.length < SWEEP_BATCH) break;
    }
    await this.#engine.run("delete from idempotency where owner = ? and state = 'running'", [owner]);
    await this.#engine.run('delete from owners where id = ?', [owner]);
    return released;
  }

  /** A hold that can't be released is a pending write then, and must not keep the sweep from the others. */
  async #releaseLost(renderId: string): Promise<boolean> {
    try {
      return await this.release(renderId, { outcome: 'server_lost', durationMs: undefined });
    } catch (error) {
      if (isUnavailable(error)) throw error;
      return false;
    }
  }

  async #reserve(session: SqlSession, hold: NewHold): Promise<ReserveResult> {
    const { accountId, limit } = hold;
    const startsAt = hold.period.startsAt.toISOString();
    const credits = priceOf(hold.mode, hold.credits);
    if (!(await this.#insertHold(session, hold, credits))) {
      const before = await first<{ state: string }>(session, 'select state from renders where id = ?', [hold.renderId]);
      const balance = await readBalance(session, accountId, startsAt, limit);
      return { granted: before?.state !== 'released', balance };
    }
    if (credits === 0) return { granted: true, balance: await readBalance(session, accountId, startsAt, limit) };
    const take = async (): Promise<Omit<Balance, 'limit'> | undefined> =>
      await first(
        session,
        `update periods set reserved = reserved + ?
         where account_id = ? and starts_at = ? and used + reserved + ? <= ? returning used, reserved`,
        [credits, accountId, startsAt, credits, limit],
      );
    let taken = await take();
    if (taken === undefined) {
      // Not enough, or the first of the period; another server may be adding it at this moment.
      await addPeriod(session, hold);
      taken = await take();
    }
    if (taken === undefined) throw new NotEnough();
    return { granted: true, balance: { ...taken, limit } };
  }

  /** False when this render was reserved before. */
  async #insertHold(session: SqlSession, hold: NewHold, credits: number): Promise<boolean> {
    const { renderId, accountId, keyId = null, mode, kind, period } = hold;
    const startsAt = period.startsAt.toISOString();
    const added = await session.run(
      `insert into renders (id, account_id, key_id, mode, kind, credits, period_starts_at, state, outcome, owner, created_at)
       values (?, ?, ?, ?, ?, ?, ?, 'reserved', 'running', ?, ?) on conflict (id) do nothing`,
      [renderId, accountId, keyId, mode, kind, credits, startsAt, this.#lease.owner, this.#clock().toISOString()],
    );
    return added === 1;
  }

  async #end(renderId: string, { state, ending, remember }: End): Promise<boolean> {
    return await this.#engine.transaction(async (session) => {
      if (remember === undefined || (await keep(session, renderId, remember))) {
        return await this.#finish(session, renderId, state, ending);
      }
      await this.#finish(session, renderId, 'released', { ...ending, outcome: 'claim_lost' });
      return false;
    });
  }

  async #finish(session: SqlSession, renderId: string, state: End['state'], ending: Ending): Promise<boolean> {
    const { outcome, durationMs } = ending;
    const at = this.#clock().toISOString();
    const [hold] = await session.all<HoldRow>(
      `update renders set state = ?, outcome = ?, finished_at = ?, duration_ms = ? where id = ? and state = 'reserved'
       returning account_id as "accountId", mode, credits, period_starts_at as "periodStartsAt"`,
      [state, outcome, at, durationMs === undefined ? null : Math.round(durationMs), renderId],
    );
    if (hold === undefined) return false;
    const charged = state === 'settled' ? hold.credits : 0;
    if (hold.credits > 0) {
      await session.run(
        'update periods set reserved = reserved - ?, used = used + ? where account_id = ? and starts_at = ?',
        [hold.credits, charged, hold.accountId, hold.periodStartsAt],
      );
    }
    await addUsage(session, { ...hold, day: at.slice(0, 10), outcome, renders: 1, credits: charged });
    return true;
  }
}

async function addPeriod(session: SqlSession, { accountId, period }: NewHold): Promise<void> {
  await session.run(
    'insert into periods (account_id, starts_at, ends_at) values (?, ?, ?) on conflict (account_id, starts_at) do nothing',
    [accountId, period.startsAt.toISOString(), period.endsAt.toISOString()],
  );
}

/** False when the key is no longer this render's. */
async function keep(session: SqlSession, renderId: string, { accountId, key, facts }: Remembered): Promise<boolean> {
  const kept = await session.run(
    "update idempotency set state = 'done', facts = ? where account_id = ? and key = ? and render_id = ?",
    [facts, accountId, key, renderId],
  );
  return kept === 1;
}

async function readBalance(session: SqlSession, accountId: string, startsAt: string, limit: number): Promise<Balance> {
  const row = await first<{ used: number; reserved: number }>(
    session,
    'select used, reserved from periods where account_id = ? and starts_at = ?',
    [accountId, startsAt],
  );
  return { used: row?.used ?? 0, reserved: row?.reserved ?? 0, limit };
}

// Credits. A render's hold is a row that goes from `reserved` to `settled` or `released`, once; the sums of a period follow
// in the same transaction. Tables are touched in one order everywhere (idempotency, renders, periods, usage), so that two
// transactions never wait for each other in a circle.

import { setImmediate as breathe } from 'node:timers/promises';
import { type Balance, priceOf } from '../account/credits.ts';
import type { Period } from '../account/period.ts';
import { AppError } from '../errors.ts';
import { type Engine, first, OutcomeUnknown, type SqlSession } from './engine.ts';
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
  /** What the database did not take. While this process lives nobody else would end these. */
  readonly #unwritten = new Map<string, End>();

  constructor(engine: Engine, clock: Clock, lease: Lease) {
    this.#engine = engine;
    this.#clock = clock;
    this.#lease = lease;
  }

  async reserve(hold: NewHold): Promise<ReserveResult> {
    await this.#lease.ensure();
    try {
      const reservation = await this.#engine.transaction(async (session) => await this.#reserve(session, hold));
      this.#unwritten.delete(hold.renderId);
      return reservation;
    } catch (error) {
      if (error instanceof NotEnough) {
        return { granted: false, balance: await this.balance(hold.accountId, hold.period, hold.limit) };
      }
      // Nobody renders on a reservation that failed, so if it did happen it has to go.
      if (error instanceof OutcomeUnknown) {
        const ending = { outcome: 'storage_unavailable', durationMs: undefined };
        this.#unwritten.set(hold.renderId, { state: 'released', ending });
      }
      throw error;
    }
  }

  async settle(renderId: string, ending: Ending, remember?: Remembered): Promise<boolean> {
    return await this.#write(renderId, { state: 'settled', ending, remember });
  }

  async release(renderId: string, ending: Ending): Promise<boolean> {
    return await this.#write(renderId, { state: 'released', ending });
  }

  async balance(accountId: string, { startsAt }: Period, limit: number): Promise<Balance> {
    return await readBalance(this.#engine, accountId, startsAt.toISOString(), limit);
  }

  async heartbeat(): Promise<void> {
    await this.#lease.renew();
    for (const [renderId, end] of [...this.#unwritten]) {
      await this.#write(renderId, end);
      await breathe();
    }
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

  /** One at a time and with pauses: a server that sweeps goes on answering. */
  async #releaseAllOf(owner: string): Promise<number> {
    let released = 0;
    for (;;) {
      const held = await this.#engine.all<{ id: string }>(
        "select id from renders where owner = ? and state = 'reserved' limit ?",
        [owner, SWEEP_BATCH],
      );
      if (held.length === 0) break;
      for (const { id } of held) {
        if (await this.release(id, { outcome: 'server_lost', durationMs: undefined })) released += 1;
        await breathe();
      }
    }
    await this.#engine.run("delete from idempotency where owner = ? and state = 'running'", [owner]);
    await this.#engine.run('delete from owners where id = ?', [owner]);
    return released;
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

  async #write(renderId: string, end: End): Promise<boolean> {
    try {
      const written = await this.#engine.transaction(async (session) => await this.#end(session, renderId, end));
      this.#unwritten.delete(renderId);
      return written;
    } catch (error) {
      if (error instanceof AppError && error.code === 'storage_unavailable') this.#unwritten.set(renderId, end);
      throw error;
    }
  }

  async #end(session: SqlSession, renderId: string, { state, ending, remember }: End): Promise<boolean> {
    if (remember === undefined || (await keep(session, renderId, remember))) {
      return await this.#finish(session, renderId, state, ending);
    }
    await this.#finish(session, renderId, 'released', { ...ending, outcome: 'claim_lost' });
    return false;
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

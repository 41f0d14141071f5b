// Credits. A render's hold is a row that goes from `reserved` to `settled` or `released`, once; the sums of a period follow
// in the same transaction. Tables are touched in one order everywhere (renders, periods, usage), so that two transactions
// never wait for each other in a circle.

import type { Balance } from '../account/credits.ts';
import type { Period } from '../account/period.ts';
import { type Engine, first, type Session } from './engine.ts';
import type { Clock } from './sql-audit.ts';
import { addUsage } from './sql-usage.ts';
import type { Ending, Ledger, NewHold, Remembered, Reservation } from './store.ts';

/** How long a process counts as alive after its last heartbeat. */
const LEASE_MS = 30_000;

/** Thrown to roll a reservation back. */
class NotEnough extends Error {}

interface HoldRow {
  readonly accountId: string;
  readonly mode: string;
  readonly credits: number;
  readonly periodStartsAt: string;
}

export class SqlLedger implements Ledger {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #owner: string;

  /** `owner` names this process, among all that ever use the database. */
  constructor(engine: Engine, clock: Clock, owner: string) {
    this.#engine = engine;
    this.#clock = clock;
    this.#owner = owner;
  }

  async reserve(hold: NewHold): Promise<Reservation> {
    try {
      return await this.#engine.transaction(async (session) => await this.#reserve(session, hold));
    } catch (error) {
      if (!(error instanceof NotEnough)) throw error;
      return { granted: false, balance: await this.balance(hold.accountId, hold.period, hold.limit) };
    }
  }

  async settle(renderId: string, ending: Ending, remember?: Remembered): Promise<boolean> {
    return await this.#engine.transaction(async (session) => {
      const settled = await this.#end(session, renderId, 'settled', ending);
      if (settled && remember) {
        await session.run(
          "update idempotency set state = 'done', facts = ? where account_id = ? and key = ? and render_id = ?",
          [remember.facts, remember.accountId, remember.key, renderId],
        );
      }
      return settled;
    });
  }

  async release(renderId: string, ending: Ending): Promise<boolean> {
    return await this.#engine.transaction(async (session) => await this.#end(session, renderId, 'released', ending));
  }

  async balance(accountId: string, { startsAt }: Period, limit: number): Promise<Balance> {
    return await readBalance(this.#engine, accountId, startsAt.toISOString(), limit);
  }

  async heartbeat(): Promise<void> {
    const aliveUntil = new Date(this.#clock().getTime() + LEASE_MS).toISOString();
    await this.#engine.run(
      'insert into owners (id, alive_until) values (?, ?) on conflict (id) do update set alive_until = excluded.alive_until',
      [this.#owner, aliveUntil],
    );
  }

  async sweep(isGone: (owner: string) => boolean = () => false): Promise<number> {
    const now = this.#clock().toISOString();
    const owners = await this.#engine.all<{ id: string; aliveUntil: string }>(
      'select id, alive_until as "aliveUntil" from owners where id <> ?',
      [this.#owner],
    );
    const dead = owners.filter(({ id, aliveUntil }) => aliveUntil <= now || isGone(id));
    let released = 0;
    for (const { id } of dead) released += await this.#releaseAllOf(id);
    return released;
  }

  async #releaseAllOf(owner: string): Promise<number> {
    const held = await this.#engine.all<{ id: string }>(
      "select id from renders where owner = ? and state = 'reserved'",
      [owner],
    );
    let released = 0;
    for (const { id } of held) {
      if (await this.release(id, { outcome: 'server_lost', durationMs: undefined })) released += 1;
    }
    await this.#engine.run("delete from idempotency where owner = ? and state = 'running'", [owner]);
    await this.#engine.run('delete from owners where id = ?', [owner]);
    return released;
  }

  async #reserve(session: Session, hold: NewHold): Promise<Reservation> {
    const { accountId, credits, limit } = hold;
    const startsAt = hold.period.startsAt.toISOString();
    if (!(await this.#insertHold(session, hold, startsAt))) {
      const before = await first<{ state: string }>(session, 'select state from renders where id = ?', [hold.renderId]);
      const balance = await readBalance(session, accountId, startsAt, limit);
      return { granted: before?.state !== 'released', balance };
    }
    await session.run(
      'insert into periods (account_id, starts_at, ends_at) values (?, ?, ?) on conflict (account_id, starts_at) do nothing',
      [accountId, startsAt, hold.period.endsAt.toISOString()],
    );
    if (credits > 0) {
      const changed = await session.run(
        `update periods set reserved = reserved + ?
         where account_id = ? and starts_at = ? and used + reserved + ? <= ?`,
        [credits, accountId, startsAt, credits, limit],
      );
      if (changed === 0) throw new NotEnough();
    }
    return { granted: true, balance: await readBalance(session, accountId, startsAt, limit) };
  }

  /** False when this render was reserved before. */
  async #insertHold(session: Session, hold: NewHold, startsAt: string): Promise<boolean> {
    const { renderId, accountId, keyId = null, mode, kind, credits } = hold;
    const added = await session.run(
      `insert into renders (id, account_id, key_id, mode, kind, credits, period_starts_at, state, outcome, owner, created_at)
       values (?, ?, ?, ?, ?, ?, ?, 'reserved', 'running', ?, ?) on conflict (id) do nothing`,
      [renderId, accountId, keyId, mode, kind, credits, startsAt, this.#owner, this.#clock().toISOString()],
    );
    return added === 1;
  }

  async #end(
    session: Session,
    renderId: string,
    state: 'settled' | 'released',
    { outcome, durationMs }: Ending,
  ): Promise<boolean> {
    const at = this.#clock().toISOString();
    const [hold] = await session.all<HoldRow>(
      `update renders set state = ?, outcome = ?, finished_at = ?, duration_ms = ? where id = ? and state = 'reserved'
       returning account_id as "accountId", mode, credits, period_starts_at as "periodStartsAt"`,
      [state, outcome, at, durationMs === undefined ? null : Math.round(durationMs), renderId],
    );
    if (hold === undefined) return false;
    const charged = state === 'settled' ? hold.credits : 0;
    await session.run(
      'update periods set reserved = reserved - ?, used = used + ? where account_id = ? and starts_at = ?',
      [hold.credits, charged, hold.accountId, hold.periodStartsAt],
    );
    await addUsage(session, { ...hold, day: at.slice(0, 10), outcome, renders: 1, credits: charged });
    return true;
  }
}

async function readBalance(session: Session, accountId: string, startsAt: string, limit: number): Promise<Balance> {
  const row = await first<{ used: number; reserved: number }>(
    session,
    'select used, reserved from periods where account_id = ? and starts_at = ?',
    [accountId, startsAt],
  );
  return { used: row?.used ?? 0, reserved: row?.reserved ?? 0, limit };
}

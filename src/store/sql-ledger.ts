// Credits. The hold of a render is a row that goes from `reserved` to `settled` or `released`, once; the sums of the period
// change in the same transaction. Every transaction touches the tables in the same order (idempotency, holds, periods,
// test_renders, usage), so that two of them can't deadlock.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import {
  BROKEN_CHARGED,
  BROKEN_FREE,
  type DeliveryCounts,
  isBrokenCharged,
  NO_DELIVERIES,
} from '../account/broken-delivery.ts';
import type { Balance } from '../account/credits.ts';
import type { Period } from '../account/period.ts';
import { must } from '../primitives/must.ts';
import { type Engine, first, isUnavailable, OutcomeUnknown, type SqlSession, insertRow } from './engine.ts';
import type { RetryQueue } from './pending-writes.ts';
import { readBalance, toBalance } from './usage/period-balance.ts';
import { integer, type SqlRow, text, textOrNull } from './rows.ts';
import type { Clock } from './sql-audit.ts';
import { addUsage } from './sql-usage.ts';
import { countTestRenders, uncountTestRender } from './renders/test-renders.ts';
import { lockAttempt } from './renders/lock-attempt.ts';
import { advanceTrustedTime, isTrusted, type Lease } from './sql-lease.ts';
import type { Ending, Ledger, NewHold, Remembered, ReserveResult } from './store.ts';

const SWEEP_BATCH = 50;

/** Outcomes that are counted per period, and their columns. */
const COUNTED_OUTCOMES: ReadonlyMap<string, string> = new Map([
  ['delivered', 'delivered'],
  [BROKEN_FREE, 'broken_free'],
  [BROKEN_CHARGED, 'broken_charged'],
]);

/** Thrown to roll a reservation back. */
class NotGranted extends Error {
  readonly facts: Pick<ReserveResult, 'testRenders'>;

  constructor(facts: NotGranted['facts'] = {}) {
    super();
    this.facts = facts;
  }
}

/** The final state of a hold. */
interface Settlement {
  readonly state: 'settled' | 'released';
  readonly ending: Ending;
  readonly remember?: Remembered | undefined;
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
      const result = await this.#engine.transaction(async (session) => await this.#reserve(session, hold));
      this.#pendingWrites.remove({ kind: 'release', renderId });
      return result;
    } catch (error) {
      if (error instanceof NotGranted) {
        const { accountId, period, limit } = hold;
        return { granted: false, balance: await this.balance(accountId, period, limit), ...error.facts };
      }
      // The caller doesn't render, so a reservation that was committed after all must be released.
      // Unless it belongs to an asynchronous render, whose next attempt uses it.
      if (error instanceof OutcomeUnknown && hold.attempt === undefined) {
        const ending = { outcome: 'storage_unavailable', durationMs: undefined };
        const release = async (): Promise<boolean> => await this.#end(renderId, { state: 'released', ending });
        this.#pendingWrites.add({ kind: 'release', renderId }, release);
      }
      throw error;
    }
  }

  async settle(renderId: string, ending: Ending, remember?: Remembered): Promise<boolean> {
    return await this.#pendingWrites.run(
      { kind: 'settle', renderId },
      async () => await this.#end(renderId, { state: 'settled', ending, remember }),
    );
  }

  async release(renderId: string, ending: Ending): Promise<boolean> {
    return await this.#pendingWrites.run(
      { kind: 'release', renderId },
      async () => await this.#end(renderId, { state: 'released', ending }),
    );
  }

  async breakOff(
    renderId: string,
    durationMs: number | undefined,
    remember?: Remembered,
  ): Promise<'free' | 'charged' | undefined> {
    return await this.#pendingWrites.run(
      { kind: 'release', renderId },
      async () =>
        await this.#engine.transaction(
          async (session) => await this.#breakOff(session, renderId, durationMs, remember),
        ),
    );
  }

  async balance(accountId: string, { startsAt }: Period, limit: number): Promise<Balance> {
    return await readBalance(this.#engine, accountId, startsAt.toISOString(), limit);
  }

  async deliveries(accountId: string, { startsAt }: Period): Promise<DeliveryCounts> {
    const row = await first(
      this.#engine,
      'select delivered, broken_free, broken_charged from periods where account_id = :accountId and starts_at = :startsAt',
      { accountId, startsAt },
    );
    return row ? toDeliveries(row) : NO_DELIVERIES;
  }

  async heartbeat(): Promise<{ readonly isTimeTrusted: boolean }> {
    await this.#lease.renew();
    const now = this.#clock();
    await advanceTrustedTime(this.#engine, now);
    return { isTimeTrusted: await isTrusted(this.#engine, now) };
  }

  async sweep(isGone: (owner: string) => boolean = () => false): Promise<string[]> {
    const now = this.#clock().toISOString();
    const owners = await this.#engine.all(
      `select id, alive_until from owners where id <> :owner
       union select distinct r.owner, o.alive_until from holds r left join owners o on o.id = r.owner
       where r.state = 'reserved' and r.owner <> :owner`,
      { owner: this.#lease.owner },
    );
    const released: string[] = [];
    for (const row of owners) {
      const [owner, aliveUntil] = [text(row, 'id'), textOrNull(row, 'alive_until')];
      if (aliveUntil !== null && aliveUntil > now && !isGone(owner)) continue;
      released.push(...(await this.#releaseAllOf(owner)));
    }
    return released;
  }

  /** One hold at a time, with a pause after each, so that a server that sweeps stays responsive. */
  async #releaseAllOf(owner: string): Promise<string[]> {
    const released: string[] = [];
    for (let last = ''; ; ) {
      const held = await this.#engine.all(
        "select id from holds where owner = :owner and state = 'reserved' and id > :last order by id limit :limit",
        { owner, last, limit: SWEEP_BATCH },
      );
      for (const row of held) {
        last = text(row, 'id');
        if (await this.#releaseLost(last)) released.push(last);
        await yieldToEventLoop();
      }
      if (held.length < SWEEP_BATCH) break;
    }
    await this.#engine.run("delete from idempotency where owner = :owner and state = 'running'", { owner });
    await this.#engine.run('delete from owners where id = :owner', { owner });
    return released;
  }

  /** A hold that can't be released becomes a pending write, so that the sweep can go on with the others. */
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
    // Whatever the caller asks for, a test key never draws on the credits of the account.
    const credits = hold.mode === 'test' ? 0 : hold.credits;
    if (hold.attempt !== undefined) await lockAttempt(session, { renderId: hold.renderId, number: hold.attempt });
    let more = credits;
    if (await this.#insertHold(session, hold, credits)) await this.#countTest(session, hold);
    else {
      const existing = must(await lockHold(session, hold.renderId), 'the existing hold');
      if (existing.state !== 'reserved') {
        const granted = existing.state === 'settled';
        return { granted, balance: await readBalance(session, accountId, startsAt, limit) };
      }
      // The file behind a URL can change between two attempts, and its price with it.
      more = credits - existing.credits;
      await session.run('update holds set credits = :credits, kind = :kind where id = :renderId', {
        credits,
        kind: hold.kind,
        renderId: hold.renderId,
      });
    }
    if (more === 0) return { granted: true, balance: await readBalance(session, accountId, startsAt, limit) };
    let balance = await takeCredits(session, hold, more);
    if (balance === undefined) {
      // Not enough credits, or the first hold of the period. Another server may be adding the period at this moment.
      await addPeriod(session, hold);
      balance = await takeCredits(session, hold, more);
    }
    if (balance === undefined) throw new NotGranted();
    return { granted: true, balance };
  }

  async #countTest(session: SqlSession, { accountId, testRendersPerDay: limit }: NewHold): Promise<void> {
    if (limit === undefined) return;
    const tests = { accountId, renders: 1, limit };
    const actual = await countTestRenders(session, tests, this.#clock().toISOString());
    if (actual !== undefined) throw new NotGranted({ testRenders: actual });
  }

  /** False when this render has a hold already. */
  async #insertHold(session: SqlSession, hold: NewHold, credits: number): Promise<boolean> {
    const { renderId, accountId, keyId = null, mode, kind, period, testRendersPerDay } = hold;
    const startsAt = period.startsAt.toISOString();
    // Asynchronous renders outlive every server.
    const owner = hold.attempt === undefined ? this.#lease.owner : null;
    const at = this.#clock().toISOString();
    const added = await insertRow(
      session,
      'holds',
      {
        id: renderId,
        account_id: accountId,
        key_id: keyId,
        mode,
        kind,
        credits,
        period_starts_at: startsAt,
        state: 'reserved',
        outcome: 'running',
        owner,
        created_at: at,
        is_counted_test: testRendersPerDay === undefined ? 0 : 1,
      },
      `on conflict (id) do nothing`,
    );
    return added === 1;
  }

  async #end(renderId: string, { state, ending, remember }: Settlement): Promise<boolean> {
    return await this.#engine.transaction(async (session) => {
      if (remember === undefined || (await completeKey(session, renderId, remember))) {
        return await this.#closeHold(session, renderId, state, ending);
      }
      await this.#closeHold(session, renderId, 'released', { ...ending, outcome: 'claim_lost' });
      return false;
    });
  }

  /** Decides with the rows of the key, the hold and the period locked, in that order. */
  async #breakOff(
    session: SqlSession,
    renderId: string,
    durationMs: number | undefined,
    remember: Remembered | undefined,
  ): Promise<'free' | 'charged' | undefined> {
    if (remember !== undefined && !(await lockKey(session, renderId, remember))) {
      await this.#closeHold(session, renderId, 'released', { outcome: 'claim_lost', durationMs });
      return undefined;
    }
    const counts = await lockDeliveries(session, renderId);
    if (counts === undefined || !isBrokenCharged(counts)) {
      const isClosed = await this.#closeHold(session, renderId, 'released', { outcome: BROKEN_FREE, durationMs });
      return isClosed ? 'free' : undefined;
    }
    if (!(await this.#closeHold(session, renderId, 'settled', { outcome: BROKEN_CHARGED, durationMs })))
      return undefined;
    if (remember !== undefined) await completeKey(session, renderId, remember);
    return 'charged';
  }

  async #closeHold(
    session: SqlSession,
    renderId: string,
    state: Settlement['state'],
    ending: Ending,
  ): Promise<boolean> {
    return await closeHold(session, renderId, { state, ending }, this.#clock().toISOString());
  }
}

/** Ends a hold, with the sums of its period. False, without a change, when the hold isn't reserved. */
export async function closeHold(
  session: SqlSession,
  renderId: string,
  { state, ending: { outcome, durationMs } }: Omit<Settlement, 'remember'>,
  at: string,
): Promise<boolean> {
  const hold = await first(
    session,
    `update holds set state = :state, outcome = :outcome, finished_at = :at, duration_ms = :durationMs where id = :renderId and state = 'reserved'
     returning account_id, mode, credits, period_starts_at, created_at, is_counted_test`,
    { state, outcome, at, durationMs: durationMs === undefined ? null : Math.round(durationMs), renderId },
  );
  if (hold === undefined) return false;
  const [accountId, mode, held] = [text(hold, 'account_id'), text(hold, 'mode'), integer(hold, 'credits')];
  const charged = state === 'settled' ? held : 0;
  if (held > 0) {
    const column = COUNTED_OUTCOMES.get(outcome);
    await session.run(
      `update periods set reserved = reserved - :held, used = used + :charged${column === undefined ? '' : `, ${column} = ${column} + 1`}
       where account_id = :accountId and starts_at = :periodStartsAt`,
      { held, charged, accountId, periodStartsAt: text(hold, 'period_starts_at') },
    );
  }
  // A broken delivery was rendered, too.
  if (integer(hold, 'is_counted_test') === 1 && state === 'released' && outcome !== BROKEN_FREE) {
    await uncountTestRender(session, accountId, text(hold, 'created_at'));
  }
  await addUsage(session, { accountId, day: at.slice(0, 10), mode, outcome, renders: 1, credits: charged });
  return true;
}

/** Until the transaction ends, no other one can change the hold. */
async function lockHold(
  session: SqlSession,
  renderId: string,
): Promise<{ readonly state: string; readonly credits: number } | undefined> {
  const sql = 'update holds set outcome = outcome where id = :renderId returning state, credits';
  const row = await first(session, sql, { renderId });
  return row && { state: text(row, 'state'), credits: integer(row, 'credits') };
}

/**
 * The balance after the credits were taken, or given back if negative. Undefined when there is no such period yet or too
 * little left in it.
 */
async function takeCredits(
  session: SqlSession,
  { accountId, period, limit }: NewHold,
  credits: number,
): Promise<Balance | undefined> {
  const row = await first(
    session,
    `update periods set reserved = reserved + :credits
     where account_id = :accountId and starts_at = :startsAt and (:credits <= 0 or used + reserved + :credits <= :limit + granted) returning used, reserved, granted`,
    { credits, accountId, startsAt: period.startsAt, limit },
  );
  return row && toBalance(row, limit);
}

export async function addPeriod(
  session: SqlSession,
  { accountId, period }: Pick<NewHold, 'accountId' | 'period'>,
): Promise<void> {
  await insertRow(
    session,
    'periods',
    { account_id: accountId, starts_at: period.startsAt, ends_at: period.endsAt },
    `on conflict (account_id, starts_at) do nothing`,
  );
}

/** Undefined for a hold without credits, and for one that isn't reserved any more. */
async function lockDeliveries(session: SqlSession, renderId: string): Promise<DeliveryCounts | undefined> {
  const hold = await first(
    session,
    `update holds set outcome = outcome where id = :renderId and state = 'reserved' and credits > 0
     returning account_id, period_starts_at`,
    { renderId },
  );
  if (hold === undefined) return undefined;
  const period = await first(
    session,
    `update periods set delivered = delivered where account_id = :accountId and starts_at = :periodStartsAt
     returning delivered, broken_free, broken_charged`,
    { accountId: text(hold, 'account_id'), periodStartsAt: text(hold, 'period_starts_at') },
  );
  return toDeliveries(must(period, 'the period of the hold'));
}

function toDeliveries(row: SqlRow): DeliveryCounts {
  return {
    delivered: integer(row, 'delivered'),
    brokenFree: integer(row, 'broken_free'),
    brokenCharged: integer(row, 'broken_charged'),
  };
}

/** False when another render has taken the idempotency key over. */
async function lockKey(session: SqlSession, renderId: string, { accountId, key }: Remembered): Promise<boolean> {
  const update =
    'update idempotency set state = state where account_id = :accountId and key = :key and render_id = :renderId';
  return (await session.run(update, { accountId, key, renderId })) === 1;
}

/** False when another render has taken the idempotency key over. */
export async function completeKey(
  session: SqlSession,
  renderId: string,
  { accountId, key, facts }: Remembered,
): Promise<boolean> {
  const changed = await session.run(
    "update idempotency set state = 'done', facts = :facts where account_id = :accountId and key = :key and render_id = :renderId",
    { facts, accountId, key, renderId },
  );
  return changed === 1;
}

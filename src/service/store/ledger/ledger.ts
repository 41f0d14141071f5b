// Credits. The hold of a render is a row that goes from `reserved` to `settled` or `released`, once. The sums of the
// period change in the same transaction. The ledger ends only holds of the process that reserved them: those of a stored
// render belong to its row, which ends them in `store/renders`. Every transaction touches the tables in the same order (idempotency, holds,
// periods, test_renders, usage), so that two of them can't deadlock.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type DeliveryCounts, NO_DELIVERIES } from '../../account/broken-delivery.ts';
import type { Balance } from '../../account/credits.ts';
import type { Period } from '../../account/period.ts';
import { must } from '../../../shared/must.ts';
import { type Engine, first, isUnavailable, OutcomeUnknown, type SqlSession, insertRow } from '../engine.ts';
import type { PendingWrites } from './pending-writes.ts';
import { readBalance } from './period-balance.ts';
import { text, textOrNull } from '../rows.ts';
import type { Clock } from '../audit.ts';
import { countTestRenders } from './test-renders.ts';
import { lockAttempt } from '../renders/lock-attempt.ts';
import { advanceTrustedTime, IS_DEAD, isTrusted, type ServerLease } from '../lease.ts';
import {
  type NewHold,
  type OwnedHold,
  type Ending,
  type Remembered,
  toDeliveries,
  lockHold,
  takeCredits,
  addPeriod,
  type Settlement,
  completeKey,
  lockKey,
  breakHold,
  closeHold,
} from './holds.ts';

export interface ReserveResult {
  /** False when too few credits or test renders are left. */
  readonly granted: boolean;
  readonly balance: Balance;
  /** The number of test renders there would be, set when that exceeds the limit. */
  readonly testRenders?: number;
}

const SWEEP_BATCH = 50;

/** Thrown to roll a reservation back. */
class NotGranted extends Error {
  readonly facts: Pick<ReserveResult, 'testRenders'>;

  constructor(facts: NotGranted['facts'] = {}) {
    super();
    this.facts = facts;
  }
}

/**
 * Every step may be repeated. A `settle` or `release` that fails becomes a pending write, and so does the release of a
 * hold whose reservation may or may not have been committed.
 */
export class Ledger {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #lease: ServerLease;
  readonly #pendingWrites: PendingWrites;

  constructor(engine: Engine, clock: Clock, lease: ServerLease, pendingWrites: PendingWrites) {
    this.#engine = engine;
    this.#clock = clock;
    this.#lease = lease;
    this.#pendingWrites = pendingWrites;
  }

  /** Reserves credits. Idempotent by render id. Holds of test keys are free. */
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
      // The caller doesn't render, so a reservation that was committed after all must be released. An asynchronous
      // render keeps it for the next attempt.
      if (error instanceof OutcomeUnknown && hold.attempt === undefined) {
        const ending = { outcome: 'storage_unavailable', durationMs: undefined };
        const release = async (): Promise<boolean> =>
          await this.#end(this.#own(renderId), { state: 'released', ending });
        this.#pendingWrites.add({ kind: 'release', renderId }, release);
      }
      throw error;
    }
  }

  /**
   * Charges the account. Returns false, without a change, when the hold isn't reserved any more. With `remember`, also
   * false when another server took the idempotency key over because it considered this one dead. A key is charged only
   * once, by the server that has it.
   */
  async settle(renderId: string, ending: Ending, remember?: Remembered): Promise<boolean> {
    return await this.#pendingWrites.run(
      { kind: 'settle', renderId },
      async () => await this.#end(this.#own(renderId), { state: 'settled', ending, remember }),
    );
  }

  /** Gives the credits back. Returns false, without a change, when the hold isn't reserved any more. */
  async release(renderId: string, ending: Ending): Promise<boolean> {
    return await this.#pendingWrites.run(
      { kind: 'release', renderId },
      async () => await this.#end(this.#own(renderId), { state: 'released', ending }),
    );
  }

  /**
   * Ends a render whose delivery broke: gives the credits back, or charges them if `account/broken-delivery.ts` says
   * so. `remember` works as in `settle`. Returns undefined, without a change, when the hold isn't reserved any more.
   */
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

  /**
   * Renews the lease of this process, so that no other server releases its holds, and tells the database the time; see
   * `lease.ts`. The time is trusted unless it is far from that of earlier heartbeats.
   */
  async heartbeat(): Promise<{ readonly isTimeTrusted: boolean }> {
    await this.#lease.renew();
    const now = this.#clock();
    await advanceTrustedTime(this.#engine, now);
    return { isTimeTrusted: await isTrusted(this.#engine, now) };
  }

  /**
   * Releases the holds of dead processes and returns the ids of their renders. `isGone` can recognize a dead process before
   * its lease runs out.
   */
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
      // A process that is gone can't renew its lease any more.
      if (isGone(owner)) await this.#engine.run('delete from owners where id = :owner', { owner });
      else if (aliveUntil !== null && aliveUntil > now) continue;
      released.push(...(await this.#releaseAllOf(owner)));
    }
    return released;
  }

  /**
   * Releases one hold at a time, with a pause after each, so that the server stays responsive. A process that was only
   * paused may renew its lease meanwhile, and keeps what it still holds.
   */
  async #releaseAllOf(owner: string): Promise<string[]> {
    const released: string[] = [];
    for (let last = ''; ; ) {
      const held = await this.#engine.all(
        "select id from holds where owner = :owner and state = 'reserved' and id > :last order by id limit :limit",
        { owner, last, limit: SWEEP_BATCH },
      );
      for (const row of held) {
        last = text(row, 'id');
        if (await this.#releaseLost(last, owner)) released.push(last);
        await yieldToEventLoop();
      }
      if (held.length < SWEEP_BATCH) break;
    }
    const at = this.#clock().toISOString();
    const keys = `delete from idempotency where owner = :owner and state = 'running' and ${IS_DEAD}`;
    await this.#engine.run(keys, { owner, at });
    await this.#engine.run('delete from owners where id = :owner and alive_until <= :at', { owner, at });
    return released;
  }

  /**
   * A hold that can't be released becomes a pending write, so that the sweep can go on with the others. A stored render may
   * have adopted the hold since the sweep found it.
   */
  async #releaseLost(renderId: string, owner: string): Promise<boolean> {
    const ending = { outcome: 'server_lost', durationMs: undefined };
    try {
      return await this.#pendingWrites.run(
        { kind: 'release', renderId },
        async () => await this.#end({ renderId, owner, isLost: true }, { state: 'released', ending }),
      );
    } catch (error) {
      if (isUnavailable(error)) throw error;
      return false;
    }
  }

  async #reserve(session: SqlSession, hold: NewHold): Promise<ReserveResult> {
    const { accountId, limit } = hold;
    const startsAt = hold.period.startsAt.toISOString();
    // A test key never draws on the credits of the account, whatever the caller asks for.
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
      // There are too few credits, or this is the first hold of the period. Another server may be adding the period at
      // this moment.
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

  /** Returns false when this render has a hold already. */
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
        accountId,
        keyId,
        mode,
        kind,
        credits,
        periodStartsAt: startsAt,
        state: 'reserved',
        outcome: 'running',
        owner,
        createdAt: at,
        isCountedTest: testRendersPerDay === undefined ? 0 : 1,
      },
      `on conflict (id) do nothing`,
    );
    return added === 1;
  }

  /** The hold of this process with the id of the render. */
  #own(renderId: string): OwnedHold {
    return { renderId, owner: this.#lease.owner };
  }

  async #end(hold: OwnedHold, { state, ending, remember }: Settlement): Promise<boolean> {
    return await this.#engine.transaction(async (session) => {
      const at = this.#clock().toISOString();
      if (remember === undefined || (await completeKey(session, hold.renderId, remember))) {
        return await closeHold(session, hold, { state, ending }, at);
      }
      const lost = { ...ending, outcome: 'claim_lost' };
      await closeHold(session, hold, { state: 'released', ending: lost }, at);
      return false;
    });
  }

  /** Decides while the rows of the key, the hold and the period are locked, in that order. */
  async #breakOff(
    session: SqlSession,
    renderId: string,
    durationMs: number | undefined,
    remember: Remembered | undefined,
  ): Promise<'free' | 'charged' | undefined> {
    const hold = this.#own(renderId);
    const at = this.#clock().toISOString();
    if (remember !== undefined && !(await lockKey(session, renderId, remember))) {
      const ending = { outcome: 'claim_lost', durationMs };
      await closeHold(session, hold, { state: 'released', ending }, at);
      return undefined;
    }
    const ended = await breakHold(session, hold, durationMs, at);
    if (ended === 'charged' && remember !== undefined) await completeKey(session, renderId, remember);
    return ended;
  }
}

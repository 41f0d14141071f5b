// Renders that outlive their request. Transactions touch the tables in the order of the ledger: idempotency, `renders`,
// the hold, its period, usage.

import { type Engine, first, type SqlSession } from '../engine.ts';
import { type SqlRow, text, textOrNull } from '../rows.ts';
import type { Clock } from '../audit.ts';
import { closeHold, type OwnedHold, storedHold } from '../ledger/holds.ts';
import { type SqlCondition, listInSteps } from '../bounded/steps.ts';
import { addUsage } from '../ledger/usage.ts';
import { uncountTestRender } from '../ledger/test-renders.ts';
import { addBatchEvent } from '../webhooks/publish-event.ts';
import { acceptRenders, addRendered, HoldGone, storageExceeded } from './accept-renders.ts';
import { ACTIVE, RenderClaims, WAITING } from './render-claims.ts';
import { RenderDeliveries } from './render-deliveries.ts';
import { RenderEvents } from './render-events.ts';
import { RenderRetention } from './render-retention.ts';
import { inScope, toRender } from './render-rows.ts';
import {
  type AcceptOptions,
  type Acceptance,
  type Addition,
  type ClaimedRender,
  type ExpiredObject,
  type FinishedOptions,
  type NewRender,
  type OverStorage,
  type RenderFailure,
  type RenderLane,
  type RenderPage,
  type RenderRecord,
  type RenderScope,
  type RenderSuccess,
  type StorageDemand,
  type StorageLimits,
} from './render.ts';
import { type Attempt, AttemptLost, IS_LATEST } from './lock-attempt.ts';

export class Renders {
  readonly events: RenderEvents;
  readonly deliveries: RenderDeliveries;
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #owner: string;
  readonly #retention: RenderRetention;
  readonly #claims: RenderClaims;

  constructor(engine: Engine, clock: Clock, owner: string) {
    this.#engine = engine;
    this.#clock = clock;
    this.#owner = owner;
    this.#retention = new RenderRetention(engine, clock);
    this.#claims = new RenderClaims(engine, clock, owner);
    this.events = new RenderEvents(engine, clock);
    this.deliveries = new RenderDeliveries(engine, { clock, owner, events: this.events });
  }

  /** Accepts all of the renders or none, in one transaction with the idempotency key. */
  async accept(renders: readonly NewRender[], options: AcceptOptions): Promise<Acceptance> {
    return await this.#engine.transaction(
      async (session) =>
        await acceptRenders(session, renders, options, { now: options.at ?? this.#clock(), self: this.#owner }),
    );
  }

  /**
   * Takes the lease of the next render that is due: accounts with fewer running renders first, then the one whose last
   * render was claimed longest ago. Returns undefined when none is due.
   */
  async claim(lane: RenderLane): Promise<ClaimedRender | undefined> {
    return await this.#claims.claim(lane);
  }

  /** Marks a render as being rendered by a worker. Until then, a claimed render is still shown as queued. */
  async start({ renderId, number }: Attempt): Promise<void> {
    await this.#engine.run(
      `update renders set status = 'rendering', started_at = coalesce(started_at, :at) where ${IS_LATEST}`,
      { at: this.#clock(), renderId, number },
    );
  }

  /** Extends the lease. Returns false when the render was canceled or another server has claimed it. */
  async renew({ renderId, number }: Attempt, progress: number): Promise<boolean> {
    const renewed = await this.#engine.run(
      `update renders set due_at = :dueAt, progress = :progress where ${IS_LATEST}`,
      {
        dueAt: this.#claims.leaseEnd(this.#clock()),
        progress: Math.round(Math.min(1, Math.max(0, progress)) * 1_000),
        renderId,
        number,
      },
    );
    return renewed === 1;
  }

  /** Replaces the request with the same one and what is known about it by now. */
  async replaceRequest({ renderId, number }: Attempt, request: string): Promise<void> {
    const update = `update renders set request = :request where ${IS_LATEST}`;
    if ((await this.#engine.run(update, { request, renderId, number })) !== 1) throw new AttemptLost(renderId);
  }

  /** Ends the attempt without a result. The render is due again after the delay. */
  async giveBack({ renderId, number }: Attempt, delayMs: number): Promise<void> {
    const dueAt = new Date(this.#clock().getTime() + delayMs).toISOString();
    await this.#engine.run(
      `update renders set status = ${WAITING}, owner = null, due_at = :dueAt,
         progress = case when lane = 'put' then progress else 0 end where ${IS_LATEST}`,
      { dueAt, renderId, number },
    );
  }

  /**
   * Charges the reserved credits in the same transaction. Returns false, without a change, when the attempt isn't the
   * latest.
   */
  async succeed({ renderId, number }: Attempt, success: RenderSuccess): Promise<boolean> {
    return await this.#engine.transaction(async (session) => {
      const row = await this.#writeSuccess(session, { renderId, number }, success, this.#clock());
      if (row === undefined) return false;
      await this.#settle(session, storedHold(renderId), success);
      await this.events.add(session, row, 'render.succeeded');
      return true;
    });
  }

  /** Returns undefined when the account has room. Another request may take that room at any time. */
  async storageExceeded(demand: StorageDemand, limits: StorageLimits): Promise<OverStorage | undefined> {
    return await storageExceeded(this.#engine, demand, limits);
  }

  /**
   * Stores a render that has finished inside its request, and settles its hold. Changes nothing if that isn't possible.
   */
  async addFinished(
    render: NewRender,
    success: RenderSuccess,
    { limits, remember, at: now = this.#clock() }: FinishedOptions,
  ): Promise<Addition> {
    const row = { bytes: success.output.bytes, limits, remember, owner: this.#owner, now };
    try {
      return await this.#engine.transaction(async (session) => {
        const exceeded = await addRendered(session, render, row);
        if (exceeded) return exceeded;
        const written = await this.#writeSuccess(session, { renderId: render.id, number: 0 }, success, now);
        await this.#settle(session, { renderId: render.id, owner: this.#owner }, success);
        if (written !== undefined) await this.events.add(session, written, 'render.succeeded');
        return { kind: 'added' };
      });
    } catch (error) {
      if (error instanceof HoldGone) return { kind: 'hold gone' };
      throw error;
    }
  }

  /**
   * Releases reserved credits in the same transaction, or charges them. Returns false, without a change, when the attempt isn't the
   * latest.
   */
  async fail({ renderId, number }: Attempt, failure: RenderFailure): Promise<boolean> {
    const { error, code, durationMs, isCharged = false } = failure;
    return await this.#engine.transaction(async (session) => {
      const at = this.#clock().toISOString();
      const row = await first(
        session,
        `update renders set status = 'failed', owner = null, finished_at = :at, error = :error,
           credits = ${isCharged ? "coalesce((select credits from holds where id = :renderId and state = 'reserved'), 0)" : '0'}
         where ${IS_LATEST} returning id, account_id, mode, created_at`,
        { at, error, renderId, number },
      );
      if (row === undefined) return false;
      if (isCharged)
        await closeHold(session, storedHold(renderId), { state: 'settled', ending: { outcome: code, durationMs } }, at);
      else await this.#release(session, row, code, durationMs);
      await this.events.add(session, row, 'render.failed');
      return true;
    });
  }

  /**
   * Cancels the render unless it has ended, and releases its credits. Returns undefined when there is none in scope. A render
   * whose file is being sent goes on, because its receiver may have the file already.
   */
  async cancel(scope: RenderScope, renderId: string): Promise<RenderRecord | undefined> {
    const [condition, parameters] = inScope(scope);
    return await this.#engine.transaction(async (session) => {
      const row = await first(
        session,
        `update renders set status = 'canceled', owner = null, finished_at = :now, credits = 0
         where id = :renderId and ${ACTIVE} and lane <> 'put' and ${condition} returning *`,
        { ...parameters, now: this.#clock(), renderId },
      );
      if (row === undefined) return await findRender(session, scope, renderId);
      await this.#release(session, row, 'canceled', undefined);
      await this.events.add(session, row, 'render.canceled');
      return toRender(row);
    });
  }

  async find(scope: RenderScope, renderId: string): Promise<RenderRecord | undefined> {
    return await findRender(this.#engine, scope, renderId);
  }

  /**
   * Finds the render of a result link. The link ends when its account is deleted, and is disabled while the account is
   * suspended. A file that is sent to a URL of the caller has none.
   */
  async findByToken(token: string): Promise<RenderRecord | undefined> {
    const row = await first(
      this.#engine,
      `select j.* from renders j join accounts a on a.id = j.account_id
       where j.token = :token and j.target is null and a.state <> 'suspended' and a.deleted_at is null`,
      { token },
    );
    return row && toRender(row);
  }

  /** Lists renders, newest first. */
  async list(scope: RenderScope, { limit, after, batchId, status, day }: RenderPage): Promise<RenderRecord[]> {
    const { accountId, mode, keyId } = scope;
    const within: SqlCondition[] = [['account_id = :accountId', { accountId }]];
    if (batchId !== undefined) within.push(['batch_id = :batchId', { batchId }]);
    const older = '(created_at, id) < (select c.created_at, c.id from renders c where c.id = :after)';
    const end: SqlCondition | undefined = day === undefined ? undefined : ['created_at <= :end', { end: `${day}U` }];
    const before: SqlCondition | undefined = after === undefined ? end : [older, { after }];
    const from: SqlCondition | undefined =
      day === undefined ? undefined : ['created_at >= :start', { start: `${day}T` }];
    const filter: SqlCondition[] = after !== undefined && end ? [end] : [];
    if (mode !== undefined) filter.push(['mode = :mode', { mode }]);
    if (keyId !== undefined) filter.push(['key_id = :keyId', { keyId }]);
    if (status !== undefined) filter.push(['status = :status', { status }]);
    const list = { columns: '*', table: 'renders', order: ['created_at', 'id'], count: limit };
    return (await listInSteps(this.#engine, { ...list, within, before, from, filter })).map(toRender);
  }

  /** Deletes a render that has ended. Its objects must be deleted first. */
  async remove(scope: RenderScope, renderId: string): Promise<void> {
    const [condition, parameters] = inScope(scope);
    await this.#engine.transaction(async (session) => {
      // Renders of one batch are deleted one after the other, so that exactly one of them is the last.
      await session.run(
        'update render_batches set mode = mode where id = (select batch_id from renders where id = :renderId)',
        { renderId },
      );
      const row = await first(
        session,
        `delete from renders where id = :renderId and not ${ACTIVE} and ${condition}
         returning account_id, batch_id, idempotency_key`,
        { ...parameters, renderId },
      );
      if (row === undefined) return;
      const batchId = textOrNull(row, 'batch_id');
      if (batchId !== null) await this.#keepBatchEvent(session, text(row, 'account_id'), batchId, renderId);
      const key = textOrNull(row, 'idempotency_key');
      if (key === null) return;
      // The key of a batch stands for all its renders, so it goes with the last one.
      await session.run(
        `delete from idempotency where account_id = :accountId and key = :key and render_id = :claimedBy
         and not exists (select 1 from renders where batch_id = :batchId)`,
        { accountId: text(row, 'account_id'), key, claimedBy: batchId ?? renderId, batchId },
      );
    });
  }

  /** Makes the renders of dead processes due now, and returns their ids. */
  async releaseLost(isGone: (owner: string) => boolean): Promise<string[]> {
    const rows = await this.#engine.all(
      // The condition on the account makes SQLite use the index of claimed renders.
      "select id, owner, attempts from renders where owner is not null and account_id > '' and owner <> :owner",
      { owner: this.#owner },
    );
    const lost = rows.filter((row) => isGone(text(row, 'owner')));
    for (const row of lost) await this.giveBack({ renderId: text(row, 'id'), number: Number(row['attempts']) }, 0);
    return lost.map((row) => text(row, 'id'));
  }

  /** Returns assets of ended renders, and outputs whose retention is over. */
  async expiredObjects(count: number): Promise<ExpiredObject[]> {
    return await this.#retention.expiredObjects(count);
  }

  async markDeleted(object: ExpiredObject): Promise<void> {
    await this.#retention.markDeleted(object);
  }

  /** Returns those of the names that no render needs. */
  async orphans(names: readonly string[]): Promise<string[]> {
    return await this.#retention.orphans(names);
  }

  /** Deletes the records of renders that ended before `at` and have no objects any more. */
  async deleteBefore(at: Date): Promise<number> {
    return await this.#retention.deleteBefore(at);
  }

  async #writeSuccess(
    session: SqlSession,
    { renderId, number }: Attempt,
    { output, result, sourceType, credits }: RenderSuccess,
    now: Date,
  ): Promise<SqlRow | undefined> {
    const { name, bytes, token, expiresAt } = output;
    return await first(
      session,
      `update renders set status = 'succeeded', owner = null, finished_at = :at, started_at = coalesce(started_at, :at),
         progress = 1000, result = :result, source_type = :sourceType, credits = :credits, output = :name,
         output_bytes = :bytes, has_output = 1, token = :token, expires_at = :expiresAt
       where ${IS_LATEST} returning id, account_id, mode`,
      {
        at: now,
        result,
        sourceType,
        credits,
        name,
        bytes,
        token,
        expiresAt,
        renderId,
        number,
      },
    );
  }

  async #settle(session: SqlSession, hold: OwnedHold, { durationMs }: RenderSuccess): Promise<void> {
    const ending = { outcome: 'delivered', durationMs };
    const isSettled = await closeHold(session, hold, { state: 'settled', ending }, this.#clock().toISOString());
    if (!isSettled) throw new HoldGone(`the hold of render ${hold.renderId} isn't reserved any more`);
  }

  /** A render that ended before its credits were reserved counts in the usage of the account, too. */
  async #release(session: SqlSession, row: SqlRow, outcome: string, durationMs: number | undefined): Promise<void> {
    const at = this.#clock().toISOString();
    const ending = { outcome, durationMs };
    const [accountId, mode] = [text(row, 'account_id'), text(row, 'mode')];
    const hadHold = await closeHold(session, storedHold(text(row, 'id')), { state: 'released', ending }, at);
    if (mode === 'test') await uncountTestRender(session, accountId, text(row, 'created_at'));
    if (hadHold) return;
    await addUsage(session, { accountId, day: at.slice(0, 10), mode, outcome, renders: 1, credits: 0 });
  }

  /** The event of the batch follows from the one of its last render, which isn't published after the render is deleted. */
  async #keepBatchEvent(session: SqlSession, accountId: string, batchId: string, renderId: string): Promise<void> {
    const pending = 'select 1 as one from render_events where handled_at is null and render_id = :renderId';
    if ((await session.all(pending, { renderId })).length === 0) return;
    await addBatchEvent(session, accountId, batchId, this.#clock().toISOString());
  }
}

async function findRender(
  session: SqlSession,
  scope: RenderScope,
  renderId: string,
): Promise<RenderRecord | undefined> {
  const [condition, parameters] = inScope(scope);
  const row = await first(session, `select * from renders where id = :renderId and ${condition}`, {
    ...parameters,
    renderId,
  });
  return row && toRender(row);
}

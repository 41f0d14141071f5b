// Renders whose file is sent to a URL of the caller. Their row keeps the file, the reserved credits and the lease until the
// receiver has accepted the file, or never will.

import { must } from '../../../shared/must.ts';
import type { Clock } from '../audit.ts';
import { type Engine, first, type SqlSession } from '../engine.ts';
import { breakHold, closeHold, storedHold } from '../ledger/holds.ts';
import { integer } from '../rows.ts';
import { addRendered, HoldGone } from './accept-renders.ts';
import { type Attempt, IS_LATEST } from './lock-attempt.ts';
import type { RenderEvents } from './render-events.ts';
import type { Addition, DeliveryEnd, FinishedOptions, NewRender, RenderFailure, RenderSuccess } from './render.ts';

export interface DeliverySuccess {
  /** The facts of the file, with the status of the receiver's response. */
  readonly result: string;
  readonly durationMs: number;
}

export interface DeliveryFailure extends RenderFailure {
  readonly result: string;
  /** True if the receiver is the cause. The render counts as a broken delivery then. */
  readonly isBroken: boolean;
}

export class RenderDeliveries {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #owner: string;
  readonly #events: RenderEvents;

  constructor(
    engine: Engine,
    { clock, owner, events }: { readonly clock: Clock; readonly owner: string; readonly events: RenderEvents },
  ) {
    this.#engine = engine;
    this.#clock = clock;
    this.#owner = owner;
    this.#events = events;
  }

  /**
   * The render of an accepted request is finished, and its file is due to be sent. Returns false, without a change, when the
   * attempt isn't the latest.
   */
  async handOver(attempt: Attempt, success: RenderSuccess): Promise<boolean> {
    return await writeRendered(this.#engine, attempt, success, this.#clock());
  }

  /**
   * Adds a render that has finished inside its request, and whose file is due to be sent. From here on, its credits stay
   * reserved whatever happens to this server. Changes nothing if that isn't possible.
   */
  async add(
    render: NewRender,
    success: RenderSuccess,
    { limits, remember, at: now = this.#clock() }: FinishedOptions,
  ): Promise<Addition> {
    const row = { bytes: success.output.bytes, limits, remember, owner: this.#owner, now };
    try {
      return await this.#engine.transaction(async (session) => {
        const exceeded = await addRendered(session, render, row);
        if (exceeded) return exceeded;
        await writeRendered(session, { renderId: render.id, number: 0 }, success, now);
        const adopt = "update holds set owner = null where id = :id and state = 'reserved' and owner = :owner";
        if ((await session.run(adopt, { id: render.id, owner: this.#owner })) !== 1) throw new HoldGone();
        return { kind: 'added' };
      });
    } catch (error) {
      if (error instanceof HoldGone) return { kind: 'hold gone' };
      throw error;
    }
  }

  /** Ends a try that failed. The file is due again after the delay. */
  async retry({ renderId, number }: Attempt, result: string, delayMs: number): Promise<void> {
    const dueAt = new Date(this.#clock().getTime() + delayMs).toISOString();
    await this.#engine.run(`update renders set owner = null, due_at = :dueAt, result = :result where ${IS_LATEST}`, {
      dueAt,
      result,
      renderId,
      number,
    });
  }

  /**
   * Charges the reserved credits in the same transaction. Returns undefined, without a change, when the attempt isn't the
   * latest.
   */
  async succeed(attempt: Attempt, { result, durationMs }: DeliverySuccess): Promise<DeliveryEnd | undefined> {
    const { renderId, number } = attempt;
    return await this.#engine.transaction(async (session) => {
      const at = this.#clock().toISOString();
      const row = await first(
        session,
        `update renders set status = 'succeeded', owner = null, finished_at = :at, expires_at = :at, result = :result,
           credits = ${HELD} where ${IS_LATEST} returning id, account_id, credits`,
        { at, result, renderId, number },
      );
      if (row === undefined) return undefined;
      await this.#events.add(session, row, 'render.succeeded');
      const ending = { outcome: 'delivered', durationMs };
      const hadHold = await closeHold(session, storedHold(renderId), { state: 'settled', ending }, at);
      return { credits: integer(row, 'credits'), hadHold };
    });
  }

  /**
   * Ends the render in failure, which may be charged all the same. Returns undefined, without a change, when the attempt isn't
   * the latest.
   */
  async fail({ renderId, number }: Attempt, failure: DeliveryFailure): Promise<DeliveryEnd | undefined> {
    const { error, code, durationMs, result, isBroken } = failure;
    const hold = storedHold(renderId);
    return await this.#engine.transaction(async (session) => {
      const at = this.#clock().toISOString();
      const row = await first(
        session,
        `update renders set status = 'failed', owner = null, finished_at = :at, expires_at = :at, result = :result,
           error = :error, credits = 0 where ${IS_LATEST} returning id, account_id`,
        { at, result, error, renderId, number },
      );
      if (row === undefined) return undefined;
      await this.#events.add(session, row, 'render.failed');
      if (!isBroken) {
        const ending = { outcome: code, durationMs };
        return { credits: 0, hadHold: await closeHold(session, hold, { state: 'released', ending }, at) };
      }
      const ended = await breakHold(session, hold, durationMs, at);
      if (ended !== 'charged') return { credits: 0, hadHold: ended !== undefined };
      const held = '(select h.credits from holds h where h.id = :renderId)';
      const charged = `update renders set credits = ${held} where id = :renderId returning credits`;
      const paid = must(await first(session, charged, { renderId }), 'the render');
      return { credits: integer(paid, 'credits'), hadHold: true };
    });
  }
}

/** The reserved credits of the render with the id `:renderId`. */
const HELD =
  "coalesce((select h.credits from holds h where h.id = :renderId and h.state = 'reserved' and h.owner is null), 0)";

async function writeRendered(
  session: SqlSession,
  { renderId, number }: Attempt,
  { output, result, sourceType }: RenderSuccess,
  now: Date,
): Promise<boolean> {
  const { name, bytes, token, expiresAt } = output;
  const changed = await session.run(
    `update renders set status = 'rendering', lane = 'put', owner = null, is_due = 1, due_at = :at,
       started_at = coalesce(started_at, :at), progress = 1000, result = :result, source_type = :sourceType, output = :name,
       output_bytes = :bytes, has_output = 1, token = :token, expires_at = :expiresAt
     where ${IS_LATEST}`,
    { at: now, result, sourceType, name, bytes, token, expiresAt, renderId, number },
  );
  return changed === 1;
}

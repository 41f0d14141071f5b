// The rows of holds and billing periods. A hold goes from `reserved` to `settled` or `released`, once; the sums of its period change
// in the same transaction.

import { BROKEN_CHARGED, BROKEN_FREE, type DeliveryCounts, isBrokenCharged } from '../../account/broken-delivery.ts';
import type { Balance } from '../../account/credits.ts';
import type { Period } from '../../account/period.ts';
import { must } from '../../../shared/must.ts';
import { first, type SqlSession, insertRow } from '../engine.ts';
import { toBalance } from './period-balance.ts';
import { integer, type SqlRow, text } from '../rows.ts';
import { addUsage } from './usage.ts';
import { uncountTestRender } from './test-renders.ts';
import { addToStoredDetails, type RenderKind } from './usage-details.ts';
import type { KeyMode } from '../../account/api-key.ts';
import { IS_DEAD } from '../lease.ts';

export interface NewHold {
  readonly renderId: string;
  readonly accountId: string;
  readonly keyId: string | undefined;
  readonly mode: KeyMode;
  readonly kind: RenderKind;
  /** The price of the render; see `account/pricing.ts`. */
  readonly credits: number;
  readonly period: Period;
  /** The plan's credits per period. */
  readonly limit: number;
  /** Set for an asynchronous render: its hold survives this server, and only the latest attempt can reserve it. */
  readonly attempt?: number;
  /**
   * Set for a render that counts as a test render of the account: the maximum per UTC day. An asynchronous render was
   * already counted when it was accepted, and a replay counts with the render it repeats.
   */
  readonly testRendersPerDay?: number;
}

/** How a render ended, as the account's history shows it. */
export interface Ending {
  /** `delivered`, or the code of the error. */
  readonly outcome: string;
  readonly durationMs: number | undefined;
}

/** The idempotency key of a delivered render, and its headers as JSON. */
export interface Remembered {
  readonly accountId: string;
  readonly key: string;
  readonly facts: string;
}

/** Outcomes that are counted per period, and their columns. */
const COUNTED_OUTCOMES: ReadonlyMap<string, string> = new Map([
  ['delivered', 'delivered'],
  [BROKEN_FREE, 'broken_free'],
  [BROKEN_CHARGED, 'broken_charged'],
]);

/** Outcomes of renders that were made for nothing. */
const UNDELIVERED: ReadonlySet<string> = new Set([BROKEN_FREE, 'delivery_failed']);

/** The final state of a hold. */
export interface Settlement {
  readonly state: 'settled' | 'released';
  readonly ending: Ending;
  readonly remember?: Remembered | undefined;
}

/** A hold to end: that of a stored render, or the one that this process has reserved. */
export interface OwnedHold {
  readonly renderId: string;
  /** Null for the hold of a stored render, which outlives every process. */
  readonly owner: string | null;
  /** True to end the hold only if its process is dead. */
  readonly isLost?: boolean;
}

/** The hold of a stored render. */
export function storedHold(renderId: string): OwnedHold {
  return { renderId, owner: null };
}

/** True for the reserved hold with the parameters of an `OwnedHold`. */
const IS_RESERVED = "id = :renderId and state = 'reserved' and coalesce(owner, '') = coalesce(:owner, '')";

/**
 * Ends a hold, with the sums of its period. Returns false, without a change, when the hold isn't reserved or has another
 * owner.
 */
export async function closeHold(
  session: SqlSession,
  { renderId, owner, isLost = false }: OwnedHold,
  { state, ending: { outcome, durationMs } }: Omit<Settlement, 'remember'>,
  at: string,
): Promise<boolean> {
  const hold = await first(
    session,
    `update holds set state = :state, outcome = :outcome, finished_at = :at, duration_ms = :durationMs where ${IS_RESERVED} and ${isLost ? IS_DEAD : '1 = 1'}
     returning account_id, key_id, kind, mode, outcome, credits, period_starts_at, created_at, is_counted_test`,
    { state, outcome, at, durationMs: durationMs === undefined ? null : Math.round(durationMs), renderId, owner },
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
  // A file that wasn't delivered was rendered, so it stays counted.
  if (integer(hold, 'is_counted_test') === 1 && state === 'released' && !UNDELIVERED.has(outcome)) {
    await uncountTestRender(session, accountId, text(hold, 'created_at'));
  }
  const day = at.slice(0, 10);
  await addUsage(session, { accountId, day, mode, outcome, renders: 1, credits: charged });
  await addToStoredDetails(session, accountId, day, { ...hold, renders: 1, credits: charged });
  return true;
}

/** Locks the hold, so that no other transaction can change it. */
export async function lockHold(
  session: SqlSession,
  renderId: string,
): Promise<{ readonly state: string; readonly credits: number } | undefined> {
  const sql = 'update holds set outcome = outcome where id = :renderId returning state, credits';
  const row = await first(session, sql, { renderId });
  return row && { state: text(row, 'state'), credits: integer(row, 'credits') };
}

/**
 * Returns the balance after the credits were taken, or given back if negative. Returns undefined when the period
 * doesn't exist yet or has too few credits left.
 */
export async function takeCredits(
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
    { accountId, startsAt: period.startsAt, endsAt: period.endsAt },
    `on conflict (account_id, starts_at) do nothing`,
  );
}

/**
 * Ends the hold of a delivery that broke: gives the credits back, or charges them if `account/broken-delivery.ts` says so.
 * Returns undefined, without a change, when the hold isn't reserved any more.
 */
export async function breakHold(
  session: SqlSession,
  hold: OwnedHold,
  durationMs: number | undefined,
  at: string,
): Promise<'free' | 'charged' | undefined> {
  const counts = await lockDeliveries(session, hold);
  const isCharged = counts !== undefined && isBrokenCharged(counts);
  const ending = { outcome: isCharged ? BROKEN_CHARGED : BROKEN_FREE, durationMs };
  if (!(await closeHold(session, hold, { state: isCharged ? 'settled' : 'released', ending }, at))) return undefined;
  return isCharged ? 'charged' : 'free';
}

/** Returns undefined for a hold without credits, and for one that isn't reserved any more. */
async function lockDeliveries(
  session: SqlSession,
  { renderId, owner }: OwnedHold,
): Promise<DeliveryCounts | undefined> {
  const hold = await first(
    session,
    `update holds set outcome = outcome where ${IS_RESERVED} and credits > 0 returning account_id, period_starts_at`,
    { renderId, owner },
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

export function toDeliveries(row: SqlRow): DeliveryCounts {
  return {
    delivered: integer(row, 'delivered'),
    brokenFree: integer(row, 'broken_free'),
    brokenCharged: integer(row, 'broken_charged'),
  };
}

/** Returns false when another render has taken the idempotency key over. */
export async function lockKey(session: SqlSession, renderId: string, { accountId, key }: Remembered): Promise<boolean> {
  const update =
    'update idempotency set state = state where account_id = :accountId and key = :key and render_id = :renderId';
  return (await session.run(update, { accountId, key, renderId })) === 1;
}

/** Returns false when another render has taken the idempotency key over. */
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

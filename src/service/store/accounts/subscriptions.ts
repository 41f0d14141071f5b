// Reads and writes subscriptions, and renews or ends them when their period is over.

import {
  applyChange,
  changeDue,
  isUnusual,
  type Subscription,
  type SubscriptionChange,
} from '../../account/subscription.ts';
import { AppError } from '../../../shared/errors.ts';
import { first, type SqlSession, insertRow } from '../engine.ts';
import { bool, date, oneOf, type SqlRow, text, textOrNull } from '../rows.ts';
import { recordAudit } from '../audit.ts';
import { isTrusted } from '../lease.ts';

export const SUBSCRIPTION_COLUMNS =
  's.plan, s.next_plan, s.status, s.renews, s.provider, s.anchor_at, s.period_starts_at, s.period_ends_at';

/** Returns undefined for an account without a subscription: a left join then gives nulls. */
export function toSubscription(row: SqlRow): Subscription | undefined {
  if (row['plan'] === null) return undefined;
  return {
    plan: text(row, 'plan'),
    nextPlan: textOrNull(row, 'next_plan'),
    status: oneOf(row, 'status', ['active', 'inactive']),
    renews: bool(row, 'renews'),
    provider: oneOf(row, 'provider', ['manual', 'stripe', 'marketplace']),
    anchorAt: date(row, 'anchor_at'),
    period: { startsAt: date(row, 'period_starts_at'), endsAt: date(row, 'period_ends_at') },
  };
}

export async function writeSubscription(
  session: SqlSession,
  accountId: string,
  { plan, nextPlan, status, renews, provider, anchorAt, period }: Subscription,
): Promise<void> {
  await insertRow(
    session,
    'subscriptions',
    {
      accountId,
      plan,
      nextPlan,
      status,
      renews,
      provider,
      anchorAt,
      periodStartsAt: period.startsAt,
      periodEndsAt: period.endsAt,
    },
    `on conflict (account_id) do update set plan = excluded.plan, next_plan = excluded.next_plan, status = excluded.status, renews = excluded.renews, provider = excluded.provider, anchor_at = excluded.anchor_at, period_starts_at = excluded.period_starts_at, period_ends_at = excluded.period_ends_at`,
  );
}

export async function readSubscription(session: SqlSession, accountId: string): Promise<Subscription | undefined> {
  const row = await first(
    session,
    `select ${SUBSCRIPTION_COLUMNS} from subscriptions s where s.account_id = :accountId`,
    { accountId },
  );
  return row && toSubscription(row);
}

/**
 * Locks the account inside a transaction, before anything that depends on it, so that other changes of the account wait
 * for the commit. This is an update, because SQLite has no other way to lock a row.
 */
export async function lockAccount(session: SqlSession, accountId: string): Promise<void> {
  const found = await session.run('update accounts set state = state where id = :accountId', { accountId });
  if (found === 0) throw new AppError('not_found', `Account "${accountId}" not found.`);
}

/** Like `lockAccount`, for an account that may be deleted at this moment. Returns false when it was. */
export async function lockExisting(session: SqlSession, accountId: string): Promise<boolean> {
  const sql = 'update accounts set state = state where id = :accountId and deleted_at is null';
  return (await session.run(sql, { accountId })) === 1;
}

/** Returns the change that is due, unless only a wrong clock can explain it. */
async function trustedChange(session: SqlSession, subscription: Subscription, now: Date): Promise<SubscriptionChange> {
  const change = changeDue(subscription, now);
  if (!isUnusual(subscription, change, now) || (await isTrusted(session, now))) return change;
  return { kind: 'none' };
}

/**
 * Returns the subscription as of now, for lists. A change that is due isn't written. `trusted` is the result of
 * `isTrusted`.
 */
export function asOf(now: Date, trusted: boolean, stored: Subscription): Subscription {
  const change = changeDue(stored, now);
  return !trusted && isUnusual(stored, change, now) ? stored : applyChange(stored, change);
}

/**
 * Renews or ends the subscription of a locked account if that is due, and returns it. Must run inside a transaction.
 */
export async function bringUpToDate(
  session: SqlSession,
  accountId: string,
  now: Date,
): Promise<Subscription | undefined> {
  const before = await readSubscription(session, accountId);
  if (before === undefined) return undefined;
  const change = await trustedChange(session, before, now);
  if (change.kind === 'none') return before;
  const after = applyChange(before, change);
  await writeSubscription(session, accountId, after);
  await recordAudit(session, now.toISOString(), {
    actor: 'system',
    action: `subscription.${change.kind}`,
    accountId,
    subject: accountId,
    details: { plan: after.plan, periodEndsAt: after.period.endsAt },
  });
  return after;
}

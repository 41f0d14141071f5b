// Subscriptions between rows and values, and the turn of a period.

import { afterTurn, type Subscription, changeDue } from '../account/subscription.ts';
import { AppError } from '../errors.ts';
import type { SqlSession } from './engine.ts';
import { note } from './sql-audit.ts';

/** With a left join all of these may be null; `plan` tells. */
export interface SubscriptionRow {
  readonly plan: string | null;
  readonly nextPlan: string | null;
  readonly status: Subscription['status'];
  readonly renews: number;
  readonly provider: Subscription['provider'];
  readonly anchorAt: string;
  readonly periodStartsAt: string;
  readonly periodEndsAt: string;
}

export const SUBSCRIPTION_COLUMNS = `
  s.plan, s.next_plan as "nextPlan", s.status, s.renews, s.provider, s.anchor_at as "anchorAt",
  s.period_starts_at as "periodStartsAt", s.period_ends_at as "periodEndsAt"`;

export function toSubscription(row: SubscriptionRow): Subscription | undefined {
  if (row.plan === null) return undefined;
  return {
    plan: row.plan,
    nextPlan: row.nextPlan,
    status: row.status,
    renews: row.renews === 1,
    provider: row.provider,
    anchorAt: new Date(row.anchorAt),
    period: { startsAt: new Date(row.periodStartsAt), endsAt: new Date(row.periodEndsAt) },
  };
}

export async function writeSubscription(
  session: SqlSession,
  accountId: string,
  { plan, nextPlan, status, renews, provider, anchorAt, period }: Subscription,
): Promise<void> {
  await session.run(
    `insert into subscriptions
       (account_id, plan, next_plan, status, renews, provider, anchor_at, period_starts_at, period_ends_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (account_id) do update set
       plan = excluded.plan, next_plan = excluded.next_plan, status = excluded.status, renews = excluded.renews,
       provider = excluded.provider, anchor_at = excluded.anchor_at,
       period_starts_at = excluded.period_starts_at, period_ends_at = excluded.period_ends_at`,
    [
      accountId,
      plan,
      nextPlan,
      status,
      renews ? 1 : 0,
      provider,
      anchorAt.toISOString(),
      period.startsAt.toISOString(),
      period.endsAt.toISOString(),
    ],
  );
}

export async function readSubscription(session: SqlSession, accountId: string): Promise<Subscription | undefined> {
  const [row] = await session.all<SubscriptionRow>(
    `select ${SUBSCRIPTION_COLUMNS} from subscriptions s where s.account_id = ?`,
    [accountId],
  );
  return row && toSubscription(row);
}

/**
 * Inside a transaction, before anything that depends on the account: whoever else changes it waits until we are through.
 * An update, because SQLite knows no other way to lock a row, and needs none.
 */
export async function lockAccount(session: SqlSession, accountId: string): Promise<void> {
  const found = await session.run('update accounts set state = state where id = ?', [accountId]);
  if (found === 0) throw new AppError('not_found', `There is no account "${accountId}".`);
}

/** Inside a transaction, for a locked account: makes the turn of the period if it is due, and says what holds now. */
export async function bringUpToDate(
  session: SqlSession,
  accountId: string,
  now: Date,
): Promise<Subscription | undefined> {
  const before = await readSubscription(session, accountId);
  if (before === undefined) return undefined;
  const turn = changeDue(before, now);
  if (turn.kind === 'none') return before;
  const after = afterTurn(before, turn);
  await writeSubscription(session, accountId, after);
  await note(session, now.toISOString(), {
    actor: 'system',
    action: `subscription.${turn.kind}`,
    accountId,
    subject: accountId,
    details: { plan: after.plan, periodEndsAt: after.period.endsAt.toISOString() },
  });
  return after;
}

// A subscription, and its changes when its period ends or another plan is chosen.

import { anyPeriodHolding, type Period, periodHolding } from './period.ts';

/** Decides whether the subscription continues: the account alone, a payment provider, or a marketplace. */
type Provider = 'manual' | 'stripe' | 'marketplace';

export interface Subscription {
  readonly plan: string;
  /** The plan from the next period, if it differs. */
  readonly nextPlan: string | null;
  readonly status: 'active' | 'inactive';
  /** False once canceled. The subscription then ends with the period. */
  readonly renews: boolean;
  readonly provider: Provider;
  readonly anchorAt: Date;
  readonly period: Period;
}

export type SubscriptionChange =
  | { readonly kind: 'none' }
  | { readonly kind: 'renewed'; readonly plan: string; readonly period: Period }
  | { readonly kind: 'lapsed' }
  /** Reverts a change that was made under a clock that was ahead. */
  | { readonly kind: 'corrected'; readonly period: Period };

/** A payment provider reports a renewal once it has been paid, which may be some time after the end of the period. */
const PAYMENT_GRACE_MS = 72 * 3_600_000;

/** A period that starts later than this is in the future. The clocks of several servers may differ a little. */
const CLOCK_TOLERANCE_MS = 24 * 3_600_000;

/** Returns the change that is due at `now`. See `isUnusual` for changes that a wrong clock may have caused. */
export function changeDue(subscription: Subscription, now: Date): SubscriptionChange {
  const { status, renews, provider, period, anchorAt } = subscription;
  if (isAheadOf(subscription, now)) return { kind: 'corrected', period: anyPeriodHolding(anchorAt, now) };
  if (status === 'inactive' || now < period.endsAt) return { kind: 'none' };
  // The subscription was canceled in favor of a free plan. The provider reports the end of the paid period, as it does
  // for a renewal.
  const followed = provider === 'stripe' && subscription.nextPlan !== null;
  if (!renews && !followed) return { kind: 'lapsed' };
  if (provider === 'stripe') {
    return now.getTime() < period.endsAt.getTime() + PAYMENT_GRACE_MS ? { kind: 'none' } : { kind: 'lapsed' };
  }
  return { kind: 'renewed', plan: subscription.nextPlan ?? subscription.plan, period: periodHolding(anchorAt, now) };
}

/**
 * Returns true when the period starts in the future, or the subscription ended with a period that isn't over. The
 * payment provider itself determines its periods.
 */
function isAheadOf({ provider, status, period }: Subscription, now: Date): boolean {
  if (provider === 'stripe') return false;
  const reached = status === 'inactive' ? period.endsAt : period.startsAt;
  return now.getTime() < reached.getTime() - CLOCK_TOLERANCE_MS;
}

/**
 * Returns true when the change skips a whole period or goes back. Either much time has passed without a request, or a
 * clock is or was wrong; see `store/lease.ts`.
 */
export function isUnusual({ anchorAt, period }: Subscription, { kind }: SubscriptionChange, now: Date): boolean {
  if (kind === 'none' || kind === 'corrected') return kind === 'corrected';
  return now >= anyPeriodHolding(anchorAt, period.endsAt).endsAt;
}

export function applyChange(subscription: Subscription, change: SubscriptionChange): Subscription {
  if (change.kind === 'none') return subscription;
  if (change.kind === 'corrected') return { ...subscription, status: 'active', period: change.period };
  if (change.kind === 'lapsed') return { ...subscription, status: 'inactive' };
  return { ...subscription, plan: change.plan, nextPlan: null, period: change.period };
}

/**
 * Returns the subscription after a plan was chosen. `subscription` must be up to date, and its current period
 * continues.
 */
export function withPlan(
  subscription: Subscription | undefined,
  plan: string,
  when: 'now' | 'next period',
  now: Date,
): Subscription {
  if (subscription === undefined || (subscription.status === 'inactive' && now >= subscription.period.endsAt)) {
    const fresh = { plan, nextPlan: null, status: 'active', renews: true, provider: 'manual', anchorAt: now } as const;
    return { ...fresh, period: periodHolding(now, now) };
  }
  // A subscription that has ended is no longer paid for, so reviving it makes it a manual one.
  if (subscription.status === 'inactive') {
    return { ...subscription, plan, nextPlan: null, status: 'active', renews: true, provider: 'manual' };
  }
  const nextPlan = when === 'now' || subscription.plan === plan ? null : plan;
  return { ...subscription, plan: nextPlan === null ? plan : subscription.plan, nextPlan, renews: true };
}

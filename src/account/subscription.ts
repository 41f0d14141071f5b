// A subscription and what the calendar does to it.

import { type Period, periodHolding } from './period.ts';

/** Who decides whether it goes on: nobody but the account, a payment provider, or a marketplace. */
type Provider = 'manual' | 'stripe' | 'marketplace';

export interface Subscription {
  readonly plan: string;
  /** Taken when the period ends. */
  readonly nextPlan: string | null;
  readonly status: 'active' | 'inactive';
  /** False once cancelled: it lasts until the period ends. */
  readonly renews: boolean;
  readonly provider: Provider;
  readonly anchorAt: Date;
  readonly period: Period;
}

export type SubscriptionChange =
  | { readonly kind: 'none' }
  | { readonly kind: 'renewed'; readonly plan: string; readonly period: Period }
  | { readonly kind: 'lapsed' };

/** A payment provider tells us of a renewal when it has the money, which may be a while after the period's end. */
const PAYMENT_GRACE_MS = 72 * 3_600_000;

/** What has become due by `now`. A clock that went backwards changes nothing: a period once begun stays. */
export function changeDue(subscription: Subscription, now: Date): SubscriptionChange {
  const { status, renews, provider, period, anchorAt } = subscription;
  if (status === 'inactive' || now < period.endsAt) return { kind: 'none' };
  // Cancelled for a plan without a price: the provider says when the paid one is over, as it does for a renewal.
  const followed = provider === 'stripe' && subscription.nextPlan !== null;
  if (!renews && !followed) return { kind: 'lapsed' };
  if (provider === 'stripe') {
    return now.getTime() < period.endsAt.getTime() + PAYMENT_GRACE_MS ? { kind: 'none' } : { kind: 'lapsed' };
  }
  return { kind: 'renewed', plan: subscription.nextPlan ?? subscription.plan, period: periodHolding(anchorAt, now) };
}

/** The subscription once its turn was made. */
export function afterTurn(subscription: Subscription, turn: SubscriptionChange): Subscription {
  if (turn.kind === 'none') return subscription;
  if (turn.kind === 'lapsed') return { ...subscription, status: 'inactive' };
  return { ...subscription, plan: turn.plan, nextPlan: null, period: turn.period };
}

/** A plan chosen by the account or the operator. `subscription` is up to date; a period that runs goes on. */
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
  // Nobody pays for one that has ended, so whoever revives it is on their own.
  if (subscription.status === 'inactive') {
    return { ...subscription, plan, nextPlan: null, status: 'active', renews: true, provider: 'manual' };
  }
  const nextPlan = when === 'now' || subscription.plan === plan ? null : plan;
  return { ...subscription, plan: nextPlan === null ? plan : subscription.plan, nextPlan, renews: true };
}

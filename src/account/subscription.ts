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

export type Turn =
  | { readonly kind: 'none' }
  | { readonly kind: 'renewed'; readonly plan: string; readonly period: Period }
  | { readonly kind: 'lapsed' };

/** A payment provider tells us of a renewal when it has the money, which may be a while after the period's end. */
const PAYMENT_GRACE_MS = 72 * 3_600_000;

/** What has become due by `now`. A clock that went backwards changes nothing: a period once begun stays. */
export function turnOf(subscription: Subscription, now: Date): Turn {
  const { status, renews, provider, period, anchorAt } = subscription;
  if (status === 'inactive' || now < period.endsAt) return { kind: 'none' };
  if (!renews) return { kind: 'lapsed' };
  if (provider === 'stripe') {
    return now.getTime() < period.endsAt.getTime() + PAYMENT_GRACE_MS ? { kind: 'none' } : { kind: 'lapsed' };
  }
  return { kind: 'renewed', plan: subscription.nextPlan ?? subscription.plan, period: periodHolding(anchorAt, now) };
}

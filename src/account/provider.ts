// What a payment provider says about an account's subscription, and what becomes of ours by it.

import type { Period } from './period.ts';
import { type Subscription, withPlan } from './subscription.ts';

/** The provider's present state, whenever it is asked; not a change that would have to come in order. */
export interface ProviderSubscription {
  /** Its id there. */
  readonly subscription: string;
  /** Left out when it is over and its price no longer belongs to a plan. */
  readonly plan?: string | undefined;
  /** Taken when the period ends. */
  readonly nextPlan?: string | undefined;
  readonly status: 'active' | 'inactive';
  readonly renews: boolean;
  readonly period: Period;
  /** It is over, and this is the plan without a price that the account asked to go on with. */
  readonly followedBy?: string | undefined;
}

/**
 * `said` is undefined when the provider has nothing for the account any more. What is not paid for there (granted, free, a
 * marketplace's) is never ended by it.
 */
export function afterProvider(
  before: Subscription | undefined,
  said: ProviderSubscription | undefined,
  now: Date,
): Subscription | undefined {
  const paid = before?.provider === 'stripe' ? before : undefined;
  if (said?.status === 'active') {
    const { plan, nextPlan = null, status, renews, period } = said;
    if (plan === undefined) throw new Error('an active subscription without a plan');
    return { plan, nextPlan, status, renews, provider: 'stripe', anchorAt: paid?.anchorAt ?? period.startsAt, period };
  }
  if (paid === undefined) return before;
  if (said === undefined) return { ...paid, status: 'inactive' };
  const { plan = paid.plan, renews, period } = said;
  const ended: Subscription = { ...paid, plan, nextPlan: null, status: 'inactive', renews, period };
  return said.followedBy === undefined ? ended : withPlan(ended, said.followedBy, 'now', now);
}

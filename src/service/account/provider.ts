// Applies the state of a subscription at the payment provider to the subscription of the account.

import { must } from '../../shared/must.ts';
import type { Period } from './period.ts';
import { type Subscription, withPlan } from './subscription.ts';

/** The current state at the payment provider. A state, not a change, so the order of events doesn't matter. */
export interface ProviderSubscription {
  /** The id at the provider. */
  readonly subscription: string;
  /** Undefined when it has ended and its price no longer belongs to a plan. */
  readonly plan?: string | undefined;
  /** The plan from the next period. */
  readonly nextPlan?: string | undefined;
  readonly status: 'active' | 'inactive';
  readonly renews: boolean;
  readonly period: Period;
  /** Set when it has ended: the free plan that the account chose to continue with. */
  readonly followedBy?: string | undefined;
}

/**
 * Returns the subscription after the provider's state was applied. `providerState` is undefined when the provider has
 * nothing for the account any more. A subscription that isn't paid through the provider (granted, free or a
 * marketplace's) is never ended.
 */
export function applyProviderState(
  before: Subscription | undefined,
  providerState: ProviderSubscription | undefined,
  now: Date,
): Subscription | undefined {
  const paid = before?.provider === 'stripe' ? before : undefined;
  if (providerState?.status === 'active') {
    const { nextPlan = null, status, renews, period } = providerState;
    const plan = must(providerState.plan, 'the plan of an active subscription');
    return { plan, nextPlan, status, renews, provider: 'stripe', anchorAt: paid?.anchorAt ?? period.startsAt, period };
  }
  if (before === undefined && providerState?.followedBy !== undefined) {
    // The subscription was paid for, but no event arrived before the account chose the free plan.
    return withPlan(undefined, providerState.followedBy, 'now', now);
  }
  if (paid === undefined) return before;
  if (providerState === undefined) return { ...paid, status: 'inactive' };
  const { plan = paid.plan, renews, period, followedBy } = providerState;
  const ended: Subscription = { ...paid, plan, nextPlan: null, status: 'inactive', renews, period };
  return followedBy === undefined ? ended : withPlan(ended, followedBy, 'now', now);
}

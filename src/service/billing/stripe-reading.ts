// Translates a customer's subscriptions at Stripe to those of the account. All functions are pure.

import type { Stripe } from 'stripe';
import type { Plan, PlanBook } from '../account/plans.ts';
import type { ProviderSubscription } from '../account/provider.ts';

/**
 * Metadata of a subscription that ends: the free plan that was chosen instead. It is stored at Stripe, so it can't get
 * lost.
 */
export const FOLLOWED_BY = 'storybar_followed_by';
/** Metadata of a customer and its subscriptions: the account they belong to. */
export const ACCOUNT = 'storybar_account';

export type CustomerState =
  /** The customer never subscribed, or never made the first payment. */
  | { readonly kind: 'none' }
  | {
      readonly kind: 'subscription';
      readonly providerState: ProviderSubscription;
      /** Other subscriptions that are paid for, which is never intended. */
      readonly others: readonly string[];
    }
  /** A subscription is paid for, but no plan has its price. */
  | { readonly kind: 'unknown price'; readonly subscription: string; readonly prices: readonly string[] };

/** The newest paid subscription counts, or else the newest one. A subscription that never started doesn't count. */
export function readSubscriptions(all: readonly Stripe.Subscription[], plans: PlanBook): CustomerState {
  const started = startedSubscriptions(all);
  const active = started.filter(isPaidFor);
  const counting = active.find((subscription) => planItem(subscription, plans) !== undefined);
  if (counting !== undefined) {
    const others = active.filter(({ id }) => id !== counting.id).map(({ id }) => id);
    return { kind: 'subscription', providerState: read(counting, plans), others };
  }
  const [newest] = active;
  if (newest !== undefined) {
    return { kind: 'unknown price', subscription: newest.id, prices: newest.items.data.map(({ price }) => price.id) };
  }
  const [last] = started;
  if (last === undefined) return { kind: 'none' };
  return { kind: 'subscription', providerState: read(last, plans), others: [] };
}

/** Returns subscriptions newest first. Those of the same second stay in Stripe's order. */
export function startedSubscriptions(all: readonly Stripe.Subscription[]): Stripe.Subscription[] {
  return all
    .filter(({ status }) => status !== 'incomplete' && status !== 'incomplete_expired')
    .toSorted((a, b) => b.created - a.created);
}

export function isPaidFor({ status }: Stripe.Subscription): boolean {
  return status === 'active' || status === 'trialing';
}

export interface PlanItem {
  readonly plan: Plan;
  readonly item: Stripe.SubscriptionItem;
}

/** Returns the item with the highest plan, because a subscription may contain other things. */
export function planItem({ items }: Stripe.Subscription, plans: PlanBook): PlanItem | undefined {
  return plans.plans
    .toReversed()
    .map((plan) => ({ plan, item: items.data.find(({ price }) => price.id === plan.stripePrice) }))
    .find((pair): pair is PlanItem => pair.item !== undefined);
}

function read(subscription: Stripe.Subscription, plans: PlanBook): ProviderSubscription {
  const bought = planItem(subscription, plans);
  // At Stripe, periods belong to items, not to subscriptions.
  const item = bought?.item ?? subscription.items.data[0];
  const startsAt = item?.current_period_start ?? subscription.start_date;
  const endsAt = item?.current_period_end ?? subscription.ended_at ?? subscription.start_date;
  const ends = subscription.cancel_at_period_end || (subscription.cancel_at ?? Infinity) <= endsAt;
  const follower = followerOf(subscription, plans);
  return {
    subscription: subscription.id,
    plan: bought?.plan.name,
    nextPlan: ends ? follower : scheduledPlan(subscription, plans, bought?.plan),
    status: isPaidFor(subscription) ? 'active' : 'inactive',
    renews: !ends && subscription.status !== 'canceled',
    period: { startsAt: new Date(startsAt * 1_000), endsAt: new Date(endsAt * 1_000) },
    followedBy: subscription.status === 'canceled' ? follower : undefined,
  };
}

/** Only a free plan is accepted, whatever the metadata says. */
function followerOf({ metadata }: Stripe.Subscription, plans: PlanBook): string | undefined {
  const name = metadata[FOLLOWED_BY];
  const plan = name === undefined ? undefined : plans.find(name);
  return plan?.monthlyPriceCents === 0 ? plan.name : undefined;
}

/** A downgrade for the next period is the next phase of a schedule. */
function scheduledPlan({ schedule }: Stripe.Subscription, plans: PlanBook, now: Plan | undefined): string | undefined {
  if (schedule === null || typeof schedule === 'string') return undefined;
  const currentStart = schedule.current_phase?.start_date ?? 0;
  const next = schedule.phases.find(({ start_date }) => start_date > currentStart);
  const prices = next?.items.map(({ price }) => (typeof price === 'string' ? price : price.id)) ?? [];
  const plan = plans.plans.findLast(({ stripePrice }) => stripePrice !== undefined && prices.includes(stripePrice));
  return plan === undefined || plan.name === now?.name ? undefined : plan.name;
}

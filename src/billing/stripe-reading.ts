// What a customer's subscriptions at Stripe mean for us. Pure: no call, no store.

import type { Stripe } from 'stripe';
import type { Plan, PlanBook } from '../account/plans.ts';
import type { ProviderSubscription } from '../account/provider.ts';

/** On a subscription that ends: the plan without a price that was chosen instead. Kept there, so that it cannot be lost. */
export const FOLLOWED_BY = 'storybar_followed_by';
/** On a customer and its subscriptions: whose they are. */
export const ACCOUNT = 'storybar_account';

export type Reading =
  /** Never subscribed, or never paid for the first time. */
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'said';
      readonly said: ProviderSubscription;
      /** More than one is being paid for, which nobody wants. */
      readonly others: readonly string[];
    }
  /** Paid for, but no plan has the price. */
  | { readonly kind: 'unknown price'; readonly subscription: string; readonly prices: readonly string[] };

/** The newest that is paid for counts; if there is none, the newest. One that never began does not count at all. */
export function readSubscriptions(all: readonly Stripe.Subscription[], plans: PlanBook): Reading {
  const begun = begunOnes(all);
  const active = begun.filter(isPaidFor);
  const counting = active.find((subscription) => planItem(subscription, plans) !== undefined);
  if (counting !== undefined) {
    const others = active.filter(({ id }) => id !== counting.id).map(({ id }) => id);
    return { kind: 'said', said: read(counting, plans), others };
  }
  const [newest] = active;
  if (newest !== undefined) {
    return { kind: 'unknown price', subscription: newest.id, prices: newest.items.data.map(({ price }) => price.id) };
  }
  const [last] = begun;
  return last === undefined ? { kind: 'nothing' } : { kind: 'said', said: read(last, plans), others: [] };
}

/** Newest first. Within a second, Stripe's own order holds. */
export function begunOnes(all: readonly Stripe.Subscription[]): Stripe.Subscription[] {
  return all
    .filter(({ status }) => status !== 'incomplete' && status !== 'incomplete_expired')
    .toSorted((a, b) => b.created - a.created);
}

export function isPaidFor({ status }: Stripe.Subscription): boolean {
  return status === 'active' || status === 'trialing';
}

interface PlanItem {
  readonly plan: Plan;
  readonly item: Stripe.SubscriptionItem;
}

/** There may be other things on the bill; the highest plan is what was bought. */
export function planItem({ items }: Stripe.Subscription, plans: PlanBook): PlanItem | undefined {
  return plans.plans
    .toReversed()
    .map((plan) => ({ plan, item: items.data.find(({ price }) => price.id === plan.stripePrice) }))
    .find((pair): pair is PlanItem => pair.item !== undefined);
}

function read(subscription: Stripe.Subscription, plans: PlanBook): ProviderSubscription {
  const bought = planItem(subscription, plans);
  // Periods belong to items: a subscription itself has none any more.
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

/** Only ever a plan that costs nothing, whatever is written there. */
function followerOf({ metadata }: Stripe.Subscription, plans: PlanBook): string | undefined {
  const plan = plans.find(metadata[FOLLOWED_BY] ?? '');
  return plan?.monthlyPriceCents === 0 ? plan.name : undefined;
}

/** A downgrade waits in a schedule. */
function scheduledPlan({ schedule }: Stripe.Subscription, plans: PlanBook, now: Plan | undefined): string | undefined {
  if (schedule === null || typeof schedule === 'string') return undefined;
  const begins = schedule.current_phase?.start_date ?? 0;
  const next = schedule.phases.find(({ start_date }) => start_date > begins);
  const prices = next?.items.map(({ price }) => (typeof price === 'string' ? price : price.id)) ?? [];
  const plan = plans.plans.findLast(({ stripePrice }) => stripePrice !== undefined && prices.includes(stripePrice));
  return plan === undefined || plan.name === now?.name ? undefined : plan.name;
}

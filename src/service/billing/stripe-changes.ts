// Changes of a subscription at Stripe. Stripe accepts none of them for a subscription with a schedule, so the schedule is
// released first.

import type { Stripe } from 'stripe';
import { FOLLOWED_BY } from './stripe-reading.ts';

export class StripeChanges {
  readonly #stripe: Stripe;

  constructor(stripe: Stripe) {
    this.#stripe = stripe;
  }

  /**
   * Upgrades immediately and charges the difference in price, calculated as of `asOf` or else now. If the payment
   * fails, nothing changes yet and the URL of the invoice is returned. Stripe makes the change once it is paid.
   */
  async upgrade(
    subscription: Stripe.Subscription,
    item: Stripe.SubscriptionItem,
    price: string,
    asOf?: Date,
  ): Promise<string | undefined> {
    await this.#release(subscription);
    const changed = await this.#stripe.subscriptions.update(subscription.id, {
      items: [{ id: item.id, price }],
      proration_behavior: 'always_invoice',
      ...(asOf && { proration_date: Math.floor(asOf.getTime() / 1_000) }),
      payment_behavior: 'pending_if_incomplete',
      expand: ['latest_invoice'],
    });
    if (changed.pending_update !== null) {
      const invoice = changed.latest_invoice;
      const url = invoice === null || typeof invoice === 'string' ? undefined : invoice.hosted_invoice_url;
      if (!url) throw new Error(`the open invoice of subscription ${subscription.id} has no page`);
      return url;
    }
    // Renewal comes last, because a cancellation must stay in effect when the payment fails.
    await this.#renew(changed);
    return undefined;
  }

  /** Downgrades from the next period. Nothing is refunded. */
  async downgrade(subscription: Stripe.Subscription, item: Stripe.SubscriptionItem, price: string): Promise<void> {
    await this.keep(subscription);
    const schedule = await this.#stripe.subscriptionSchedules.create({ from_subscription: subscription.id });
    const now = schedule.phases.at(0);
    if (now === undefined) throw new Error(`schedule ${schedule.id} has no phase`);
    const phase = (change: (price: string) => string) => ({
      items: now.items.map(({ price: own, quantity }) => ({
        price: change(idOf(own)),
        ...(quantity !== undefined && { quantity }),
      })),
      ...(now.discounts.length > 0 && { discounts: now.discounts.map(discountOf) }),
    });
    await this.#stripe.subscriptionSchedules.update(schedule.id, {
      end_behavior: 'release',
      proration_behavior: 'none',
      phases: [
        {
          ...phase((own) => own),
          start_date: now.start_date,
          end_date: item.current_period_end,
          ...(now.trial_end !== null && { trial_end: now.trial_end }),
        },
        {
          ...phase((own) => (own === item.price.id ? price : own)),
          duration: { interval: 'month', interval_count: 1 },
          proration_behavior: 'none',
        },
      ],
    });
  }

  /** Ends it with the paid period. `followedBy` is the free plan to continue with, or empty. */
  async endWithPeriod(subscription: Stripe.Subscription, followedBy: string): Promise<void> {
    await this.#release(subscription);
    await this.#stripe.subscriptions.update(subscription.id, {
      cancel_at_period_end: true,
      metadata: { [FOLLOWED_BY]: followedBy },
    });
  }

  /** Ends a subscription with an unpaid invoice, which has no paid period to wait for. */
  async endNow(subscription: Stripe.Subscription, followedBy: string): Promise<void> {
    if (followedBy !== '') {
      await this.#stripe.subscriptions.update(subscription.id, { metadata: { [FOLLOWED_BY]: followedBy } });
    }
    await this.#stripe.subscriptions.cancel(subscription.id);
  }

  /** Reverts a cancellation or a downgrade that was scheduled for the end of the period. */
  async keep(subscription: Stripe.Subscription): Promise<void> {
    await this.#release(subscription);
    await this.#renew(subscription);
  }

  async #renew({ id, cancel_at_period_end, cancel_at, metadata }: Stripe.Subscription): Promise<void> {
    const clear = { metadata: { [FOLLOWED_BY]: '' } };
    // With `cancel_at_period_end` Stripe also sets `cancel_at`, and an update may contain only one of the two.
    if (cancel_at_period_end) await this.#stripe.subscriptions.update(id, { cancel_at_period_end: false, ...clear });
    else if (cancel_at !== null) await this.#stripe.subscriptions.update(id, { cancel_at: '', ...clear });
    else if (metadata[FOLLOWED_BY] !== undefined) await this.#stripe.subscriptions.update(id, clear);
  }

  async #release({ schedule }: Stripe.Subscription): Promise<void> {
    if (schedule !== null) await this.#stripe.subscriptionSchedules.release(idOf(schedule));
  }
}

function idOf(value: string | { readonly id: string }): string {
  return typeof value === 'string' ? value : value.id;
}

function discountOf({ discount, coupon }: Stripe.SubscriptionSchedule.Phase.Discount): {
  discount?: string;
  coupon?: string;
} {
  if (discount !== null) return { discount: idOf(discount) };
  return coupon === null ? {} : { coupon: idOf(coupon) };
}

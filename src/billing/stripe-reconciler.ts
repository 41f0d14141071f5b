// Compares all customers and prices with Stripe, in case events were lost or a price was typed wrongly.

import type { Stripe } from 'stripe';
import type { Plan, PlanBook } from '../account/plans.ts';
import type { CustomerLink, Store } from '../store/store.ts';
import type { BillingLog, Reconciliation } from './billing.ts';
import { describe } from './stripe-client.ts';
import type { StripeSync } from './stripe-sync.ts';

/** One after the other, so that it never comes near Stripe's limit of calls. The next run goes on where this one stopped. */
const CUSTOMERS_PER_RUN = 5_000;
const PAGE = 100;
/** Stripe does not answer: the rest would fail as well. */
const FAILURES_IN_A_ROW = 5;
/** Stripe sends an event again for days, and by hand for a month. */
const REMEMBER_EVENTS_MS = 60 * 24 * 3_600_000;

export interface ReconcilerParts {
  readonly stripe: Stripe;
  readonly store: Pick<Store, 'accounts' | 'payments'>;
  readonly plans: PlanBook;
  readonly log: BillingLog;
  readonly sync: StripeSync;
}

export class StripeReconciler {
  readonly #parts: ReconcilerParts;
  /** The account the last run ended with; empty when it came to the end. */
  #after = '';
  #pricesChecked = false;

  constructor(parts: ReconcilerParts) {
    this.#parts = parts;
  }

  async run(signal: AbortSignal): Promise<Reconciliation> {
    const { store } = this.#parts;
    if (!this.#pricesChecked) await this.#checkPrices();
    let [checked, failed, inARow] = [0, 0, 0];
    while (checked < CUSTOMERS_PER_RUN) {
      const links = await store.accounts.listLinks(this.#after, PAGE);
      for (const link of links) {
        if (signal.aborted || inARow === FAILURES_IN_A_ROW) return { checked, failed };
        const ok = await this.#check(link);
        checked += 1;
        failed += ok ? 0 : 1;
        inARow = ok ? 0 : inARow + 1;
        this.#after = link.accountId;
      }
      if (links.length < PAGE) {
        this.#after = '';
        break;
      }
    }
    await store.payments.forgetBefore(new Date(Date.now() - REMEMBER_EVENTS_MS));
    return { checked, failed };
  }

  async #check({ accountId, customer }: CustomerLink): Promise<boolean> {
    try {
      await this.#parts.sync.sync(customer);
      return true;
    } catch (error) {
      this.#parts.log.error({ accountId, reason: describe(error) }, 'an account could not be compared with Stripe');
      return false;
    }
  }

  /** What people pay at Stripe should be what our pages tell them. Said once, at the start. */
  async #checkPrices(): Promise<void> {
    const { stripe, plans, log } = this.#parts;
    this.#pricesChecked = true;
    for (const plan of plans.plans) {
      if (plan.stripePrice === undefined) continue;
      try {
        const faults = priceFaults(plan, await stripe.prices.retrieve(plan.stripePrice), plans.currency);
        if (faults.length > 0) log.error({ plan: plan.name, faults }, 'the price at Stripe is not that of the plan');
      } catch (error) {
        log.error({ plan: plan.name, reason: describe(error) }, 'the price of a plan could not be read at Stripe');
      }
    }
  }
}

function priceFaults(plan: Plan, price: Stripe.Price, currency: string): string[] {
  const { unit_amount: amount, recurring } = price;
  const monthly = recurring?.interval === 'month' && recurring.interval_count === 1;
  return [
    ...(price.active ? [] : ['it is archived']),
    ...(monthly ? [] : ['it is not paid monthly']),
    ...(price.currency.toUpperCase() === currency ? [] : [`its currency is ${price.currency.toUpperCase()}`]),
    ...(amount === plan.monthlyPriceCents ? [] : [`it is ${amount}, the plan says ${plan.monthlyPriceCents}`]),
  ];
}

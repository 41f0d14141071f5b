// Compares all customers and prices with Stripe, in case events were lost or a price was mistyped.

import type { Stripe } from 'stripe';
import type { PlanBook } from '../account/plans.ts';
import type { CustomerLink } from '../store/accounts/accounts.ts';
import type { Store } from '../store/store.ts';
import type { BillingLog, Reconciliation } from './billing.ts';
import { describeError } from './stripe-client.ts';
import { wrongPrices } from './stripe-prices.ts';
import type { StripeSync } from './stripe-sync.ts';

/**
 * Customers are compared one after the other, to stay far below Stripe's rate limit. The next run continues where this
 * one stopped.
 */
const CUSTOMERS_PER_RUN = 5_000;
const PAGE_SIZE = 100;
/** After this many failures, Stripe is probably unavailable, and the rest would fail as well. */
const MAX_CONSECUTIVE_FAILURES = 5;
/** Stripe repeats an event for days, and on request for a month. */
const KEEP_EVENTS_MS = 60 * 24 * 3_600_000;

export interface ReconcilerDependencies {
  readonly stripe: Stripe;
  readonly store: Pick<Store, 'accounts' | 'payments'>;
  readonly plans: PlanBook;
  readonly log: BillingLog;
  readonly sync: StripeSync;
}

export class StripeReconciler {
  readonly #dependencies: ReconcilerDependencies;
  /** The last account of the previous run. Empty when that run reached the end. */
  #lastAccountId = '';
  #pricesChecked = false;

  constructor(dependencies: ReconcilerDependencies) {
    this.#dependencies = dependencies;
  }

  async run(signal: AbortSignal): Promise<Reconciliation> {
    const { store } = this.#dependencies;
    if (!this.#pricesChecked) await this.#checkPrices();
    let [checked, failed, consecutive] = [0, 0, 0];
    while (checked < CUSTOMERS_PER_RUN) {
      const links = await store.accounts.listLinks(this.#lastAccountId, PAGE_SIZE);
      for (const link of links) {
        if (signal.aborted || consecutive === MAX_CONSECUTIVE_FAILURES) return { checked, failed };
        const ok = await this.#check(link);
        checked += 1;
        failed += ok ? 0 : 1;
        consecutive = ok ? 0 : consecutive + 1;
        this.#lastAccountId = link.accountId;
      }
      if (links.length < PAGE_SIZE) {
        this.#lastAccountId = '';
        break;
      }
    }
    await store.payments.deleteBefore(new Date(Date.now() - KEEP_EVENTS_MS));
    return { checked, failed };
  }

  async #check({ accountId, customer }: CustomerLink): Promise<boolean> {
    try {
      await this.#dependencies.sync.sync(customer);
      return true;
    } catch (error) {
      this.#dependencies.log.error({ accountId, reason: describeError(error) }, 'account not compared with Stripe');
      return false;
    }
  }

  /** Checks once after startup that the prices at Stripe are those on the pricing page. */
  async #checkPrices(): Promise<void> {
    const { stripe, plans, log } = this.#dependencies;
    this.#pricesChecked = true;
    for (const { plan, faults, reason } of await wrongPrices(stripe, plans)) {
      if (reason !== undefined) log.error({ plan, reason }, 'price of a plan not found at Stripe');
      else log.error({ plan, faults }, 'price at Stripe differs from the plan');
    }
  }
}

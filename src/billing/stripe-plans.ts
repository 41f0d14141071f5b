// Choosing, cancelling and resuming a plan that is paid for at Stripe. Each begins with what Stripe has now, not with what
// the store remembers, and ends with reading back what came of it.

import type { Stripe } from 'stripe';
import type { Plan, PlanBook } from '../account/plans.ts';
import { AppError } from '../errors.ts';
import type { AccountSummary, Store } from '../store/store.ts';
import type { PlanChoice, ReturnPages } from './billing.ts';
import { requireAccountForPlan } from './choosing.ts';
import { StripeChanges } from './stripe-changes.ts';
import type { StripeCheckout } from './stripe-checkout.ts';
import { begunOnes, isPaidFor, planItem } from './stripe-reading.ts';
import type { StripeSync } from './stripe-sync.ts';

export interface PlansParts {
  readonly stripe: Stripe;
  readonly store: Pick<Store, 'accounts'>;
  readonly plans: PlanBook;
  readonly sync: StripeSync;
  readonly checkout: StripeCheckout;
}

/** A subscription at Stripe that goes on, paid or owed. */
interface Paying {
  readonly customer: string;
  readonly subscription: Stripe.Subscription;
}

const NOW: PlanChoice = { kind: 'granted', when: 'now' };
const LATER: PlanChoice = { kind: 'granted', when: 'next period' };

export class StripePlans {
  readonly #parts: PlansParts;
  readonly #changes: StripeChanges;

  constructor(parts: PlansParts) {
    this.#parts = parts;
    this.#changes = new StripeChanges(parts.stripe);
  }

  async choose(accountId: string, name: string, pages: ReturnPages): Promise<PlanChoice> {
    const { store, plans } = this.#parts;
    const account = await requireAccountForPlan(store, plans, accountId, name);
    const plan = plans.get(name);
    return plan.monthlyPriceCents === 0
      ? await this.#chooseFree(account, plan)
      : await this.#choosePaid(account, plan, pages);
  }

  async cancel(accountId: string): Promise<void> {
    const paying = await this.#paying(accountId);
    if (paying === undefined) await this.#setRenews(accountId, false);
    else await this.#end(paying, '');
  }

  async resume(accountId: string): Promise<void> {
    const paying = await this.#paying(accountId);
    if (paying === undefined) {
      await this.#setRenews(accountId, true);
      return;
    }
    await this.#changes.keep(paying.subscription);
    await this.#parts.sync.sync(paying.customer);
  }

  /** Needs no payment. What is paid for lasts to its end and the free plan follows; what is only owed ends now. */
  async #chooseFree({ id, subscription }: AccountSummary, plan: Plan): Promise<PlanChoice> {
    const { store, plans } = this.#parts;
    const paying = await this.#paying(id);
    if (paying !== undefined) return await this.#end(paying, plan.name);
    const granted = subscription?.status === 'active' ? subscription : undefined;
    if (granted?.provider === 'stripe') await this.#settleEnded(id);
    const lower = granted?.provider === 'manual' && granted.plan !== plan.name;
    const choice = lower && !plans.isUpgrade(granted.plan, plan.name) ? LATER : NOW;
    await store.accounts.subscribe(id, plan.name, choice === LATER ? 'next period' : 'now', `account:${id}`);
    return choice;
  }

  async #choosePaid(account: AccountSummary, plan: Plan, pages: ReturnPages): Promise<PlanChoice> {
    const { store, checkout } = this.#parts;
    const { id, subscription } = account;
    const price = plan.stripePrice;
    if (price === undefined) throw new Error(`the plan "${plan.name}" has no price at Stripe`);
    if (subscription?.provider === 'manual' && subscription.status === 'active' && subscription.plan === plan.name) {
      // Granted by the operator: there is nothing to pay, only a cancellation to take back.
      await store.accounts.subscribe(id, plan.name, 'now', `account:${id}`);
      return NOW;
    }
    const customer = await checkout.customerFor(account);
    await checkout.closeUnfinished(customer);
    const paying = await this.#paying(id);
    if (paying === undefined) return { kind: 'redirect', url: await checkout.open(id, customer, price, pages) };
    // Money is owed: that is settled first, in the portal.
    if (!isPaidFor(paying.subscription)) {
      return { kind: 'redirect', url: await checkout.portal(customer, pages.successUrl) };
    }
    const choice = await this.#change(paying.subscription, plan, price);
    await this.#parts.sync.sync(customer);
    return choice;
  }

  async #change(subscription: Stripe.Subscription, plan: Plan, price: string): Promise<PlanChoice> {
    const { plans } = this.#parts;
    const bought = planItem(subscription, plans);
    if (bought === undefined) throw new Error(`subscription ${subscription.id} has a price that no plan has`);
    if (bought.plan.name === plan.name) {
      await this.#changes.keep(subscription);
      return NOW;
    }
    if (!plans.isUpgrade(bought.plan.name, plan.name)) {
      await this.#changes.downgrade(subscription, bought.item, price);
      return LATER;
    }
    const url = await this.#changes.upgrade(subscription, bought.item, price);
    return url === undefined ? NOW : { kind: 'redirect', url };
  }

  async #end({ customer, subscription }: Paying, followedBy: string): Promise<PlanChoice> {
    const paid = isPaidFor(subscription);
    if (paid) await this.#changes.endWithPeriod(subscription, followedBy);
    else await this.#changes.endNow(subscription, followedBy);
    await this.#parts.sync.sync(customer);
    return paid ? LATER : NOW;
  }

  async #paying(accountId: string): Promise<Paying | undefined> {
    const { store, sync, plans } = this.#parts;
    const customer = await store.accounts.customerOf(accountId);
    if (customer === undefined) return undefined;
    const going = begunOnes(await sync.subscriptionsOf(customer)).filter(({ status }) => status !== 'canceled');
    const paid = going.filter(isPaidFor);
    const subscription = paid.find((item) => planItem(item, plans) !== undefined) ?? paid[0] ?? going[0];
    return subscription && { customer, subscription };
  }

  /** The store still holds for paid what Stripe has ended. */
  async #settleEnded(accountId: string): Promise<void> {
    const { store, sync } = this.#parts;
    const customer = await store.accounts.customerOf(accountId);
    if (customer !== undefined) await sync.sync(customer);
    const subscription = (await store.accounts.find(accountId))?.subscription;
    if (subscription?.provider !== 'stripe' || subscription.status === 'inactive') return;
    throw new Error(`account ${accountId} is paid for by a customer whom Stripe does not know`);
  }

  async #setRenews(accountId: string, renews: boolean): Promise<void> {
    const { accounts } = this.#parts.store;
    const subscription = (await accounts.find(accountId))?.subscription;
    // Only Stripe can end or bring back what is paid for there.
    const ours = subscription?.provider === 'manual';
    if (ours && (await accounts.setRenews(accountId, renews, `account:${accountId}`))) return;
    throw new AppError('subscription_inactive', 'This account has no active subscription.');
  }
}

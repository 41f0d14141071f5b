// Choosing, canceling and resuming a plan that is paid through Stripe. Each starts from the current state at Stripe, not from
// the store, and ends by reading the new state back.

import type { Stripe } from 'stripe';
import type { Plan, PlanBook } from '../account/plans.ts';
import { AppError } from '../../shared/errors.ts';
import type { AccountSummary } from '../store/accounts/accounts.ts';
import type { Store } from '../store/store.ts';
import type { ConfirmedCharge, PlanChoice, PlanPreview, ReturnPages } from './billing.ts';
import { requireAccountForPlan } from './plan-change.ts';
import { StripeChanges } from './stripe-changes.ts';
import type { StripeCheckout } from './stripe-checkout.ts';
import type { StripeInvoices } from './stripe-invoices.ts';
import { startedSubscriptions, isPaidFor, planItem } from './stripe-reading.ts';
import type { StripeSync } from './stripe-sync.ts';

export interface StripePlansDependencies {
  readonly stripe: Stripe;
  readonly store: Pick<Store, 'accounts'>;
  readonly plans: PlanBook;
  readonly sync: StripeSync;
  readonly checkout: StripeCheckout;
  readonly invoices: StripeInvoices;
}

/** A subscription at Stripe that hasn't ended, whether it is paid or an invoice is open. */
interface CurrentSubscription {
  readonly customer: string;
  readonly subscription: Stripe.Subscription;
}

const NOW: PlanChoice = { kind: 'granted', when: 'now' };
const NEXT_PERIOD: PlanChoice = { kind: 'granted', when: 'next period' };
const CONFIRM_AGAIN: PlanChoice = { kind: 'confirm again' };

export class StripePlans {
  readonly #dependencies: StripePlansDependencies;
  readonly #changes: StripeChanges;

  constructor(dependencies: StripePlansDependencies) {
    this.#dependencies = dependencies;
    this.#changes = new StripeChanges(dependencies.stripe);
  }

  async choose(accountId: string, name: string, pages: ReturnPages, confirmed?: ConfirmedCharge): Promise<PlanChoice> {
    const { store, plans } = this.#dependencies;
    const account = await requireAccountForPlan(store, plans, accountId, name);
    const plan = plans.get(name);
    return plan.monthlyPriceCents === 0
      ? await this.#chooseFree(account, plan)
      : await this.#choosePaid(account, plan, pages, confirmed);
  }

  /** Returns what `choose` would do, without changing anything. */
  async preview(accountId: string, name: string): Promise<PlanPreview> {
    const { store, plans, invoices } = this.#dependencies;
    const { subscription } = await requireAccountForPlan(store, plans, accountId, name);
    const plan = plans.get(name);
    const current = await this.#currentSubscription(accountId);
    const granted = subscription?.status === 'active' && subscription.provider === 'manual' ? subscription : undefined;
    if (current === undefined) {
      if (plan.monthlyPriceCents > 0 && granted?.plan !== name) return { kind: 'checkout' };
      const isLower = granted !== undefined && granted.plan !== name && !plans.isUpgrade(granted.plan, name);
      return isLower ? { kind: 'later', at: granted.period.endsAt } : { kind: 'now' };
    }
    const isPaid = isPaidFor(current.subscription);
    const bought = planItem(current.subscription, plans);
    if (plan.monthlyPriceCents === 0) {
      return isPaid ? { kind: 'later', at: periodEnd(bought?.item, current.subscription) } : { kind: 'now' };
    }
    if (!isPaid) return { kind: 'unpaid invoice' };
    if (bought === undefined) throw new Error(`no plan has the price of subscription ${current.subscription.id}`);
    if (bought.plan.name === name) return { kind: 'now' };
    if (!plans.isUpgrade(bought.plan.name, name)) {
      return { kind: 'later', at: periodEnd(bought.item, current.subscription) };
    }
    return await invoices.previewUpgrade(current.subscription, bought, priceIdOf(plan));
  }

  /** Ends every subscription now, including unfinished ones. Repeating it does no harm. */
  async endNow(accountId: string): Promise<void> {
    const { store, sync, checkout, stripe } = this.#dependencies;
    const customer = await store.accounts.customerOf(accountId);
    if (customer === undefined) return;
    await checkout.cancelUnfinished(customer);
    for (const { id, status } of startedSubscriptions(await sync.subscriptionsOf(customer))) {
      if (status !== 'canceled') await stripe.subscriptions.cancel(id);
    }
  }

  async cancel(accountId: string): Promise<void> {
    const current = await this.#currentSubscription(accountId);
    if (current === undefined) await this.#setRenews(accountId, false);
    else await this.#end(current, '');
  }

  async resume(accountId: string): Promise<void> {
    const current = await this.#currentSubscription(accountId);
    if (current === undefined) {
      await this.#setRenews(accountId, true);
      return;
    }
    await this.#changes.keep(current.subscription);
    await this.#dependencies.sync.sync(current.customer);
  }

  /** A paid period continues to its end and the free plan follows. A subscription with an unpaid invoice ends now. */
  async #chooseFree({ id, subscription }: AccountSummary, plan: Plan): Promise<PlanChoice> {
    const { store, plans } = this.#dependencies;
    const current = await this.#currentSubscription(id);
    if (current !== undefined) return await this.#end(current, plan.name);
    const granted = subscription?.status === 'active' ? subscription : undefined;
    if (granted?.provider === 'stripe') await this.#settleEnded(id);
    const lower = granted?.provider === 'manual' && granted.plan !== plan.name;
    const choice = lower && !plans.isUpgrade(granted.plan, plan.name) ? NEXT_PERIOD : NOW;
    await store.accounts.subscribe(id, plan.name, choice === NEXT_PERIOD ? 'next period' : 'now', `account:${id}`);
    return choice;
  }

  async #choosePaid(
    account: AccountSummary,
    plan: Plan,
    pages: ReturnPages,
    confirmed: ConfirmedCharge | undefined,
  ): Promise<PlanChoice> {
    const { store, checkout } = this.#dependencies;
    const { id, subscription } = account;
    const price = priceIdOf(plan);
    if (subscription?.provider === 'manual' && subscription.status === 'active' && subscription.plan === plan.name) {
      // The operator granted the plan, so there is nothing to pay. This only reverts a cancellation.
      await store.accounts.subscribe(id, plan.name, 'now', `account:${id}`);
      return NOW;
    }
    const customer = await checkout.customerFor(account);
    await checkout.cancelUnfinished(customer);
    const current = await this.#currentSubscription(id);
    if (current === undefined) return { kind: 'redirect', url: await checkout.open(id, customer, price, pages) };
    // An unpaid invoice must be settled first, in the portal.
    if (!isPaidFor(current.subscription)) {
      return { kind: 'redirect', url: await checkout.portal(customer, pages.successUrl) };
    }
    const choice = await this.#change(current.subscription, plan, price, confirmed);
    await this.#dependencies.sync.sync(customer);
    return choice;
  }

  async #change(
    subscription: Stripe.Subscription,
    plan: Plan,
    price: string,
    confirmed: ConfirmedCharge | undefined,
  ): Promise<PlanChoice> {
    const { plans, invoices } = this.#dependencies;
    const bought = planItem(subscription, plans);
    if (bought === undefined) throw new Error(`no plan has the price of subscription ${subscription.id}`);
    if (bought.plan.name === plan.name) {
      await this.#changes.keep(subscription);
      return NOW;
    }
    // Another member may have changed the plan meanwhile.
    if (confirmed !== undefined && confirmed.fromPlan !== bought.plan.name) return CONFIRM_AGAIN;
    if (!plans.isUpgrade(bought.plan.name, plan.name)) {
      await this.#changes.downgrade(subscription, bought.item, price);
      return NEXT_PERIOD;
    }
    if (confirmed !== undefined) {
      const { amount, asOf } = await invoices.previewUpgrade(subscription, bought, price, confirmed.asOf);
      // The time differs when it isn't in the current period, which may have been renewed meanwhile.
      if (amount?.due !== confirmed.due || asOf.getTime() !== confirmed.asOf.getTime()) return CONFIRM_AGAIN;
    }
    const url = await this.#changes.upgrade(subscription, bought.item, price, confirmed?.asOf);
    return url === undefined ? NOW : { kind: 'redirect', url };
  }

  async #end({ customer, subscription }: CurrentSubscription, followedBy: string): Promise<PlanChoice> {
    const paid = isPaidFor(subscription);
    if (paid) await this.#changes.endWithPeriod(subscription, followedBy);
    else await this.#changes.endNow(subscription, followedBy);
    await this.#dependencies.sync.sync(customer);
    return paid ? NEXT_PERIOD : NOW;
  }

  async #currentSubscription(accountId: string): Promise<CurrentSubscription | undefined> {
    const { store, sync, plans } = this.#dependencies;
    const customer = await store.accounts.customerOf(accountId);
    if (customer === undefined) return undefined;
    const current = startedSubscriptions(await sync.subscriptionsOf(customer)).filter(
      ({ status }) => status !== 'canceled',
    );
    const paid = current.filter(isPaidFor);
    const subscription = paid.find((item) => planItem(item, plans) !== undefined) ?? paid[0] ?? current[0];
    return subscription && { customer, subscription };
  }

  /** Settles a subscription that the store considers paid and Stripe has ended. */
  async #settleEnded(accountId: string): Promise<void> {
    const { store, sync } = this.#dependencies;
    const customer = await store.accounts.customerOf(accountId);
    if (customer !== undefined) await sync.sync(customer);
    const subscription = (await store.accounts.find(accountId))?.subscription;
    if (subscription?.provider !== 'stripe' || subscription.status === 'inactive') return;
    throw new Error(`Stripe does not know the customer who pays for account ${accountId}`);
  }

  async #setRenews(accountId: string, renews: boolean): Promise<void> {
    const { accounts } = this.#dependencies.store;
    const subscription = (await accounts.find(accountId))?.subscription;
    // Only Stripe can end or resume a subscription that is paid there.
    const isManual = subscription?.provider === 'manual';
    if (isManual && (await accounts.setRenews(accountId, renews, `account:${accountId}`))) return;
    throw new AppError('subscription_inactive', 'This account has no active subscription.');
  }
}

function priceIdOf({ name, stripePrice }: Plan): string {
  if (stripePrice === undefined) throw new Error(`plan "${name}" has no stripePrice`);
  return stripePrice;
}

function periodEnd(item: Stripe.SubscriptionItem | undefined, { start_date }: Stripe.Subscription): Date {
  return new Date((item?.current_period_end ?? start_date) * 1_000);
}

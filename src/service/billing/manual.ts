// Billing without payments. Choosing a free plan grants it, and the operator assigns the others.

import type { PlanBook } from '../account/plans.ts';
import { AppError } from '../../shared/errors.ts';
import type { Store } from '../store/store.ts';
import type { Billing, InvoiceSummary, PlanChoice, PlanPreview, Receipt, Reconciliation } from './billing.ts';
import { requireAccountForPlan } from './plan-change.ts';

export class ManualBilling implements Billing {
  readonly name = 'manual';
  readonly takesPayments = false;
  readonly #store: Pick<Store, 'accounts'>;
  readonly #plans: PlanBook;

  constructor(store: Pick<Store, 'accounts'>, plans: PlanBook) {
    this.#store = store;
    this.#plans = plans;
  }

  async choosePlan(accountId: string, plan: string): Promise<PlanChoice> {
    const when = (await this.previewPlan(accountId, plan)).kind === 'later' ? 'next period' : 'now';
    await this.#store.accounts.subscribe(accountId, plan, when, `account:${accountId}`);
    return { kind: 'granted', when };
  }

  async previewPlan(accountId: string, plan: string): Promise<PlanPreview> {
    const { subscription } = await requireAccountForPlan(this.#store, this.#plans, accountId, plan);
    this.#assertFree(plan);
    const isLower =
      subscription?.status === 'active' &&
      subscription.plan !== plan &&
      !this.#plans.isUpgrade(subscription.plan, plan);
    return isLower ? { kind: 'later', at: subscription.period.endsAt } : { kind: 'now' };
  }

  async invoices(): Promise<InvoiceSummary[]> {
    return [];
  }

  async endNow(): Promise<void> {
    // Nothing is paid for, so nothing ends.
  }

  async manage(): Promise<undefined> {
    return undefined;
  }

  async cancel(accountId: string): Promise<void> {
    await this.#setRenews(accountId, false);
  }

  async resume(accountId: string): Promise<void> {
    const before = (await this.#store.accounts.find(accountId))?.subscription;
    // The operator may have ended it, because it is no longer paid for.
    if (before?.status === 'active') this.#assertFree(before.plan);
    await this.#setRenews(accountId, true);
    const subscription = (await this.#store.accounts.find(accountId))?.subscription;
    if (subscription?.status !== 'active' || subscription.nextPlan === null) return;
    await this.#store.accounts.subscribe(accountId, subscription.plan, 'now', `account:${accountId}`);
  }

  async refresh(): Promise<void> {
    // There is no provider to ask.
  }

  async receive(): Promise<Receipt> {
    throw new AppError('not_found', 'Payments are disabled on this server.');
  }

  async reconcile(): Promise<Reconciliation> {
    return { checked: 0, failed: 0 };
  }

  #assertFree(name: string): void {
    const plan = this.#plans.find(name);
    if (plan === undefined || plan.monthlyPriceCents === 0) return;
    throw new AppError(
      'invalid_fields',
      `Ask the operator for the plan ${plan.title}. You can choose free plans here.`,
    );
  }

  async #setRenews(accountId: string, renews: boolean): Promise<void> {
    if (await this.#store.accounts.setRenews(accountId, renews, `account:${accountId}`)) return;
    throw new AppError('subscription_inactive', 'This account has no active subscription.');
  }
}

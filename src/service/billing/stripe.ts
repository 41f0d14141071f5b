// Plans paid through Stripe. Stripe is the source of truth for payments; the store follows it.

import type { PlanBook } from '../account/plans.ts';
import type { Store } from '../store/store.ts';
import type {
  Billing,
  BillingLog,
  ConfirmedCharge,
  InvoiceSummary,
  PlanChoice,
  PlanPreview,
  Receipt,
  Reconciliation,
  ReturnPages,
} from './billing.ts';
import { KeyedMutex } from '../../shared/keyed-mutex.ts';
import { StripeCheckout } from './stripe-checkout.ts';
import { createStripeClient, type StripeAccess, translateErrors } from './stripe-client.ts';
import { StripeInvoices } from './stripe-invoices.ts';
import { StripePlans } from './stripe-plans.ts';
import { StripeReconciler } from './stripe-reconciler.ts';
import { StripeSync } from './stripe-sync.ts';
import { customerOfEvent, verifyEvent } from './stripe-webhook.ts';

export interface StripeOptions extends StripeAccess {
  readonly webhookSecrets: readonly string[];
  readonly store: Pick<Store, 'accounts' | 'payments'>;
  readonly plans: PlanBook;
  readonly log: BillingLog;
}

export class StripeBilling implements Billing {
  readonly name = 'stripe';
  readonly takesPayments = true;
  readonly #store: StripeOptions['store'];
  readonly #webhookSecrets: readonly string[];
  readonly #sync: StripeSync;
  readonly #checkout: StripeCheckout;
  readonly #plans: StripePlans;
  readonly #invoices: StripeInvoices;
  readonly #reconciler: StripeReconciler;
  /** A double-click must not create two customers or two checkouts. */
  readonly #accountLocks = new KeyedMutex();

  constructor({ webhookSecrets, store, plans, log, ...access }: StripeOptions) {
    const stripe = createStripeClient(access);
    const sync = new StripeSync(stripe, store, plans, log);
    const checkout = new StripeCheckout(stripe, store, log);
    this.#store = store;
    this.#webhookSecrets = webhookSecrets;
    this.#sync = sync;
    this.#checkout = checkout;
    this.#invoices = new StripeInvoices(stripe);
    this.#plans = new StripePlans({ stripe, store, plans, sync, checkout, invoices: this.#invoices });
    this.#reconciler = new StripeReconciler({ stripe, store, plans, log, sync });
  }

  async choosePlan(
    accountId: string,
    plan: string,
    pages: ReturnPages,
    confirmed?: ConfirmedCharge,
  ): Promise<PlanChoice> {
    return await this.#exclusively(accountId, async () => await this.#plans.choose(accountId, plan, pages, confirmed));
  }

  async previewPlan(accountId: string, plan: string): Promise<PlanPreview> {
    return await translateErrors(async () => await this.#plans.preview(accountId, plan));
  }

  async invoices(accountId: string): Promise<InvoiceSummary[]> {
    const customer = await this.#store.accounts.customerOf(accountId);
    return customer === undefined ? [] : await translateErrors(async () => await this.#invoices.list(customer));
  }

  async endNow(accountId: string): Promise<void> {
    await this.#exclusively(accountId, async () => await this.#plans.endNow(accountId));
  }

  async manage(accountId: string, returnUrl: string): Promise<string | undefined> {
    const customer = await this.#store.accounts.customerOf(accountId);
    return customer && (await translateErrors(async () => await this.#checkout.portal(customer, returnUrl)));
  }

  async cancel(accountId: string): Promise<void> {
    await this.#exclusively(accountId, async () => await this.#plans.cancel(accountId));
  }

  async resume(accountId: string): Promise<void> {
    await this.#exclusively(accountId, async () => await this.#plans.resume(accountId));
  }

  async refresh(accountId: string): Promise<void> {
    const customer = await this.#store.accounts.customerOf(accountId);
    if (customer !== undefined) await translateErrors(async () => await this.#sync.sync(customer));
  }

  async receive(rawBody: Buffer, signature: string | undefined): Promise<Receipt> {
    const event = verifyEvent(rawBody, signature, this.#webhookSecrets);
    const customer = customerOfEvent(event);
    if (customer === undefined) return 'ignored';
    let receipt: Receipt = 'duplicate';
    await this.#store.payments.once(event.id, event.type, async () => {
      receipt = (await translateErrors(async () => await this.#sync.sync(customer))) ? 'applied' : 'ignored';
    });
    return receipt;
  }

  async reconcile(signal: AbortSignal): Promise<Reconciliation> {
    return await this.#reconciler.run(signal);
  }

  async #exclusively<Result>(accountId: string, work: () => Promise<Result>): Promise<Result> {
    return await this.#accountLocks.run(accountId, async () => await translateErrors(work));
  }
}

// Customers at Stripe, and the pages Stripe hosts: the checkout and the customer portal.

import { Stripe } from 'stripe';
import { AppError } from '../../shared/errors.ts';
import type { AccountSummary } from '../store/accounts/accounts.ts';
import type { Store } from '../store/store.ts';
import type { BillingLog, ReturnPages } from './billing.ts';
import { isMissing } from './stripe-client.ts';
import { ACCOUNT } from './stripe-reading.ts';

export class StripeCheckout {
  readonly #stripe: Stripe;
  readonly #store: Pick<Store, 'accounts'>;
  readonly #log: BillingLog;

  constructor(stripe: Stripe, store: Pick<Store, 'accounts'>, log: BillingLog) {
    this.#stripe = stripe;
    this.#store = store;
    this.#log = log;
  }

  /** Returns the customer of the account, and creates one when there is none. */
  async customerFor(account: AccountSummary): Promise<string> {
    const { id, name } = account;
    const known = await this.#store.accounts.customerOf(id);
    if (known !== undefined) {
      if (await this.#exists(known)) return known;
      await this.#forget(account, known);
    }
    const created = await this.#stripe.customers.create({ name, metadata: { [ACCOUNT]: id } });
    return await this.#store.accounts.linkCustomer(id, created.id);
  }

  /**
   * Cancels unfinished payments, so that an open checkout page or an unfinished first payment can't become a second
   * subscription.
   */
  async cancelUnfinished(customer: string): Promise<void> {
    const pages = await this.#stripe.checkout.sessions.list({ customer, status: 'open', limit: 100 });
    for (const { id } of pages.data) await this.#stripe.checkout.sessions.expire(id).catch(ignoreIfEnded);
    const unpaid = await this.#stripe.subscriptions.list({ customer, status: 'incomplete', limit: 100 });
    for (const { id } of unpaid.data) await this.#stripe.subscriptions.cancel(id).catch(ignoreIfEnded);
  }

  async open(accountId: string, customer: string, price: string, pages: ReturnPages): Promise<string> {
    const { url } = await this.#stripe.checkout.sessions.create({
      mode: 'subscription',
      customer,
      client_reference_id: accountId,
      line_items: [{ price, quantity: 1 }],
      subscription_data: { metadata: { [ACCOUNT]: accountId } },
      success_url: pages.successUrl,
      cancel_url: pages.cancelUrl,
    });
    if (!url) throw new Error('the checkout session has no page');
    return url;
  }

  async portal(customer: string, returnUrl: string): Promise<string> {
    const { url } = await this.#stripe.billingPortal.sessions.create({ customer, return_url: returnUrl });
    return url;
  }

  async #exists(customer: string): Promise<boolean> {
    try {
      return (await this.#stripe.customers.retrieve(customer)).deleted !== true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  async #forget({ id, subscription }: AccountSummary, customer: string): Promise<void> {
    if (subscription?.provider === 'stripe' && subscription.status === 'active') {
      this.#log.error(
        { accountId: id, customer },
        'customer of a paid subscription not found at Stripe; check the secret key',
      );
      throw new AppError('internal_error', 'Something went wrong on our side.');
    }
    await this.#store.accounts.unlinkCustomer(id, customer, 'system');
  }
}

/** The session was paid or has expired at this very moment, which the next read from Stripe shows. */
function ignoreIfEnded(error: unknown): void {
  if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
}

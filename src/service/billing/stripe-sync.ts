// Reads the current state of a customer from Stripe and applies it to the account. This is the only way data from Stripe gets
// into the store, whether the trigger is an event, a user returning from the checkout or the hourly comparison.

import type { Stripe } from 'stripe';
import type { PlanBook } from '../account/plans.ts';
import type { ProviderSubscription } from '../account/provider.ts';
import { AppError } from '../../shared/errors.ts';
import type { CustomerLink } from '../store/accounts/accounts.ts';
import type { Store } from '../store/store.ts';
import type { BillingLog } from './billing.ts';
import { KeyedMutex } from '../../shared/keyed-mutex.ts';
import { isMissing } from './stripe-client.ts';
import { ACCOUNT, readSubscriptions } from './stripe-reading.ts';

const ACTOR = 'stripe';

/** How often another server may apply a newer state before this one gives up. */
const MAX_ATTEMPTS = 5;

type StripeState =
  | { readonly kind: 'known'; readonly providerState: ProviderSubscription | undefined }
  | { readonly kind: 'customer deleted' }
  /** Stripe has no data that shows whether the account pays. */
  | { readonly kind: 'unknown' };

export class StripeSync {
  readonly #stripe: Stripe;
  readonly #store: Pick<Store, 'accounts'>;
  readonly #plans: PlanBook;
  readonly #log: BillingLog;
  /** A checkout sends half a dozen events together. Handling them one by one avoids conflicts between them. */
  readonly #customerLocks = new KeyedMutex();

  constructor(stripe: Stripe, store: Pick<Store, 'accounts'>, plans: PlanBook, log: BillingLog) {
    this.#stripe = stripe;
    this.#store = store;
    this.#plans = plans;
    this.#log = log;
  }

  /** Returns false when the customer doesn't belong to any account. */
  async sync(customer: string): Promise<boolean> {
    return await this.#customerLocks.run(customer, async () => await this.#syncNow(customer));
  }

  /** Returns all subscriptions the customer ever had, newest first, or none when Stripe doesn't know the customer. */
  async subscriptionsOf(customer: string): Promise<Stripe.Subscription[]> {
    const query = { customer, status: 'all', limit: 100, expand: ['data.schedule'] };
    const { data } = await this.#stripe.subscriptions.list(query).catch(emptyIfMissing);
    return data;
  }

  async #syncNow(customer: string): Promise<boolean> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const link = (await this.#store.accounts.findLink(customer)) ?? (await this.#relink(customer));
      if (link === undefined) return false;
      const state = await this.#readState(link);
      if (state.kind === 'unknown') return true;
      const providerState = state.kind === 'known' ? state.providerState : undefined;
      if (await this.#store.accounts.applyProvider(link.accountId, providerState, ACTOR, link)) {
        if (state.kind === 'customer deleted') {
          await this.#store.accounts.unlinkCustomer(link.accountId, customer, ACTOR);
        }
        return true;
      }
    }
    throw new AppError('payment_unavailable', 'The account is being changed by another request. Try again.', {
      retryAfterSeconds: 5,
    });
  }

  async #readState({ accountId, customer }: CustomerLink): Promise<StripeState> {
    const subscriptions = await this.subscriptionsOf(customer);
    if (subscriptions.length === 0) return await this.#readCustomer(accountId, customer);
    const reading = readSubscriptions(subscriptions, this.#plans);
    if (reading.kind === 'unknown price') {
      const { subscription, prices } = reading;
      this.#log.error({ accountId, subscription, prices }, 'no plan has the price of a paid subscription');
      // The event fails. Stripe repeats it for days and shows it as failing, until the plans file has the price.
      throw new AppError('internal_error', 'No plan has the price of the subscription.');
    }
    if (reading.kind === 'none') return { kind: 'known', providerState: undefined };
    const { providerState, others } = reading;
    if (others.length > 0) {
      this.#log.warn(
        { accountId, subscription: providerState.subscription, others },
        'customer pays for more than one subscription',
      );
    }
    return { kind: 'known', providerState };
  }

  /** Stripe keeps ended subscriptions, so an empty list proves nothing unless the customer was deleted. */
  async #readCustomer(accountId: string, customer: string): Promise<StripeState> {
    try {
      const found = await this.#stripe.customers.retrieve(customer);
      return { kind: found.deleted === true ? 'customer deleted' : 'unknown' };
    } catch (error) {
      if (!isMissing(error)) throw error;
      // The secret key may be that of another account or of test mode, which must not end paid subscriptions.
      this.#log.error({ accountId, customer }, 'customer not found at Stripe; check the secret key');
      return { kind: 'unknown' };
    }
  }

  /**
   * Restores the link from the metadata of the customer, which names the account. The link is missing when the store
   * was restored from a backup.
   */
  async #relink(customer: string): Promise<CustomerLink | undefined> {
    const found = await this.#stripe.customers.retrieve(customer);
    const accountId = found.deleted === true ? undefined : found.metadata[ACCOUNT];
    if (accountId === undefined || (await this.#store.accounts.find(accountId)) === undefined) return undefined;
    const linked = await this.#store.accounts.linkCustomer(accountId, customer);
    if (linked === customer) return await this.#store.accounts.findLink(customer);
    this.#log.error({ accountId, customer, linked }, 'second customer of an account ignored');
    return undefined;
  }
}

function emptyIfMissing(error: unknown): { readonly data: Stripe.Subscription[] } {
  if (isMissing(error)) return { data: [] };
  throw error;
}

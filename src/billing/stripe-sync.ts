// From Stripe to the store: asks what a customer has now and takes it over. The one way by which anything Stripe knows gets
// here, whether an event, a person coming back from the checkout or the hourly comparison gave the reason.

import type { Stripe } from 'stripe';
import type { PlanBook } from '../account/plans.ts';
import type { ProviderSubscription } from '../account/provider.ts';
import { AppError } from '../errors.ts';
import type { CustomerLink, Store } from '../store/store.ts';
import type { BillingLog } from './billing.ts';
import { KeyedMutex } from '../primitives/keyed-mutex.ts';
import { isMissing } from './stripe-client.ts';
import { ACCOUNT, readSubscriptions } from './stripe-reading.ts';

const ACTOR = 'stripe';

/** How often an answer may have been overtaken by one that another server got. */
const ATTEMPTS = 5;

type Answer =
  | { readonly kind: 'said'; readonly said: ProviderSubscription | undefined }
  | { readonly kind: 'customer deleted' }
  | { readonly kind: 'nothing' };

export class StripeSync {
  readonly #stripe: Stripe;
  readonly #store: Pick<Store, 'accounts'>;
  readonly #plans: PlanBook;
  readonly #log: BillingLog;
  /** A checkout sends half a dozen events at once; asking for each in turn is cheaper than overtaking each other. */
  readonly #turns = new KeyedMutex();

  constructor(stripe: Stripe, store: Pick<Store, 'accounts'>, plans: PlanBook, log: BillingLog) {
    this.#stripe = stripe;
    this.#store = store;
    this.#plans = plans;
    this.#log = log;
  }

  /** False when nobody here knows the customer. */
  async sync(customer: string): Promise<boolean> {
    return await this.#turns.run(customer, async () => await this.#syncNow(customer));
  }

  /** Everything the customer ever had, newest first. Nothing where Stripe does not know the customer. */
  async subscriptionsOf(customer: string): Promise<Stripe.Subscription[]> {
    const query = { customer, status: 'all', limit: 100, expand: ['data.schedule'] };
    const { data } = await this.#stripe.subscriptions.list(query).catch(none);
    return data;
  }

  async #syncNow(customer: string): Promise<boolean> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const link = (await this.#store.accounts.findLink(customer)) ?? (await this.#relink(customer));
      if (link === undefined) return false;
      const answer = await this.#ask(link);
      if (answer.kind === 'nothing') return true;
      const said = answer.kind === 'said' ? answer.said : undefined;
      if (await this.#store.accounts.applyProvider(link.accountId, said, ACTOR, link)) {
        if (answer.kind === 'customer deleted') {
          await this.#store.accounts.unlinkCustomer(link.accountId, customer, ACTOR);
        }
        return true;
      }
    }
    throw new AppError('payment_unavailable', 'The account is being changed. Try again.', { retryAfterSeconds: 5 });
  }

  async #ask({ accountId, customer }: CustomerLink): Promise<Answer> {
    const subscriptions = await this.subscriptionsOf(customer);
    if (subscriptions.length === 0) return await this.#askForCustomer(accountId, customer);
    const reading = readSubscriptions(subscriptions, this.#plans);
    if (reading.kind === 'unknown price') {
      const { subscription, prices } = reading;
      this.#log.error({ accountId, subscription, prices }, 'a subscription is paid for at a price that no plan has');
      // Not taken: Stripe sends it again for days and shows it as failing, until the plans file has the price.
      throw new AppError('internal_error', 'The price of the subscription belongs to no plan.');
    }
    if (reading.kind === 'nothing') return { kind: 'said', said: undefined };
    const { said, others } = reading;
    if (others.length > 0) {
      this.#log.warn(
        { accountId, counts: said.subscription, others },
        'a customer pays for more than one subscription',
      );
    }
    return { kind: 'said', said };
  }

  /** Stripe never forgets a subscription, so none at all says nothing, unless the customer was deleted. */
  async #askForCustomer(accountId: string, customer: string): Promise<Answer> {
    try {
      const found = await this.#stripe.customers.retrieve(customer);
      return { kind: found.deleted === true ? 'customer deleted' : 'nothing' };
    } catch (error) {
      if (!isMissing(error)) throw error;
      // With the key of another account, or of test mode, nobody is known. That must not end what was paid for.
      this.#log.error({ accountId, customer }, 'Stripe does not know a customer: is it the right secret key?');
      return { kind: 'nothing' };
    }
  }

  /** A customer says whose it is. The link is missing where the store was put back to an older state. */
  async #relink(customer: string): Promise<CustomerLink | undefined> {
    const found = await this.#stripe.customers.retrieve(customer);
    const accountId = found.deleted === true ? undefined : found.metadata[ACCOUNT];
    if (accountId === undefined || (await this.#store.accounts.find(accountId)) === undefined) return undefined;
    const counts = await this.#store.accounts.linkCustomer(accountId, customer);
    if (counts === customer) return await this.#store.accounts.findLink(customer);
    this.#log.error({ accountId, customer, counts }, 'an account has a second customer, which does not count');
    return undefined;
  }
}

function none(error: unknown): { readonly data: Stripe.Subscription[] } {
  if (isMissing(error)) return { data: [] };
  throw error;
}

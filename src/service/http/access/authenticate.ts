// Authentication: determines the account and its plan from the request headers, before the body is read.

import type { IncomingHttpHeaders } from 'node:http';
import { admitAccount, admitKey } from '../../account/access.ts';
import { hashKey, isWellFormedKey } from '../../account/api-key.ts';
import type { PlanBook } from '../../account/plans.ts';
import { AppError } from '../../../shared/errors.ts';
import { BoundedMap } from '../../../shared/bounded-map.ts';
import type { Store } from '../../store/store.ts';
import type { Caller } from '../../account/caller.ts';
import { checkOrigin } from '../transport/cors.ts';
import { FailedKeys } from '../../limits/failed-keys.ts';
import { keyOf } from './key-header.ts';
import type { Marketplace, MarketplaceCaller } from './marketplace.ts';
import { RecentKeys } from './recent-keys.ts';

/** The time of last use is shown to people, so a resolution of one minute is enough and saves a write per render. */
const MARK_INTERVAL_MS = 60_000;
const MAX_MARKED_KEYS = 10_000;

export interface AuthenticatorOptions {
  readonly store: Pick<Store, 'keys' | 'accounts'>;
  readonly plans: PlanBook;
  readonly marketplace: Marketplace;
  /** Called when the time of last use could not be written. */
  readonly onMarkFailed: (error: unknown, keyId: string) => void;
}

/** The owner of a request's credentials, before it is known whether they are accepted. */
export interface RecognizedCaller {
  readonly accountId: string;
  readonly keyId: string | undefined;
}

export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #failedKeys = new FailedKeys();
  readonly #recentKeys: RecentKeys;
  readonly #markedAt = new BoundedMap<string, number>(MAX_MARKED_KEYS);

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.#recentKeys = new RecentKeys(async (hash) => await options.store.keys.find(hash));
  }

  /**
   * `setHeaders` receives the CORS headers of the response, which also apply to errors. `onRecognized` tells the log
   * whose key it is, even when the key is refused.
   */
  async authenticate(
    headers: IncomingHttpHeaders,
    address: string,
    setHeaders: (headers: Record<string, string>) => void,
    onRecognized: (known: RecognizedCaller) => void = () => undefined,
  ): Promise<Caller> {
    try {
      const marketplaceCaller = this.#options.marketplace.identify(headers);
      if (marketplaceCaller === undefined) return await this.#byKey(headers, setHeaders, onRecognized);
      onRecognized({ accountId: marketplaceCaller.accountId, keyId: undefined });
      return await this.#byMarketplace(marketplaceCaller);
    } catch (error) {
      const isInvalidCredential =
        error instanceof AppError && (error.code === 'invalid_api_key' || error.code === 'marketplace_refused');
      throw isInvalidCredential ? this.#failedKeys.judge(address, error) : error;
    }
  }

  async #byMarketplace({ accountId, subscription }: MarketplaceCaller): Promise<Caller> {
    const { plans, store, marketplace } = this.#options;
    const plan = plans.forMarketplace(subscription);
    const holder = await store.accounts.upsertMarketplaceAccount(
      accountId,
      plan.name,
      `marketplace:${marketplace.name}`,
    );
    return { accountId, keyId: undefined, mode: 'live', subscription: admitAccount(holder), plan };
  }

  async #byKey(
    headers: IncomingHttpHeaders,
    setHeaders: (headers: Record<string, string>) => void,
    onRecognized: (known: RecognizedCaller) => void,
  ): Promise<Caller> {
    const key = keyOf(headers);
    if (key === undefined || key === '') {
      throw new AppError('missing_api_key', 'Send your API key in the x-api-key header.');
    }
    if (typeof key !== 'string' || !isWellFormedKey(key)) {
      throw new AppError('invalid_api_key', 'The API key is not valid.');
    }
    const holder = await this.#recentKeys.find(hashKey(key));
    if (holder) onRecognized({ accountId: holder.accountId, keyId: holder.keyId });
    // The origin comes before the state of the key, so that an allowed page can read why its request is refused.
    if (holder && holder.keyState !== 'revoked') checkOrigin(holder.allowedOrigins, headers.origin, setHeaders);
    const subscriber = admitKey(holder);
    if (subscriber.keyId !== undefined) this.#markUsed(subscriber.keyId);
    return { ...subscriber, plan: this.#options.plans.get(subscriber.subscription.plan) };
  }

  #markUsed(keyId: string): void {
    const now = performance.now();
    if (now - (this.#markedAt.get(keyId) ?? Number.NEGATIVE_INFINITY) < MARK_INTERVAL_MS) return;
    this.#markedAt.set(keyId, now);
    // The render neither waits for this write nor fails with it.
    setImmediate(() => {
      this.#options.store.keys.markUsed(keyId).catch((error: unknown) => this.#options.onMarkFailed(error, keyId));
    });
  }
}

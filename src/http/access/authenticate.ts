// Who is calling: from the headers to an account and its plan, before a byte of the body is read.

import type { IncomingHttpHeaders } from 'node:http';
import { admitAccount, admitKey } from '../../account/access.ts';
import { hashKey, isWellFormedKey } from '../../account/api-key.ts';
import type { PlanBook } from '../../account/plans.ts';
import { AppError } from '../../errors.ts';
import type { Store } from '../../store/store.ts';
import type { Caller } from './caller.ts';
import { judgeOrigin } from '../transport/cors.ts';
import { FailedKeys } from '../limits/failed-keys.ts';
import type { Marketplace, MarketplaceCaller } from './marketplace.ts';
import { RecentKeys } from '../limits/recent-keys.ts';

/** "Last used" is for people; to the minute is enough, and a render need not wait for a disk write. */
const MARK_EVERY_MS = 60_000;

export interface AuthenticatorOptions {
  readonly store: Pick<Store, 'keys' | 'accounts'>;
  readonly plans: PlanBook;
  readonly marketplace: Marketplace;
  readonly onMarkFailed: (error: unknown) => void;
}

export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #failedKeys = new FailedKeys();
  readonly #recentKeys: RecentKeys;
  readonly #markedAt = new Map<string, number>();

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.#recentKeys = new RecentKeys(async (hash) => await options.store.keys.find(hash));
  }

  /** Asks the store what it does not know from a moment ago: a revoked or suspended key stops working at once. */
  async authenticate(
    headers: IncomingHttpHeaders,
    address: string,
    setHeaders: (headers: Record<string, string>) => void,
  ): Promise<Caller> {
    try {
      const fromMarketplace = this.#options.marketplace.identify(headers);
      return fromMarketplace ? await this.#meet(fromMarketplace) : await this.#byKey(headers, setHeaders);
    } catch (error) {
      const guessed =
        error instanceof AppError && (error.code === 'invalid_api_key' || error.code === 'marketplace_refused');
      throw guessed ? this.#failedKeys.judge(address, error) : error;
    }
  }

  async #meet({ accountId, subscription }: MarketplaceCaller): Promise<Caller> {
    const { plans, store, marketplace } = this.#options;
    const plan = plans.ofMarketplace(subscription);
    const holder = await store.accounts.upsertMarketplaceAccount(
      accountId,
      plan.name,
      `marketplace:${marketplace.name}`,
    );
    return { accountId, keyId: undefined, mode: 'live', subscription: admitAccount(holder), plan };
  }

  async #byKey(
    { 'x-api-key': key, origin }: IncomingHttpHeaders,
    setHeaders: (headers: Record<string, string>) => void,
  ): Promise<Caller> {
    if (key === undefined || key === '') {
      throw new AppError('missing_api_key', 'Send your API key in the x-api-key header.');
    }
    if (typeof key !== 'string' || !isWellFormedKey(key)) {
      throw new AppError('invalid_api_key', 'The API key is not valid.');
    }
    const holder = await this.#recentKeys.find(hashKey(key));
    // Before its state is judged: an allowed page may read why it is refused.
    if (holder && holder.keyState !== 'revoked') judgeOrigin(holder.allowedOrigins, origin, setHeaders);
    const subscriber = admitKey(holder);
    if (subscriber.keyId !== undefined) this.#markUsed(subscriber.keyId);
    return { ...subscriber, plan: this.#options.plans.get(subscriber.subscription.plan) };
  }

  #markUsed(keyId: string): void {
    const now = performance.now();
    if (now - (this.#markedAt.get(keyId) ?? Number.NEGATIVE_INFINITY) < MARK_EVERY_MS) return;
    this.#markedAt.set(keyId, now);
    // After the answer is on its way, and no reason to fail it.
    setImmediate(() => {
      this.#options.store.keys.markUsed(keyId).catch(this.#options.onMarkFailed);
    });
  }
}

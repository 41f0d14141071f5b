// Who is calling: from the `x-api-key` header to an account, before a byte of the body is read.

import type { IncomingHttpHeaders } from 'node:http';
import { admitKey } from '../account/access.ts';
import { hashKey, isWellFormedKey } from '../account/api-key.ts';
import type { PlanBook } from '../account/plans.ts';
import { AppError } from '../errors.ts';
import type { Store } from '../store/store.ts';
import type { Caller } from './caller.ts';

/** "Last used" is for people; to the minute is enough, and a render need not wait for a disk write. */
const MARK_EVERY_MS = 60_000;

export class Authenticator {
  readonly #store: Pick<Store, 'keys'>;
  readonly #plans: PlanBook;
  readonly #onMarkFailed: (error: unknown) => void;
  readonly #markedAt = new Map<string, number>();

  constructor(store: Pick<Store, 'keys'>, plans: PlanBook, onMarkFailed: (error: unknown) => void) {
    this.#store = store;
    this.#plans = plans;
    this.#onMarkFailed = onMarkFailed;
  }

  /** Asks the store every time, so that a revoked or suspended key stops working at once. */
  async authenticate(headers: IncomingHttpHeaders): Promise<Caller> {
    const key = headers['x-api-key'];
    if (key === undefined || key === '') {
      throw new AppError('missing_api_key', 'Send your API key in the x-api-key header.');
    }
    if (typeof key !== 'string' || !isWellFormedKey(key)) {
      throw new AppError('invalid_api_key', 'The API key is not valid.');
    }
    const holder = await this.#store.keys.find(hashKey(key));
    const subscriber = admitKey(holder);
    if (subscriber.keyId !== undefined) this.#markUsed(subscriber.keyId);
    return { ...subscriber, plan: this.#plans.get(subscriber.subscription.plan) };
  }

  #markUsed(keyId: string): void {
    const now = Date.now();
    if (now - (this.#markedAt.get(keyId) ?? 0) < MARK_EVERY_MS) return;
    this.#markedAt.set(keyId, now);
    // After the answer is on its way, and no reason to fail it.
    setImmediate(() => {
      this.#store.keys.markUsed(keyId).catch(this.#onMarkFailed);
    });
  }
}

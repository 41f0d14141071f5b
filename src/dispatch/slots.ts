// A fixed number of slots and a bounded queue in front of them. First come, first served; when the queue is full the
// caller hears so at once instead of waiting for an answer that would come too late.

import { AppError } from '../errors.ts';

interface Waiter<Item> {
  readonly resolve: (item: Item) => void;
  readonly reject: (reason: Error) => void;
}

const RETRY_AFTER_SECONDS = 2;

export class Slots<Item> {
  readonly #free: Item[] = [];
  readonly #waiters: Waiter<Item>[] = [];
  readonly #maxWaiting: number;

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  get waiting(): number {
    return this.#waiters.length;
  }

  get free(): number {
    return this.#free.length;
  }

  /** Makes an item available: a new one, or one that comes back. */
  put(item: Item): void {
    const waiter = this.#waiters.shift();
    if (waiter) waiter.resolve(item);
    else this.#free.push(item);
  }

  /** Forgets an item that died while it was free. */
  drop(item: Item): void {
    const index = this.#free.indexOf(item);
    if (index >= 0) this.#free.splice(index, 1);
  }

  /** `again`: somebody who was served before and lost what he got; he waits first, and is never turned away. */
  async take(signal: AbortSignal, again = false): Promise<Item> {
    signal.throwIfAborted();
    const item = this.#free.pop();
    if (item !== undefined) return item;
    if (!again && this.#waiters.length >= this.#maxWaiting) {
      throw new AppError('overloaded', 'Every render slot is taken and the queue is full. Try again shortly.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    return await new Promise<Item>((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        reject(signal.reason as Error);
      };
      const waiter: Waiter<Item> = {
        resolve: (taken) => {
          signal.removeEventListener('abort', onAbort);
          resolve(taken);
        },
        reject: (reason) => {
          signal.removeEventListener('abort', onAbort);
          reject(reason);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      if (again) this.#waiters.unshift(waiter);
      else this.#waiters.push(waiter);
    });
  }

  /** Turns everyone who waits away. */
  rejectWaiting(reason: Error): void {
    for (const waiter of this.#waiters.splice(0)) waiter.reject(reason);
  }
}

// Counts failures of accounts that cost nothing but occupy the service. All servers share the count. A server reads it only when
// something fails, and remembers accounts that have none left, so other requests cost nothing.

import type { Rate } from '../account/gcra.ts';
import { BoundedMap } from '../../shared/bounded-map.ts';
import type { Limits } from '../store/limits.ts';

const MAX_REMEMBERED = 10_000;

export class Failures {
  readonly #limits: Pick<Limits, 'take'>;
  readonly #name: string;
  readonly #now: () => number;
  /** The time at which the next failure of an account is allowed. */
  readonly #refusedUntil = new BoundedMap<string, number>(MAX_REMEMBERED);

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(limits: Pick<Limits, 'take'>, name: string, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#name = name;
    this.#now = now;
  }

  async count(accountId: string, rate: Rate): Promise<void> {
    const { remaining, retryAfterMs } = await this.#limits.take(`${accountId} ${this.#name}`, rate);
    if (remaining > 0) return;
    this.#refusedUntil.set(accountId, this.#now() + Math.max(retryAfterMs, rate.windowMs / rate.burst));
  }

  /** Returns how long the account has to wait, 0 or less if it doesn't. */
  waitMs(accountId: string): number {
    return (this.#refusedUntil.get(accountId) ?? 0) - this.#now();
  }
}

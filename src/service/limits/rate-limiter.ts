// Rate limits by name, in memory. Each process counts for itself, and a restart resets all counts.

import { type Rate, take, type RateVerdict } from '../account/gcra.ts';
import { BoundedMap } from '../../shared/bounded-map.ts';

/**
 * Callers choose the names, so their number must be bounded. An evicted bucket starts full again, which helps only a caller
 * with that many addresses.
 */
const MAX_BUCKETS = 100_000;

export class RateLimiter {
  /** The time at which each bucket is full again. */
  readonly #fullAt = new BoundedMap<string, number>(MAX_BUCKETS);
  readonly #now: () => number;

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** The number of buckets in memory. */
  get size(): number {
    return this.#fullAt.size;
  }

  take(name: string, rate: Rate, count = 1): RateVerdict & { readonly fullInMs: number } {
    const now = this.#now();
    const verdict = take(rate, this.#fullAt.get(name) ?? 0, now, count);
    this.#fullAt.set(name, verdict.fullAt);
    return { ...verdict, fullInMs: Math.max(0, verdict.fullAt - now) };
  }

  giveBack(name: string, { burst, windowMs }: Rate): void {
    const fullAt = this.#fullAt.get(name);
    if (fullAt !== undefined) this.#fullAt.set(name, fullAt - windowMs / burst);
  }
}

// Buckets by name, in memory: a restart forgives, and each process counts for itself.

import { type Rate, take, type RateVerdict } from '../../account/gcra.ts';

/** Buckets that are full again say nothing; they are thrown away when there are this many. */
const MANY = 10_000;

export class RateLimiter {
  readonly #fullAt = new Map<string, number>();
  readonly #now: () => number;

  /** `now`: milliseconds of a clock that never goes backwards. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  take(name: string, rate: Rate): RateVerdict & { readonly fullInMs: number } {
    const now = this.#now();
    if (this.#fullAt.size >= MANY) this.#forgetFull(now);
    const verdict = take(rate, this.#fullAt.get(name) ?? 0, now);
    this.#fullAt.set(name, verdict.fullAt);
    return { ...verdict, fullInMs: Math.max(0, verdict.fullAt - now) };
  }

  #forgetFull(now: number): void {
    for (const [name, fullAt] of this.#fullAt) if (fullAt <= now) this.#fullAt.delete(name);
  }
}

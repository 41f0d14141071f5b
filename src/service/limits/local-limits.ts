// Rate limits and concurrency limits of one server, in memory.

import type { Rate, RateVerdict } from '../account/gcra.ts';
import { must } from '../../shared/must.ts';
import type { Limits } from '../store/limits.ts';
import { RateLimiter } from './rate-limiter.ts';

export class LocalLimits implements Limits {
  readonly #rates = new RateLimiter();
  /** Only accounts with running renders have an entry, so it needs no bound of its own. */
  readonly #running = new Map<string, number>();

  async take(name: string, rate: Rate, count?: number): Promise<RateVerdict & { readonly fullInMs: number }> {
    return this.#rates.take(name, rate, count);
  }

  async giveBack(name: string, rate: Rate): Promise<void> {
    this.#rates.giveBack(name, rate);
  }

  async enter(account: string, max: number): Promise<(() => void) | undefined> {
    const running = this.#running.get(account) ?? 0;
    if (running >= max) return undefined;
    this.#running.set(account, running + 1);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const others = must(this.#running.get(account), 'the count of running renders') - 1;
      if (others > 0) this.#running.set(account, others);
      else this.#running.delete(account);
    };
  }

  async forget(): Promise<void> {
    // There is nothing to do, because the rate limiter is bounded and accounts without renders have no entry.
  }
}

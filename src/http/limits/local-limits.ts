// Rates and places of one server, in memory.

import type { Rate, RateVerdict } from '../../account/gcra.ts';
import type { Limits } from '../../store/store.ts';
import { RateLimiter } from './rate-limiter.ts';

export class LocalLimits implements Limits {
  readonly #rates = new RateLimiter();
  readonly #running = new Map<string, number>();

  async take(name: string, rate: Rate): Promise<RateVerdict & { readonly fullInMs: number }> {
    return this.#rates.take(name, rate);
  }

  async enter(account: string, most: number): Promise<(() => void) | undefined> {
    const running = this.#running.get(account) ?? 0;
    if (running >= most) return undefined;
    this.#running.set(account, running + 1);
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      const left = (this.#running.get(account) ?? 1) - 1;
      if (left > 0) this.#running.set(account, left);
      else this.#running.delete(account);
    };
  }

  async forget(): Promise<void> {
    // Buckets are forgotten when there are many; places when they are empty.
  }
}

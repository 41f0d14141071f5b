// How often one address may ask for something that needs no key.

import { AppError } from '../../errors.ts';
import { networkOf } from './network.ts';
import { RateLimiter } from './rate-limiter.ts';

const MINUTE_MS = 60_000;

/** A bucket per address: `perMinute` at once, filled again evenly. */
export class AddressLimit {
  readonly #perMinute: number;
  readonly #rates: RateLimiter;

  constructor(perMinute: number, now?: () => number) {
    this.#perMinute = perMinute;
    this.#rates = new RateLimiter(now);
  }

  /** Throws when the address has used up what it may. */
  take(address: string): void {
    const rate = { burst: this.#perMinute, windowMs: MINUTE_MS };
    const { allowed, retryAfterMs } = this.#rates.take(networkOf(address), rate);
    if (allowed) return;
    const detail = `Without a key, ${this.#perMinute} a minute are allowed from one address. Wait a moment.`;
    throw new AppError('rate_limited', detail, { retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMs / 1_000)) });
  }
}

// Rate limit by client address, for requests without an API key.

import { AppError } from '../../errors.ts';
import { networkOf } from './network.ts';
import { RateLimiter } from './rate-limiter.ts';

const MINUTE_MS = 60_000;

/** One bucket per network: a burst of `perMinute` requests, refilled at an even rate. */
export class AddressLimit {
  readonly #perMinute: number;
  readonly #rates: RateLimiter;

  constructor(perMinute: number, now?: () => number) {
    this.#perMinute = perMinute;
    this.#rates = new RateLimiter(now);
  }

  /** Throws when the network has used up its requests. */
  take(address: string): void {
    const rate = { burst: this.#perMinute, windowMs: MINUTE_MS };
    const { allowed, retryAfterMs } = this.#rates.take(networkOf(address), rate);
    if (allowed) return;
    const detail = `Without an API key, each address is limited to ${this.#perMinute} requests per minute. Try again shortly.`;
    throw new AppError('rate_limited', detail, { retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMs / 1_000)) });
  }
}

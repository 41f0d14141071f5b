// Rate limits by client address, for requests without an API key: per minute on each server, and per day on all of them.

import { AppError } from '../errors.ts';
import type { Limits } from '../store/limits.ts';
import { networkOf } from './network.ts';
import { RateLimiter } from './rate-limiter.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

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

/** One bucket per network that all servers share: a burst of `perDay` requests, refilled at an even rate. */
export class DailyAddressLimit {
  readonly #limits: Pick<Limits, 'take'>;
  readonly #name: string;
  readonly #perDay: number;

  /** `name` distinguishes the buckets from those of other limits. */
  constructor(limits: Pick<Limits, 'take'>, name: string, perDay: number) {
    this.#limits = limits;
    this.#name = name;
    this.#perDay = perDay;
  }

  /** Throws when the network has used up its requests. */
  async take(address: string): Promise<void> {
    const rate = { burst: this.#perDay, windowMs: DAY_MS };
    const { allowed, retryAfterMs } = await this.#limits.take(`${this.#name} ${networkOf(address)}`, rate);
    if (allowed) return;
    const detail = `Without an API key, each address is limited to ${this.#perDay} ${this.#name} per day. Get an API key for more.`;
    throw new AppError('rate_limited', detail, { retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMs / 1_000)) });
  }
}

// Invalid keys, counted by address. A valid key is always let in: whoever shares an address with somebody who guesses must
// not suffer for it, and a key of 160 random bits is not guessed by trying.

import { AppError } from '../../errors.ts';
import { networkOf } from './network.ts';
import { RateLimiter } from './rate-limiter.ts';

const RATE = { burst: 60, windowMs: 60_000 };

export class FailedKeys {
  readonly #rates = new RateLimiter();

  /** Returns what the caller hears: that the key is invalid, or that it is enough. */
  judge(address: string, refusal: AppError): AppError {
    const { allowed, retryAfterMs } = this.#rates.take(networkOf(address), RATE);
    if (allowed) return refusal;
    return new AppError('too_many_failed_keys', 'Too many invalid keys came from this address.', {
      retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMs / 1_000)),
      cause: refusal,
    });
  }
}

// Rate limit for invalid API keys, by client address. Valid keys are always accepted, because clients may share an
// address with an attacker, and a key of 160 random bits cannot be guessed anyway.

import { AppError } from '../../shared/errors.ts';
import { toRetryAfter } from './assert-rate.ts';
import { networkOf } from './network.ts';
import { RateLimiter } from './rate-limiter.ts';

const RATE = { burst: 60, windowMs: 60_000 };

export class FailedKeys {
  readonly #rates = new RateLimiter();

  /** Returns the error to send: the refusal, or `too_many_failed_keys` when the address has sent too many. */
  judge(address: string, refusal: AppError): AppError {
    const { allowed, retryAfterMs } = this.#rates.take(networkOf(address), RATE);
    if (allowed) return refusal;
    return new AppError(
      'too_many_failed_keys',
      'Too many requests with invalid API keys came from this address. Check your key and try again later.',
      {
        retryAfterSeconds: toRetryAfter(retryAfterMs),
        cause: refusal,
      },
    );
  }
}

// Invalid keys, counted by address. A valid key is always let in: whoever shares an address with somebody who guesses must
// not suffer for it, and a key of 160 random bits is not guessed by trying.

import { isIPv6 } from 'node:net';
import { AppError } from '../errors.ts';
import { RateBook } from './admission.ts';

const RATE = { burst: 60, windowMs: 60_000 };

export class FailedKeys {
  readonly #rates = new RateBook();

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

/** Whoever has one IPv6 address has all of its network. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(?<v4>[\d.]+)$/iu.exec(address)?.groups?.['v4'];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = address.split('%', 1)[0]?.split('::') ?? [];
  const front = head === '' ? [] : head.split(':');
  const back = tail === '' ? [] : tail.split(':');
  const groups = [...front, ...Array.from({ length: 8 - front.length - back.length }, () => '0'), ...back];
  return `${groups.slice(0, 4).join(':')}::/64`;
}

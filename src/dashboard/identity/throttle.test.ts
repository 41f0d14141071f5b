import { describe, expect, it } from 'vitest';
import { RateBook } from '../../http/rate-book.ts';
import { Throttle } from './throttle.ts';

function triesUntilRefused(throttle: Throttle, next: (index: number) => [address: string, account: string]): number {
  for (let index = 0; index < 1_000; index += 1) {
    try {
      throttle.take('signIn', ...next(index));
    } catch {
      return index;
    }
  }
  return Number.POSITIVE_INFINITY;
}

describe('tries to sign in', () => {
  const frozen = (): Throttle => new Throttle(new RateBook(() => 1_000));

  it('are few from one address to one account', () => {
    expect(triesUntilRefused(frozen(), () => ['192.0.2.1', 'ann@example.com'])).toBe(10);
  });

  it('are limited from many addresses to one account, and from one address to many accounts', () => {
    expect(triesUntilRefused(frozen(), (index) => [`192.0.2.${index}`, 'ann@example.com'])).toBe(40);
    expect(triesUntilRefused(frozen(), (index) => ['192.0.2.1', `${index}@example.com`])).toBe(60);
  });

  it('from all of an IPv6 network are one machine’s', () => {
    expect(triesUntilRefused(frozen(), (index) => [`2001:db8::${index}`, 'ann@example.com'])).toBe(10);
  });

  it('do not lock the owner out of another address, and come back with time', () => {
    let now = 1_000;
    const throttle = new Throttle(new RateBook(() => now));
    triesUntilRefused(throttle, () => ['192.0.2.1', 'ann@example.com']);
    expect(() => throttle.take('signIn', '198.51.100.7', 'ann@example.com')).not.toThrow();
    expect(() => throttle.take('signIn', '192.0.2.1', 'ann@example.com')).toThrow('Too many tries');
    now += 15 * 60_000;
    expect(() => throttle.take('signIn', '192.0.2.1', 'ann@example.com')).not.toThrow();
  });
});

import { describe, expect, it } from 'vitest';
import { RateLimiter } from '../../http/limits/rate-limiter.ts';
import { Throttle } from './throttle.ts';

function throttleAt(now: () => number): Throttle {
  const book = new RateLimiter(now);
  return new Throttle({ take: async (name, rate) => book.take(name, rate) });
}

async function triesUntilRefused(
  throttle: Throttle,
  next: (index: number) => [address: string, account: string],
): Promise<number> {
  for (let index = 0; index < 1_000; index += 1) {
    try {
      await throttle.take('signIn', ...next(index));
    } catch {
      return index;
    }
  }
  return Number.POSITIVE_INFINITY;
}

describe('tries to sign in', () => {
  const frozen = (): Throttle => throttleAt(() => 1_000);

  it('are few from one address to one account', async () => {
    expect(await triesUntilRefused(frozen(), () => ['192.0.2.1', 'ann@example.com'])).toBe(10);
  });

  it('are limited from many addresses to one account, and from one address to many accounts', async () => {
    expect(await triesUntilRefused(frozen(), (index) => [`192.0.2.${index}`, 'ann@example.com'])).toBe(40);
    expect(await triesUntilRefused(frozen(), (index) => ['192.0.2.1', `${index}@example.com`])).toBe(60);
  });

  it('from all of an IPv6 network are one machine’s', async () => {
    expect(await triesUntilRefused(frozen(), (index) => [`2001:db8::${index}`, 'ann@example.com'])).toBe(10);
  });

  it('do not lock the owner out of another address, and come back with time', async () => {
    let now = 1_000;
    const throttle = throttleAt(() => now);
    await triesUntilRefused(throttle, () => ['192.0.2.1', 'ann@example.com']);
    await expect(throttle.take('signIn', '198.51.100.7', 'ann@example.com')).resolves.toBeUndefined();
    await expect(throttle.take('signIn', '192.0.2.1', 'ann@example.com')).rejects.toThrow('Too many tries');
    now += 15 * 60_000;
    await expect(throttle.take('signIn', '192.0.2.1', 'ann@example.com')).resolves.toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { RateLimiter } from '../../http/limits/rate-limiter.ts';
import { Throttle } from './throttle.ts';

function throttleAt(now: () => number): Throttle {
  const limiter = new RateLimiter(now);
  return new Throttle({ take: async (name, rate) => limiter.take(name, rate) });
}

async function attemptsUntilRejected(attempt: (index: number) => Promise<void>): Promise<number> {
  for (let index = 0; index < 1_000; index += 1) {
    try {
      await attempt(index);
    } catch {
      return index;
    }
  }
  return Number.POSITIVE_INFINITY;
}

describe('the sign-in throttle', () => {
  const frozen = (): Throttle => throttleAt(() => 1_000);
  const signIns = async (throttle: Throttle, next: (index: number) => [address: string, account: string]) =>
    await attemptsUntilRejected(async (index) => await throttle.take('signIn', ...next(index)));

  it('allows 10 attempts from one address to one account', async () => {
    expect(await signIns(frozen(), () => ['192.0.2.1', 'ann@example.com'])).toBe(10);
  });

  it('allows 40 attempts from many addresses to one account, and 60 from one address to many accounts', async () => {
    expect(await signIns(frozen(), (index) => [`192.0.2.${index}`, 'ann@example.com'])).toBe(40);
    expect(await signIns(frozen(), (index) => ['192.0.2.1', `${index}@example.com`])).toBe(60);
  });

  it('counts all addresses of an IPv6 network as one', async () => {
    expect(await signIns(frozen(), (index) => [`2001:db8::${index}`, 'ann@example.com'])).toBe(10);
  });

  it('leaves other addresses alone when one is rejected, and forgives that one with time', async () => {
    let now = 1_000;
    const throttle = throttleAt(() => now);
    await signIns(throttle, () => ['192.0.2.1', 'ann@example.com']);
    await expect(throttle.take('signIn', '198.51.100.7', 'ann@example.com')).resolves.toBeUndefined();
    await expect(throttle.take('signIn', '192.0.2.1', 'ann@example.com')).rejects.toThrow('Too many attempts');
    now += 15 * 60_000;
    await expect(throttle.take('signIn', '192.0.2.1', 'ann@example.com')).resolves.toBeUndefined();
  });

  it('allows 40 codes for a user and 40 more in the course of a day, from however many addresses', async () => {
    let now = 1_000;
    const throttle = throttleAt(() => now);
    let allowed = 0;
    for (let minute = 0; minute < 24 * 60; minute += 1) {
      now += 60_000;
      const attempt = throttle.takeCode(`192.0.2.${minute % 256}`, 'ann');
      allowed += await attempt.then(
        () => 1,
        () => 0,
      );
    }
    expect(allowed).toBeGreaterThanOrEqual(40);
    expect(allowed).toBeLessThanOrEqual(80);
    await expect(throttle.takeCode('192.0.2.1', 'bob')).resolves.toBeUndefined();
    now += 24 * 3_600_000;
    await expect(throttle.takeCode('192.0.2.1', 'ann')).resolves.toBeUndefined();
  });

  it('allows 10 attempts per known device, whatever strangers and other devices do', async () => {
    const throttle = frozen();
    await signIns(throttle, (index) => [`192.0.2.${index}`, 'ann@example.com']);
    expect(await attemptsUntilRejected(async () => await throttle.takeForDevice('laptop'))).toBe(10);
    expect(await attemptsUntilRejected(async () => await throttle.takeForDevice('phone'))).toBe(10);
  });
});

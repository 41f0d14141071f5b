import { describe, expect, it } from 'vitest';
import { RateLimiter } from '../../service/limits/rate-limiter.ts';
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

  it('the sign-in throttle allows 10 attempts from one address to one account', async () => {
    expect(await signIns(frozen(), () => ['192.0.2.1', 'ann@example.com'])).toBe(10);
  });

  it('the sign-in throttle allows 40 attempts from many networks to one account, and 60 from one address to many accounts', async () => {
    expect(await signIns(frozen(), (index) => [`192.0.${index}.1`, 'ann@example.com'])).toBe(40);
    expect(await signIns(frozen(), (index) => ['192.0.2.1', `${index}@example.com`])).toBe(60);
  });

  it('the sign-in throttle allows one network of 256 addresses half of the attempts to an account, and one more', async () => {
    expect(await signIns(frozen(), (index) => [`192.0.2.${index}`, 'ann@example.com'])).toBe(21);
  });

  it('the sign-in throttle allows a new network an attempt every 15 minutes while strangers on 15 others keep trying', async () => {
    let now = 1_000;
    const throttle = throttleAt(() => now);
    let allowed = 0;
    const attempt = async (address: string): Promise<boolean> =>
      await throttle.take('signIn', address, 'ann@example.com').then(
        () => true,
        () => false,
      );
    const keepTrying = async (minutes: number): Promise<void> => {
      for (let step = 0; step < minutes * 12; step += 1) {
        now += 5_000;
        for (let network = 0; network < 15; network += 1) {
          if (await attempt(`192.0.${network}.${step % 256}`)) allowed += 1;
        }
      }
    };
    await keepTrying(30);
    expect(await attempt('198.51.100.7')).toBe(true);
    // An attempt that is refused doesn't make the wait longer.
    await keepTrying(7);
    expect(await attempt('198.51.100.7')).toBe(false);
    await keepTrying(8);
    expect(await attempt('198.51.100.7')).toBe(true);
    await keepTrying(15);
    // A full bucket and an hour of refills, as without attempts for new networks.
    expect(allowed).toBeLessThanOrEqual(40 + 160);
  });

  it('the sign-in throttle counts all addresses of an IPv6 network as one', async () => {
    expect(await signIns(frozen(), (index) => [`2001:db8::${index}`, 'ann@example.com'])).toBe(10);
  });

  it('the sign-in throttle leaves other addresses alone when one is rejected, and forgives that one with time', async () => {
    let now = 1_000;
    const throttle = throttleAt(() => now);
    await signIns(throttle, () => ['192.0.2.1', 'ann@example.com']);
    await expect(throttle.take('signIn', '198.51.100.7', 'ann@example.com')).resolves.toBeUndefined();
    await expect(throttle.take('signIn', '192.0.2.1', 'ann@example.com')).rejects.toThrow('Too many attempts');
    now += 15 * 60_000;
    await expect(throttle.take('signIn', '192.0.2.1', 'ann@example.com')).resolves.toBeUndefined();
  });

  it('the sign-in throttle allows 40 codes for a user and 40 more in the course of a day, from however many addresses', async () => {
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

  it('the sign-in throttle allows 10 attempts per known device, whatever strangers and other devices do', async () => {
    const throttle = frozen();
    await signIns(throttle, (index) => [`192.0.2.${index}`, 'ann@example.com']);
    expect(await attemptsUntilRejected(async () => await throttle.takeForDevice('laptop'))).toBe(10);
    expect(await attemptsUntilRejected(async () => await throttle.takeForDevice('phone'))).toBe(10);
  });

  it('the sign-in throttle allows 20 sign-ups per network of 256 addresses and day, and those of other networks', async () => {
    let now = 1_000;
    const throttle = throttleAt(() => now);
    let allowed = 0;
    for (let minute = 0; minute < 24 * 60; minute += 10) {
      now += 10 * 60_000;
      const attempt = throttle.takeSignUp(`192.0.2.${minute % 256}`, `${minute}@example.com`);
      allowed += await attempt.then(
        () => 1,
        () => 0,
      );
    }
    expect(allowed).toBeGreaterThanOrEqual(20);
    expect(allowed).toBeLessThanOrEqual(40);
    await expect(throttle.takeSignUp('192.0.3.1', 'ann@example.com')).resolves.toBeUndefined();
  });

  it('the sign-in throttle counts all sign-ups of an IPv6 network that a customer gets, whatever its /64 networks', async () => {
    const throttle = frozen();
    const signUps = await attemptsUntilRejected(
      async (index) => await throttle.takeSignUp(`2001:db8:1:${index.toString(16)}::1`, `${index}@example.com`),
    );
    expect(signUps).toBe(20);
    await expect(throttle.takeSignUp('2001:db8:2::1', 'ann@example.com')).resolves.toBeUndefined();
  });

  it('the sign-in throttle allows three accounts of a mailbox to use live credits, and another one later', async () => {
    let now = 1_000;
    const throttle = throttleAt(() => now);
    const allowed = async () => await throttle.allowsLiveAccount('ann@example.com');
    expect([await allowed(), await allowed(), await allowed(), await allowed()]).toEqual([true, true, true, false]);
    expect(await throttle.allowsLiveAccount('bob@example.com')).toBe(true);
    now += 10 * 24 * 3_600_000;
    expect([await allowed(), await allowed()]).toEqual([true, false]);
  });

  it('the sign-in throttle lets no network use up the password resets of another', async () => {
    const throttle = frozen();
    const reset = async (index: number) => await throttle.take('reset', `192.0.2.${index}`, 'ann@example.com');
    expect(await attemptsUntilRejected(async () => await reset(1))).toBe(5);
    for (let index = 2; index < 200; index += 1) await reset(index);
    await expect(throttle.take('reset', '198.51.100.7', 'ann@example.com')).resolves.toBeUndefined();
  });

  it('the sign-in throttle lets no attempt to sign in with a password use up the attempts with a passkey', async () => {
    const throttle = frozen();
    await signIns(throttle, (index) => ['192.0.2.1', `${index}@example.com`]);
    await expect(throttle.takePasskey('192.0.2.1')).resolves.toBeUndefined();
  });
});

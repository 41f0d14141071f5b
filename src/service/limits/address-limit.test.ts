import { describe, expect, it } from 'vitest';
import { AddressLimit } from './address-limit.ts';
import { LocalLimits } from './local-limits.ts';
import { RateLimiter } from './rate-limiter.ts';

function limitOf(perMinute: number) {
  const clock = { now: 1_000_000 };
  const rates = new RateLimiter(() => clock.now);
  const limits = {
    take: async (...args: Parameters<RateLimiter['take']>) => await Promise.resolve(rates.take(...args)),
  };
  return { clock, limit: new AddressLimit(limits, 'requests', perMinute, 'minute') };
}

describe('AddressLimit', () => {
  it('the address limit allows a burst of requests, and further ones as the bucket refills', async () => {
    const { clock, limit } = limitOf(6);
    for (let time = 0; time < 6; time += 1) await limit.take('192.0.2.1');
    await expect(limit.take('192.0.2.1')).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 10 });
    await limit.take('192.0.2.2');
    clock.now += 10_000;
    await limit.take('192.0.2.1');
    await expect(limit.take('192.0.2.1')).rejects.toThrow(/6 requests per minute/u);
  });

  it('the address limit never allows a burst larger than the limit of one minute', async () => {
    const { clock, limit } = limitOf(2);
    await limit.take('192.0.2.1');
    clock.now += 3_600_000;
    await limit.take('192.0.2.1');
    await limit.take('192.0.2.1');
    await expect(limit.take('192.0.2.1')).rejects.toThrow(/2 requests per minute/u);
  });

  it('the address limit counts IPv6 addresses by their /64 network', async () => {
    const { limit } = limitOf(1);
    await limit.take('2001:db8:1:2::1');
    await expect(limit.take('2001:db8:1:2:ffff::9')).rejects.toThrow(/1 requests per minute/u);
    await limit.take('2001:db8:1:3::1');
  });

  it('the address limit counts an IPv4-mapped IPv6 address as the IPv4 address', async () => {
    const { limit } = limitOf(1);
    await limit.take('192.0.2.7');
    await expect(limit.take('::ffff:192.0.2.7')).rejects.toThrow(/1 requests per minute/u);
    await limit.take('::ffff:192.0.2.8');
  });

  it('the address limit limits each network per day, with servers that share the limits', async () => {
    const limits = new LocalLimits();
    const [one, other] = [1, 2].map(() => new AddressLimit(limits, 'renders', 2, 'day')) as [
      AddressLimit,
      AddressLimit,
    ];
    await one.take('192.0.2.1');
    await other.take('192.0.2.1');
    await expect(one.take('192.0.2.1')).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterSeconds: 43_200,
      message: expect.stringContaining('2 renders per day') as string,
    });
    await one.take('192.0.2.2');
  });

  it('the address limit counts previews and renders separately', async () => {
    const limits = new LocalLimits();
    await new AddressLimit(limits, 'renders', 1, 'day').take('192.0.2.1');
    await expect(new AddressLimit(limits, 'previews', 1, 'day').take('192.0.2.1')).resolves.toBeUndefined();
  });
});

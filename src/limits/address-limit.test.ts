import { describe, expect, it } from 'vitest';
import { AddressLimit, DailyAddressLimit } from './address-limit.ts';
import { LocalLimits } from './local-limits.ts';

function limitOf(perMinute: number) {
  const clock = { now: 1_000_000 };
  return { clock, limit: new AddressLimit(perMinute, () => clock.now) };
}

describe('AddressLimit', () => {
  it('allows a burst of requests, and further ones as the bucket refills', () => {
    const { clock, limit } = limitOf(6);
    for (let time = 0; time < 6; time += 1) limit.take('192.0.2.1');
    expect(() => limit.take('192.0.2.1')).toThrow(
      expect.objectContaining({ code: 'rate_limited', retryAfterSeconds: 10 }),
    );
    limit.take('192.0.2.2');
    clock.now += 10_000;
    limit.take('192.0.2.1');
    expect(() => limit.take('192.0.2.1')).toThrow(/6 requests per minute/u);
  });

  it('never allows a burst larger than the limit of one minute', () => {
    const { clock, limit } = limitOf(2);
    limit.take('192.0.2.1');
    clock.now += 3_600_000;
    limit.take('192.0.2.1');
    limit.take('192.0.2.1');
    expect(() => limit.take('192.0.2.1')).toThrow(/2 requests per minute/u);
  });

  it('counts IPv6 addresses by their /64 network', () => {
    const { limit } = limitOf(1);
    limit.take('2001:db8:1:2::1');
    expect(() => limit.take('2001:db8:1:2:ffff::9')).toThrow(/1 requests per minute/u);
    limit.take('2001:db8:1:3::1');
  });

  it('counts an IPv4-mapped IPv6 address as the IPv4 address', () => {
    const { limit } = limitOf(1);
    limit.take('192.0.2.7');
    expect(() => limit.take('::ffff:192.0.2.7')).toThrow(/1 requests per minute/u);
    limit.take('::ffff:192.0.2.8');
  });
});

describe('DailyAddressLimit', () => {
  it('limits each network per day, with servers that share the limits', async () => {
    const limits = new LocalLimits();
    const [one, other] = [new DailyAddressLimit(limits, 'renders', 2), new DailyAddressLimit(limits, 'renders', 2)];
    await one.take('192.0.2.1');
    await other.take('192.0.2.1');
    await expect(one.take('192.0.2.1')).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterSeconds: 43_200,
      message: expect.stringContaining('2 renders per day') as string,
    });
    await one.take('192.0.2.2');
  });

  it('counts previews and renders separately', async () => {
    const limits = new LocalLimits();
    await new DailyAddressLimit(limits, 'renders', 1).take('192.0.2.1');
    await expect(new DailyAddressLimit(limits, 'previews', 1).take('192.0.2.1')).resolves.toBeUndefined();
  });
});

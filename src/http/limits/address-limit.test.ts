import { describe, expect, it } from 'vitest';
import { AddressLimit } from './address-limit.ts';

function limitOf(perMinute: number) {
  const clock = { now: 1_000_000 };
  return { clock, limit: new AddressLimit(perMinute, () => clock.now) };
}

describe('an address', () => {
  it('may ask so many times at once, and again after a while', () => {
    const { clock, limit } = limitOf(6);
    for (let time = 0; time < 6; time += 1) limit.take('192.0.2.1');
    expect(() => limit.take('192.0.2.1')).toThrow(
      expect.objectContaining({ code: 'rate_limited', retryAfterSeconds: 10 }),
    );
    limit.take('192.0.2.2');
    clock.now += 10_000;
    limit.take('192.0.2.1');
    expect(() => limit.take('192.0.2.1')).toThrow(/6 a minute/u);
  });

  it('never gathers more than a minute of patience', () => {
    const { clock, limit } = limitOf(2);
    limit.take('192.0.2.1');
    clock.now += 3_600_000;
    limit.take('192.0.2.1');
    limit.take('192.0.2.1');
    expect(() => limit.take('192.0.2.1')).toThrow(/2 a minute/u);
  });

  it('of version 6 counts with its whole network', () => {
    const { limit } = limitOf(1);
    limit.take('2001:db8:1:2::1');
    expect(() => limit.take('2001:db8:1:2:ffff::9')).toThrow(/1 a minute/u);
    limit.take('2001:db8:1:3::1');
  });

  it('of version 4 is the same in the clothes of version 6', () => {
    const { limit } = limitOf(1);
    limit.take('192.0.2.7');
    expect(() => limit.take('::ffff:192.0.2.7')).toThrow(/1 a minute/u);
    limit.take('::ffff:192.0.2.8');
  });
});

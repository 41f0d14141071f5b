import { describe, expect, it } from 'vitest';
import { AppError } from '../../shared/errors.ts';
import { FailedKeys } from './failed-keys.ts';
import { networkOf, wideNetworkOf } from './network.ts';

describe('networkOf', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('maps %s to %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

describe('wideNetworkOf', () => {
  it.each([
    ['192.0.2.7', '192.0.2.0/24'],
    ['::ffff:192.0.2.200', '192.0.2.0/24'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    ['2001:db8::1', '2001:db8:0::/48'],
  ])('maps %s to %s', (address, network) => {
    expect(wideNetworkOf(address)).toBe(network);
  });
});

describe('FailedKeys', () => {
  it('limits each network separately', () => {
    const failed = new FailedKeys();
    const refusal = new AppError('invalid_api_key', 'no');
    const codes = Array.from({ length: 70 }, (_, index) => failed.judge(`2001:db8::${index}`, refusal).code);
    expect(codes.slice(0, 60).every((code) => code === 'invalid_api_key')).toBe(true);
    expect(codes.at(-1)).toBe('too_many_failed_keys');
    expect(failed.judge('192.0.2.7', refusal).code).toBe('invalid_api_key');
  });
});

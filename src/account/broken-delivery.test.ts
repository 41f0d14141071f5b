import { describe, expect, it } from 'vitest';
import { allowedBroken, almostAllOf, isBrokenCharged } from './broken-delivery.ts';

describe('a broken delivery', () => {
  it('counts as almost complete from 95 % of the bytes', () => {
    expect([almostAllOf(0), almostAllOf(1), almostAllOf(100), almostAllOf(1_001)]).toEqual([0, 1, 95, 951]);
  });

  it('is free 20 times per period, plus 2 % of the delivered renders', () => {
    expect([0, 49, 50, 10_000].map((delivered) => allowedBroken({ delivered }))).toEqual([20, 20, 21, 220]);
  });

  it('is charged when almost all bytes were sent and the allowance is used up', () => {
    expect(isBrokenCharged(true, { delivered: 0, brokenFree: 19, brokenCharged: 0 })).toBe(false);
    expect(isBrokenCharged(true, { delivered: 0, brokenFree: 20, brokenCharged: 0 })).toBe(true);
    expect(isBrokenCharged(false, { delivered: 0, brokenFree: 500, brokenCharged: 9 })).toBe(false);
  });

  it('is free again when delivered renders have raised the allowance', () => {
    expect(isBrokenCharged(true, { delivered: 50, brokenFree: 20, brokenCharged: 7 })).toBe(false);
  });
});

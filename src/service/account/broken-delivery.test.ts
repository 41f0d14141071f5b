import { describe, expect, it } from 'vitest';
import { allowedBroken, isBrokenCharged } from './broken-delivery.ts';

describe('a broken delivery', () => {
  it('a broken delivery is free 20 times per period, plus 2 % of the delivered renders', () => {
    expect([0, 49, 50, 10_000].map((delivered) => allowedBroken({ delivered }))).toEqual([20, 20, 21, 220]);
  });

  it('a broken delivery is charged when the allowance is used up', () => {
    expect(isBrokenCharged({ delivered: 0, brokenFree: 19, brokenCharged: 0 })).toBe(false);
    expect(isBrokenCharged({ delivered: 0, brokenFree: 20, brokenCharged: 0 })).toBe(true);
    expect(isBrokenCharged({ delivered: 0, brokenFree: 500, brokenCharged: 9 })).toBe(true);
  });

  it('a broken delivery is free again when delivered renders have raised the allowance', () => {
    expect(isBrokenCharged({ delivered: 50, brokenFree: 20, brokenCharged: 7 })).toBe(false);
  });
});

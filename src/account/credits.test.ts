import { describe, expect, it } from 'vitest';
import { priceOf, remaining } from './credits.ts';

describe('credits', () => {
  it('that are held count as gone, and nothing is less than nothing', () => {
    expect(remaining({ used: 30, reserved: 20, limit: 100 })).toBe(50);
    expect(remaining({ used: 90, reserved: 10, limit: 100 })).toBe(0);
    expect(remaining({ used: 90, reserved: 10, limit: 50 })).toBe(0);
  });

  it('cost nothing with a test key', () => {
    expect([priceOf('live', 12), priceOf('test', 12), priceOf('live', 0)]).toEqual([12, 0, 0]);
  });
});

import { describe, expect, it } from 'vitest';
import { remaining } from './credits.ts';

describe('credits', () => {
  it('credits that are held count as used, and the remaining credits are never negative', () => {
    expect(remaining({ used: 30, reserved: 20, limit: 100 })).toBe(50);
    expect(remaining({ used: 90, reserved: 10, limit: 100 })).toBe(0);
    expect(remaining({ used: 90, reserved: 10, limit: 50 })).toBe(0);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomCases } from '../../../test/random-cases.ts';
import { periodHolding } from './period.ts';

const days = (anchor: string, at: string): string[] => {
  const { startsAt, endsAt } = periodHolding(new Date(anchor), new Date(at));
  return [startsAt.toISOString().slice(0, 10), endsAt.toISOString().slice(0, 10)];
};

describe('a billing period', () => {
  it.each([
    ['that starts on an ordinary day', '2026-01-15T08:00Z', '2026-03-20T00:00Z', '2026-03-15', '2026-04-15'],
    ['that starts on the 31st, in February', '2026-01-31T08:00Z', '2026-02-10T00:00Z', '2026-01-31', '2026-02-28'],
    ['that starts on the 31st, after February', '2026-01-31T08:00Z', '2026-03-01T00:00Z', '2026-02-28', '2026-03-31'],
    ['that starts on the 31st, in April', '2026-01-31T08:00Z', '2026-04-30T09:00Z', '2026-04-30', '2026-05-31'],
    ['that starts on the 30th, in a leap year', '2023-11-30T08:00Z', '2024-02-29T08:00Z', '2024-02-29', '2024-03-30'],
    ['that starts on the 29th, in a leap year', '2024-01-29T08:00Z', '2024-03-01T08:00Z', '2024-02-29', '2024-03-29'],
    ['that starts on February 29, a year later', '2024-02-29T08:00Z', '2025-02-28T08:00Z', '2025-02-28', '2025-03-29'],
    [
      'that starts on February 29, four years later',
      '2024-02-29T08:00Z',
      '2028-02-29T08:00Z',
      '2028-02-29',
      '2028-03-29',
    ],
    ['across the turn of the year', '2025-12-31T08:00Z', '2026-01-01T00:00Z', '2025-12-31', '2026-01-31'],
    ['at the moment before it ends', '2026-01-15T08:00Z', '2026-02-15T07:59:59.999Z', '2026-01-15', '2026-02-15'],
    ['at the moment it ends', '2026-01-15T08:00Z', '2026-02-15T08:00Z', '2026-02-15', '2026-03-15'],
    ['at a time before the subscription started', '2026-01-15T08:00Z', '2025-06-01T08:00Z', '2026-01-15', '2026-02-15'],
  ])('%s has the right dates', (_name, anchor, at, startsOn, endsOn) => {
    expect(days(anchor, at)).toEqual([startsOn, endsOn]);
  });

  it('a billing period keeps the time of day', () => {
    expect(periodHolding(new Date('2026-01-31T23:59:59.999Z'), new Date('2026-02-28T23:59:59.999Z'))).toEqual({
      startsAt: new Date('2026-02-28T23:59:59.999Z'),
      endsAt: new Date('2026-03-31T23:59:59.999Z'),
    });
  });

  it('a billing period contains every moment exactly once, without gaps or overlaps', () => {
    const date = fc.date({ min: new Date('1999-01-01'), max: new Date('2105-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(date, fc.nat(40 * 366 * 86_400_000), (anchor, later) => {
        const at = new Date(anchor.getTime() + later);
        const { startsAt, endsAt } = periodHolding(anchor, at);
        expect(startsAt <= at && at < endsAt).toBe(true);
        const length = (endsAt.getTime() - startsAt.getTime()) / 86_400_000;
        expect(length).toBeGreaterThanOrEqual(28);
        expect(length).toBeLessThanOrEqual(31);
        expect(periodHolding(anchor, endsAt).startsAt).toEqual(endsAt);
        const before = periodHolding(anchor, new Date(startsAt.getTime() - 1));
        expect(startsAt > anchor ? before.endsAt : before.startsAt).toEqual(startsAt);
      }),
      { numRuns: randomCases({ usually: 1_000, all: 5_000 }) },
    );
  });
});

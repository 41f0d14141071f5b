import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Rate, take } from './gcra.ts';

const RATE: Rate = { burst: 60, windowMs: 60_000 };

/** Returns the arrivals that were allowed. */
function run(rate: Rate, arrivals: readonly number[]): number[] {
  let fullAt = 0;
  return arrivals.filter((now) => {
    const verdict = take(rate, fullAt, now);
    fullAt = verdict.fullAt;
    return verdict.allowed;
  });
}

describe('the generic cell rate algorithm', () => {
  it('a rate limit allows a full burst, then one request per interval', () => {
    expect(
      run(
        RATE,
        Array.from({ length: 100 }, () => 5_000),
      ),
    ).toHaveLength(60);
    const after = Array.from({ length: 100 }, () => 5_000).concat([5_999, 6_000, 6_001, 7_000]);
    expect(run(RATE, after).slice(60)).toEqual([6_000, 7_000]);
  });

  it('a rate limit returns how many requests remain and when to try again', () => {
    const first = take(RATE, 0, 1_000);
    expect(first).toEqual({ allowed: true, fullAt: 2_000, remaining: 59, retryAfterMs: 0 });
    expect(take(RATE, 61_000, 1_000)).toEqual({ allowed: false, fullAt: 61_000, remaining: 0, retryAfterMs: 1_000 });
    expect(take(RATE, 61_000, 1_400)).toMatchObject({ allowed: false, retryAfterMs: 600 });
    expect(take(RATE, 61_000, 2_000)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it('the generic cell rate algorithm never allows more than a burst plus the refill, and never less than a burst', () => {
    const rate = fc.record({ burst: fc.integer({ min: 1, max: 7_000 }), windowMs: fc.constantFrom(1_000, 60_000) });
    const gaps = fc.array(fc.oneof(fc.constant(0), fc.double({ min: 0, max: 3_000, noNaN: true })), { maxLength: 300 });
    fc.assert(
      fc.property(rate, gaps, (limit, pauses) => {
        let now = 1e9;
        const arrivals = pauses.map((pause) => (now += pause));
        const allowed = run(limit, arrivals);
        const perMs = limit.burst / limit.windowMs;
        for (const [index, from] of allowed.entries()) {
          for (const [more, to] of allowed.slice(index).entries()) {
            expect(more + 1).toBeLessThanOrEqual(limit.burst + (to - from) * perMs + 1e-3);
          }
        }
        expect(allowed.length).toBeGreaterThanOrEqual(Math.min(arrivals.length, limit.burst));
      }),
      { numRuns: 300 },
    );
  });

  it('a rate limit allows a request after the wait it asked for', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999 }), fc.nat(100_000), fc.nat(100_000), (burst, fullAt, now) => {
        const rate = { burst, windowMs: 60_000 };
        const { allowed, retryAfterMs } = take(rate, fullAt, now);
        expect(allowed).toBe(retryAfterMs === 0);
        expect(take(rate, fullAt, now + retryAfterMs).allowed).toBe(true);
      }),
    );
  });
});

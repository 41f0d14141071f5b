import { describe, expect, it, vi } from 'vitest';
import { randomCases } from '../../../test/random-cases.ts';
import { RateLimiter } from './rate-limiter.ts';

const RATE = { burst: 3, windowMs: 3_000 };

/** Counts the operations on maps while `work` runs. Steps of an iteration count extra, because each may skip many entries. */
function countMapOperations(work: () => void): { lookups: number; steps: number } {
  const iterator = Object.getPrototypeOf(new Map().entries()) as MapIterator<unknown>;
  const lookups = (['get', 'set', 'delete'] as const).map((method) => vi.spyOn(Map.prototype, method));
  const steps = vi.spyOn(iterator, 'next');
  try {
    work();
    return { lookups: lookups.reduce((sum, spy) => sum + spy.mock.calls.length, 0), steps: steps.mock.calls.length };
  } finally {
    for (const spy of [...lookups, steps]) spy.mockRestore();
  }
}

describe('RateLimiter', () => {
  it('allows a burst, then one request at a time as the bucket refills', () => {
    let now = 0;
    const limiter = new RateLimiter(() => now);
    const allowed = (): boolean => limiter.take('a', RATE).allowed;
    expect([allowed(), allowed(), allowed(), allowed()]).toEqual([true, true, true, false]);
    now = 1_000;
    expect([allowed(), allowed()]).toEqual([true, false]);
    now = 10_000;
    expect([allowed(), allowed(), allowed(), allowed()]).toEqual([true, true, true, false]);
  });

  it('counts a large request as several, and refuses it while fewer are left', () => {
    const limiter = new RateLimiter(() => 0);
    expect(limiter.take('a', RATE, 2)).toMatchObject({ allowed: true, remaining: 1 });
    expect(limiter.take('a', RATE, 2)).toMatchObject({ allowed: false, retryAfterMs: 1_000 });
    expect(limiter.take('a', RATE)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it('says when the bucket is full again', () => {
    let now = 5_000;
    const limiter = new RateLimiter(() => now);
    expect(limiter.take('a', RATE)).toMatchObject({ remaining: 2, fullInMs: 1_000 });
    now = 5_500;
    expect(limiter.take('a', RATE)).toMatchObject({ remaining: 1, fullInMs: 1_500 });
  });

  it('gives one request back, and nothing to a name that it does not know', () => {
    const limiter = new RateLimiter(() => 5_000);
    limiter.take('a', RATE, 3);
    limiter.giveBack('a', RATE);
    limiter.giveBack('b', RATE);
    expect(limiter.size).toBe(1);
    expect([limiter.take('a', RATE).allowed, limiter.take('a', RATE).allowed]).toEqual([true, false]);
    expect(limiter.take('b', RATE)).toMatchObject({ remaining: 2 });
  });

  it('keeps a name that is in use while a flood of other names comes and goes', () => {
    const limiter = new RateLimiter(() => 0);
    for (let count = 0; count < 3; count += 1) limiter.take('busy', RATE);
    for (let round = 0; round < 4; round += 1) {
      for (let index = 0; index < 50_000; index += 1) limiter.take(`other ${round} ${index}`, RATE);
      expect(limiter.take('busy', RATE).allowed).toBe(false);
    }
  });

  it('keeps its size bounded and its cost per call flat over many more names than it keeps', () => {
    const limiter = new RateLimiter(() => 0);
    for (let index = 0; index < randomCases({ usually: 150_000, all: 1_000_000 }); index += 1)
      limiter.take(`name ${index}`, RATE);
    expect(limiter.size).toBe(100_000);
    const calls = 100;
    const { lookups, steps } = countMapOperations(() => {
      for (let index = 0; index < calls; index += 1) limiter.take(`late ${index}`, RATE);
    });
    expect(lookups).toBeGreaterThan(calls);
    expect(lookups).toBeLessThanOrEqual(8 * calls);
    expect(steps).toBe(0);
    expect(limiter.size).toBe(100_000);
  });
});

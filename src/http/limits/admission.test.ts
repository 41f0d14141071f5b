import { describe, expect, it } from 'vitest';
import { DEFAULT_PLANS } from '../../account/plans.ts';
import { Admission } from './admission.ts';
import type { Caller } from '../access/caller.ts';
import { LocalLimits } from './local-limits.ts';
import { RateLimiter } from './rate-limiter.ts';

const NOW = new Date('2026-03-01T00:00:00Z');
const CALLER: Caller = {
  accountId: 'a',
  keyId: 'k',
  mode: 'live',
  plan: { ...DEFAULT_PLANS.get('free'), concurrentRenders: 2 },
  subscription: {
    plan: 'free',
    nextPlan: null,
    status: 'active',
    renews: true,
    provider: 'manual',
    anchorAt: NOW,
    period: { startsAt: NOW, endsAt: NOW },
  },
};

describe('a bucket', () => {
  it('lets a burst in, then one at a time, and forgets buckets that are full', () => {
    let now = 0;
    const book = new RateLimiter(() => now);
    const rate = { burst: 3, windowMs: 3_000 };
    const allowed = (): boolean => book.take('a', rate).allowed;
    expect([allowed(), allowed(), allowed(), allowed()]).toEqual([true, true, true, false]);
    now = 1_000;
    expect([allowed(), allowed()]).toEqual([true, false]);
    now = 10_000;
    for (let index = 0; index < 10_001; index += 1) book.take(`other ${index}`, rate);
    expect([allowed(), allowed(), allowed(), allowed()]).toEqual([true, true, true, false]);
  });
});

describe('places', () => {
  it('are given back once, however often it is said', async () => {
    const admission = new Admission(new LocalLimits());
    const leave = await admission.enter(CALLER);
    await admission.enter(CALLER);
    await expect(admission.enter(CALLER)).rejects.toMatchObject({ code: 'too_many_renders' });
    leave();
    leave();
    await admission.enter(CALLER);
    await expect(admission.enter(CALLER)).rejects.toMatchObject({ code: 'too_many_renders' });
  });
});

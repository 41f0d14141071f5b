import { describe, expect, it } from 'vitest';
import { DEFAULT_PLANS } from '../../account/plans.ts';
import { AppError } from '../../../shared/errors.ts';
import { Admission } from './admission.ts';
import type { Caller } from '../../account/caller.ts';
import { FailedDecodes } from '../../limits/failed-decodes.ts';
import { LocalLimits } from '../../limits/local-limits.ts';
import { RateLimiter } from '../../limits/rate-limiter.ts';

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
const LIMITED: Caller = { ...CALLER, plan: { ...CALLER.plan, requestsPerMinute: 3 } };

/** Limits whose time stands still. */
class StillLimits extends LocalLimits {
  readonly #still = new RateLimiter(() => 0);

  override async take(...args: Parameters<RateLimiter['take']>): ReturnType<LocalLimits['take']> {
    return this.#still.take(...args);
  }
}

const newAdmission = (failed = new FailedDecodes(new StillLimits())): Admission =>
  new Admission(new StillLimits(), failed);

/** Counts a request and returns its rate limit headers and its error. */
async function headersOf(
  count: (setHeaders: (headers: Record<string, string>) => void) => Promise<void>,
): Promise<{ readonly headers: Record<string, string>; readonly error: unknown }> {
  let headers: Record<string, string> = {};
  const error = await count((each) => {
    headers = each;
  }).catch((reason: unknown) => reason);
  return { headers, error };
}

describe('Admission', () => {
  it('refuses requests beyond the rate of the plan, and says how many are left', async () => {
    const admission = newAdmission();
    const request = async () => await headersOf(async (set) => await admission.countRequest(LIMITED, set));
    expect(await request()).toEqual({
      headers: { 'ratelimit-policy': '"burst";q=3;w=60', ratelimit: '"burst";r=2;t=20' },
      error: undefined,
    });
    await request();
    await request();
    const refused = await request();
    expect(refused.headers['ratelimit']).toBe('"burst";r=0;t=20');
    expect(refused.error).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 20 });
  });

  it('counts requests that render nothing apart, with ten times the rate', async () => {
    const admission = newAdmission();
    for (let count = 0; count < 3; count += 1) await admission.countRequest(LIMITED, () => undefined);
    const first = await headersOf(async (set) => await admission.countFreeRequest(LIMITED, set));
    expect(first.headers['ratelimit-policy']).toBe('"burst";q=30;w=60');
    expect(first.headers['ratelimit']).toBe('"burst";r=29;t=2');
    const large = await headersOf(async (set) => await admission.countFreeRequest(LIMITED, set, 20));
    expect(large.headers['ratelimit']).toBe('"burst";r=9;t=42');
    const tooLarge = await headersOf(async (set) => await admission.countFreeRequest(LIMITED, set, 20));
    expect(tooLarge.error).toMatchObject({ code: 'rate_limited' });
    const other = { ...LIMITED, accountId: 'b' };
    expect((await headersOf(async (set) => await admission.countFreeRequest(other, set, 20))).error).toBeUndefined();
  });

  it('refuses an account whose files keep failing to decode, with the rate limit headers of any request', async () => {
    const failed = new FailedDecodes(new StillLimits());
    for (let count = 0; count < 3; count += 1)
      await failed.count(LIMITED, new AppError('asset_undecodable', 'damaged'));
    const admission = newAdmission(failed);
    const { headers, error } = await headersOf(async (set) => await admission.countRequest(LIMITED, set));
    expect(error).toMatchObject({ code: 'too_many_failures' });
    expect(headers).toHaveProperty('ratelimit');
  });

  it('gives uploads of asynchronous renders places of their own, as many as render slots', async () => {
    const admission = newAdmission();
    await admission.enter(CALLER);
    await admission.enter(CALLER);
    const leave = await admission.enterUpload(CALLER);
    await admission.enterUpload(CALLER);
    await expect(admission.enterUpload(CALLER)).rejects.toMatchObject({
      code: 'too_many_queued',
      retryAfterSeconds: 1,
    });
    await admission.enterUpload({ ...CALLER, accountId: 'b' });
    leave();
    await admission.enterUpload(CALLER);
  });

  it('counts the admitted requests of all accounts that are still running', async () => {
    const admission = newAdmission();
    const leave = await admission.enter(CALLER);
    const leaveUpload = await admission.enterUpload({ ...CALLER, accountId: 'b' });
    expect(admission.inside).toBe(2);
    leave();
    leave();
    expect(admission.inside).toBe(1);
    leaveUpload();
    expect(admission.inside).toBe(0);
  });

  it('releases a render slot only once, however often the release is called', async () => {
    const admission = newAdmission();
    const release = await admission.enter(CALLER);
    await admission.enter(CALLER);
    await expect(admission.enter(CALLER)).rejects.toMatchObject({ code: 'too_many_renders', retryAfterSeconds: 1 });
    release();
    release();
    await admission.enter(CALLER);
    await expect(admission.enter(CALLER)).rejects.toMatchObject({ code: 'too_many_renders' });
  });
});

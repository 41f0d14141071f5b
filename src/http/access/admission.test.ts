import { describe, expect, it } from 'vitest';
import { DEFAULT_PLANS } from '../../account/plans.ts';
import { Admission } from './admission.ts';
import type { Caller } from '../../account/caller.ts';
import { FailedDecodes } from '../../limits/failed-decodes.ts';
import { LocalLimits } from '../../limits/local-limits.ts';

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

describe('Admission', () => {
  it('releases a render slot only once, however often the release is called', async () => {
    const admission = new Admission(new LocalLimits(), new FailedDecodes(new LocalLimits()));
    const release = await admission.enter(CALLER);
    await admission.enter(CALLER);
    await expect(admission.enter(CALLER)).rejects.toMatchObject({ code: 'too_many_renders' });
    release();
    release();
    await admission.enter(CALLER);
    await expect(admission.enter(CALLER)).rejects.toMatchObject({ code: 'too_many_renders' });
  });
});

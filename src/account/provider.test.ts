import { describe, expect, it } from 'vitest';
import { afterProvider, type ProviderSubscription } from './provider.ts';
import { type Subscription, changeDue, withPlan } from './subscription.ts';

const at = (day: string): Date => new Date(`2026-${day}T00:00:00Z`);
const period = { startsAt: at('03-10'), endsAt: at('04-10') };
const paid: Subscription = {
  plan: 'pro',
  nextPlan: null,
  status: 'active',
  renews: true,
  provider: 'stripe',
  anchorAt: at('01-10'),
  period,
};
const active: ProviderSubscription = { subscription: 'sub_1', plan: 'pro', status: 'active', renews: true, period };
const over: ProviderSubscription = { ...active, status: 'inactive', renews: false };
const now = at('03-20');
const granted = (plan: string): Subscription => withPlan(undefined, plan, 'now', now);

describe('what the provider says', () => {
  it('starts a paid subscription over nothing and over a free one', () => {
    expect(afterProvider(undefined, active, now)).toEqual({ ...paid, anchorAt: period.startsAt });
    expect(afterProvider(granted('free'), active, now)).toEqual({ ...paid, anchorAt: period.startsAt });
  });

  it('keeps the day a paid one began on', () => {
    expect(afterProvider(paid, { ...active, plan: 'business', nextPlan: 'pro' }, now)).toEqual({
      ...paid,
      plan: 'business',
      nextPlan: 'pro',
    });
  });

  it('ends a paid one, and begins it again when it is paid again', () => {
    const ended = afterProvider(paid, over, now);
    expect(ended).toMatchObject({ plan: 'pro', status: 'inactive' });
    expect(afterProvider(ended, active, now)).toEqual(paid);
  });

  it('ends a paid one whose price no longer belongs to a plan', () => {
    expect(afterProvider(paid, { ...over, plan: undefined }, now)).toMatchObject({ plan: 'pro', status: 'inactive' });
    expect(afterProvider(paid, undefined, now)).toMatchObject({ plan: 'pro', status: 'inactive' });
  });

  it('goes on with the free plan once, on its own', () => {
    const later = at('04-10');
    const free = afterProvider(paid, { ...over, followedBy: 'free' }, later);
    expect(free).toEqual(withPlan(undefined, 'free', 'now', later));
    expect(afterProvider(free, { ...over, followedBy: 'free' }, at('04-25'))).toBe(free);
  });

  it('goes on with a period that runs, so that what was used in it stays used', () => {
    const free = afterProvider(paid, { ...over, followedBy: 'free' }, now);
    expect(free).toEqual({ ...paid, plan: 'free', provider: 'manual' });
  });

  it('does not touch what it does not pay for', () => {
    const business = granted('business');
    expect(afterProvider(business, over, now)).toBe(business);
    expect(afterProvider(business, undefined, now)).toBe(business);
    expect(afterProvider(undefined, over, now)).toBeUndefined();
  });
});

describe('the turn of a paid subscription', () => {
  it('lapses when it was cancelled, and waits for the provider when another plan follows', () => {
    const after = at('04-11');
    expect(changeDue({ ...paid, renews: false }, after)).toEqual({ kind: 'lapsed' });
    expect(changeDue({ ...paid, renews: false, nextPlan: 'free' }, after)).toEqual({ kind: 'none' });
    expect(changeDue({ ...paid, renews: false, nextPlan: 'free' }, at('04-14'))).toEqual({ kind: 'lapsed' });
  });
});

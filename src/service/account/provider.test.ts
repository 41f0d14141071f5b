import { describe, expect, it } from 'vitest';
import { applyProviderState, type ProviderSubscription } from './provider.ts';
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

describe('applyProviderState', () => {
  it('starts a paid subscription in place of none or of a free one', () => {
    expect(applyProviderState(undefined, active, now)).toEqual({ ...paid, anchorAt: period.startsAt });
    expect(applyProviderState(granted('free'), active, now)).toEqual({ ...paid, anchorAt: period.startsAt });
  });

  it('keeps the day on which a paid subscription started', () => {
    expect(applyProviderState(paid, { ...active, plan: 'business', nextPlan: 'pro' }, now)).toEqual({
      ...paid,
      plan: 'business',
      nextPlan: 'pro',
    });
  });

  it('ends a paid subscription, and resumes it when it is paid again', () => {
    const ended = applyProviderState(paid, over, now);
    expect(ended).toMatchObject({ plan: 'pro', status: 'inactive' });
    expect(applyProviderState(ended, active, now)).toEqual(paid);
  });

  it('ends a paid subscription whose price no longer belongs to a plan', () => {
    expect(applyProviderState(paid, { ...over, plan: undefined }, now)).toMatchObject({
      plan: 'pro',
      status: 'inactive',
    });
    expect(applyProviderState(paid, undefined, now)).toMatchObject({ plan: 'pro', status: 'inactive' });
  });

  it('continues with the free plan when that was chosen, without the provider', () => {
    const later = at('04-10');
    const free = applyProviderState(paid, { ...over, followedBy: 'free' }, later);
    expect(free).toEqual(withPlan(undefined, 'free', 'now', later));
    expect(applyProviderState(free, { ...over, followedBy: 'free' }, at('04-25'))).toBe(free);
  });

  it('starts the chosen free plan even if no event of the paid subscription arrived', () => {
    expect(applyProviderState(undefined, { ...over, followedBy: 'free' }, now)).toEqual(granted('free'));
  });

  it('continues the current period with what was used in it', () => {
    const free = applyProviderState(paid, { ...over, followedBy: 'free' }, now);
    expect(free).toEqual({ ...paid, plan: 'free', provider: 'manual' });
  });

  it('leaves a subscription alone that is not paid through the provider', () => {
    const business = granted('business');
    expect(applyProviderState(business, over, now)).toBe(business);
    expect(applyProviderState(business, undefined, now)).toBe(business);
    expect(applyProviderState(undefined, over, now)).toBeUndefined();
  });
});

describe('the end of the period of a paid subscription', () => {
  it('the end of a paid period ends a canceled subscription, and waits for the provider when another plan follows', () => {
    const after = at('04-11');
    expect(changeDue({ ...paid, renews: false }, after)).toEqual({ kind: 'lapsed' });
    expect(changeDue({ ...paid, renews: false, nextPlan: 'free' }, after)).toEqual({ kind: 'none' });
    expect(changeDue({ ...paid, renews: false, nextPlan: 'free' }, at('04-14'))).toEqual({ kind: 'lapsed' });
  });
});

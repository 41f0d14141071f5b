import { describe, expect, it } from 'vitest';
import { applyChange, type Subscription, changeDue, isUnusual, withPlan } from './subscription.ts';

const date = (text: string): Date => new Date(text);
const SUBSCRIPTION: Subscription = {
  plan: 'pro',
  nextPlan: null,
  status: 'active',
  renews: true,
  provider: 'manual',
  anchorAt: date('2026-01-31T00:00Z'),
  period: { startsAt: date('2026-01-31T00:00Z'), endsAt: date('2026-02-28T00:00Z') },
};
const END = SUBSCRIPTION.period.endsAt;
const later = (hours: number): Date => new Date(END.getTime() + hours * 3_600_000);
const NEXT = { startsAt: END, endsAt: date('2026-03-31T00:00Z') };

describe('changeDue', () => {
  it.each<[string, Partial<Subscription>, Date, unknown]>([
    ['nothing before the end of the period', {}, later(-0.001), { kind: 'none' }],
    ['a renewal at the end of the period', {}, END, { kind: 'renewed', plan: 'pro', period: NEXT }],
    [
      'a renewal with the plan that was chosen for the next period',
      { nextPlan: 'free' },
      END,
      { kind: 'renewed', plan: 'free', period: NEXT },
    ],
    [
      'a renewal of a marketplace subscription',
      { provider: 'marketplace' },
      END,
      { kind: 'renewed', plan: 'pro', period: NEXT },
    ],
    ['the end of a canceled subscription', { renews: false }, END, { kind: 'lapsed' }],
    ['nothing for an inactive subscription', { status: 'inactive' }, later(9_999), { kind: 'none' }],
    ['nothing while a payment is pending', { provider: 'stripe' }, later(71.999), { kind: 'none' }],
    ['the end when the payment did not arrive', { provider: 'stripe' }, later(72), { kind: 'lapsed' }],
    [
      'the end of a canceled paid subscription, without a wait',
      { provider: 'stripe', renews: false },
      END,
      { kind: 'lapsed' },
    ],
    ['nothing when the clock goes back by less than a day', {}, date('2026-01-30T00:01Z'), { kind: 'none' }],
    [
      'a correction when the period starts in the future',
      { period: NEXT },
      date('2026-02-10'),
      { kind: 'corrected', period: SUBSCRIPTION.period },
    ],
    [
      'a correction when the subscription started in the future, with the same day of the month',
      {},
      date('2024-03-10'),
      { kind: 'corrected', period: { startsAt: date('2024-02-29T00:00Z'), endsAt: date('2024-03-31T00:00Z') } },
    ],
    [
      'a correction when a canceled subscription has ended before its period',
      { status: 'inactive', renews: false },
      date('2026-02-10'),
      { kind: 'corrected', period: SUBSCRIPTION.period },
    ],
    [
      'nothing when the period of a payment provider starts later',
      { provider: 'stripe' },
      date('2020-01-01'),
      { kind: 'none' },
    ],
  ])('returns %s', (_name, changes, now, expected) => {
    expect(changeDue({ ...SUBSCRIPTION, ...changes }, now)).toEqual(expected);
  });

  it('renews into the current period, once, after months without a request', () => {
    const now = date('2026-08-15T00:00Z');
    const after = applyChange(SUBSCRIPTION, changeDue(SUBSCRIPTION, now));
    expect(after.period).toEqual({ startsAt: date('2026-07-31T00:00Z'), endsAt: date('2026-08-31T00:00Z') });
    expect(changeDue(after, now)).toEqual({ kind: 'none' });
  });

  it('a due change is applied without changing anything else', () => {
    expect(applyChange(SUBSCRIPTION, { kind: 'none' })).toBe(SUBSCRIPTION);
    expect(applyChange(SUBSCRIPTION, { kind: 'lapsed' })).toEqual({ ...SUBSCRIPTION, status: 'inactive' });
    const due = { ...SUBSCRIPTION, nextPlan: 'free' };
    expect(applyChange(due, changeDue(due, END))).toEqual({ ...SUBSCRIPTION, plan: 'free', period: NEXT });
  });
});

describe('isUnusual', () => {
  it.each([
    ['2026-02-28T00:00Z', false],
    ['2026-03-30T23:59Z', false],
    ['2026-03-31T00:00Z', true],
    ['2029-01-01T00:00Z', true],
    ['2025-01-01T00:00Z', true],
  ])('tells at %s whether a change skips a period or goes back', (text, expected) => {
    const now = date(text);
    expect(isUnusual(SUBSCRIPTION, changeDue(SUBSCRIPTION, now), now)).toBe(expected);
  });

  it('returns false without a change', () => {
    expect(isUnusual(SUBSCRIPTION, { kind: 'none' }, date('2040-01-01'))).toBe(false);
  });
});

describe('withPlan', () => {
  const now = date('2026-02-10T00:00Z');
  const inactive = { ...SUBSCRIPTION, status: 'inactive', renews: false, provider: 'stripe' } as const;

  it('starts a period when there is none', () => {
    const fresh = { plan: 'free', status: 'active', provider: 'manual', anchorAt: later(1) };
    expect(withPlan(undefined, 'free', 'next period', later(1))).toMatchObject(fresh);
    expect(withPlan(inactive, 'free', 'next period', later(1))).toMatchObject(fresh);
  });

  it('continues the current period', () => {
    expect(withPlan(SUBSCRIPTION, 'free', 'now', now)).toEqual({ ...SUBSCRIPTION, plan: 'free' });
    expect(withPlan(SUBSCRIPTION, 'free', 'next period', now)).toEqual({ ...SUBSCRIPTION, nextPlan: 'free' });
    expect(withPlan({ ...SUBSCRIPTION, nextPlan: 'free' }, 'pro', 'next period', now)).toEqual(SUBSCRIPTION);
    expect(withPlan({ ...SUBSCRIPTION, renews: false }, 'pro', 'now', now)).toEqual(SUBSCRIPTION);
  });

  it('revives a subscription that ended early, without payment and without a new period', () => {
    expect(withPlan(inactive, 'free', 'next period', now)).toEqual({ ...SUBSCRIPTION, plan: 'free' });
  });

  it('does not treat a late payment as the end of the subscription', () => {
    const paid = { ...SUBSCRIPTION, provider: 'stripe' } as const;
    expect(withPlan(paid, 'business', 'now', later(10))).toEqual({ ...paid, plan: 'business' });
  });
});

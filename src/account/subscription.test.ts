import { describe, expect, it } from 'vitest';
import { afterTurn, type Subscription, changeDue, withPlan } from './subscription.ts';

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

describe('what becomes due', () => {
  it.each<[string, Partial<Subscription>, Date, unknown]>([
    ['nothing before the end', {}, later(-0.001), { kind: 'none' }],
    ['a renewal at the end', {}, END, { kind: 'renewed', plan: 'pro', period: NEXT }],
    [
      'a renewal with the plan chosen for it',
      { nextPlan: 'free' },
      END,
      { kind: 'renewed', plan: 'free', period: NEXT },
    ],
    ['a renewal for a marketplace', { provider: 'marketplace' }, END, { kind: 'renewed', plan: 'pro', period: NEXT }],
    ['the end of a cancelled one', { renews: false }, END, { kind: 'lapsed' }],
    ['nothing for an inactive one', { status: 'inactive' }, later(9_999), { kind: 'none' }],
    ['nothing while a payment is awaited', { provider: 'stripe' }, later(71.999), { kind: 'none' }],
    ['the end when no payment came', { provider: 'stripe' }, later(72), { kind: 'lapsed' }],
    ['no wait for a cancelled payment', { provider: 'stripe', renews: false }, END, { kind: 'lapsed' }],
    ['nothing when the clock went back', {}, date('2020-01-01'), { kind: 'none' }],
  ])('%s', (_name, changes, now, expected) => {
    expect(changeDue({ ...SUBSCRIPTION, ...changes }, now)).toEqual(expected);
  });

  it('a renewal after months of silence gives the period of today, once', () => {
    const now = date('2026-08-15T00:00Z');
    const after = afterTurn(SUBSCRIPTION, changeDue(SUBSCRIPTION, now));
    expect(after.period).toEqual({ startsAt: date('2026-07-31T00:00Z'), endsAt: date('2026-08-31T00:00Z') });
    expect(changeDue(after, now)).toEqual({ kind: 'none' });
  });

  it('a turn changes nothing else', () => {
    expect(afterTurn(SUBSCRIPTION, { kind: 'none' })).toBe(SUBSCRIPTION);
    expect(afterTurn(SUBSCRIPTION, { kind: 'lapsed' })).toEqual({ ...SUBSCRIPTION, status: 'inactive' });
    const due = { ...SUBSCRIPTION, nextPlan: 'free' };
    expect(afterTurn(due, changeDue(due, END))).toEqual({ ...SUBSCRIPTION, plan: 'free', period: NEXT });
  });
});

describe('choosing a plan', () => {
  const now = date('2026-02-10T00:00Z');
  const inactive = { ...SUBSCRIPTION, status: 'inactive', renews: false, provider: 'stripe' } as const;

  it('starts a period where there is none', () => {
    const fresh = { plan: 'free', status: 'active', provider: 'manual', anchorAt: later(1) };
    expect(withPlan(undefined, 'free', 'next period', later(1))).toMatchObject(fresh);
    expect(withPlan(inactive, 'free', 'next period', later(1))).toMatchObject(fresh);
  });

  it('goes on with the period that runs', () => {
    expect(withPlan(SUBSCRIPTION, 'free', 'now', now)).toEqual({ ...SUBSCRIPTION, plan: 'free' });
    expect(withPlan(SUBSCRIPTION, 'free', 'next period', now)).toEqual({ ...SUBSCRIPTION, nextPlan: 'free' });
    expect(withPlan({ ...SUBSCRIPTION, nextPlan: 'free' }, 'pro', 'next period', now)).toEqual(SUBSCRIPTION);
    expect(withPlan({ ...SUBSCRIPTION, renews: false }, 'pro', 'now', now)).toEqual(SUBSCRIPTION);
  });

  it('revives what ended early, without payment and without a new period', () => {
    expect(withPlan(inactive, 'free', 'next period', now)).toEqual({ ...SUBSCRIPTION, plan: 'free' });
  });

  it('does not take a late payment for an end', () => {
    const paid = { ...SUBSCRIPTION, provider: 'stripe' } as const;
    expect(withPlan(paid, 'business', 'now', later(10))).toEqual({ ...paid, plan: 'business' });
  });
});

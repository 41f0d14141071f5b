import { describe, expect, it } from 'vitest';
import { admitKey, type KeyHolder } from './access.ts';
import type { Subscription } from './subscription.ts';

const NOW = new Date('2026-03-01T00:00:00Z');
const SUBSCRIPTION: Subscription = {
  plan: 'free',
  nextPlan: null,
  status: 'active',
  renews: true,
  provider: 'manual',
  anchorAt: NOW,
  period: { startsAt: NOW, endsAt: new Date('2026-04-01T00:00:00Z') },
};
const HOLDER: KeyHolder = {
  keyId: 'k',
  keyState: 'active',
  mode: 'live',
  allowedOrigins: [],
  accountId: 'a',
  suspended: false,
  awaitsApproval: false,
  subscription: SUBSCRIPTION,
};

const verdict = (holder: KeyHolder | undefined): string => {
  try {
    expect(admitKey(holder)).toMatchObject({ accountId: 'a', keyId: 'k', subscription: { plan: 'free' } });
    return 'admitted';
  } catch (error) {
    return String(error instanceof Error && 'code' in error ? error.code : error);
  }
};

describe('admitKey', () => {
  it('admits an active key of an active account', () => {
    expect(verdict(HOLDER)).toBe('admitted');
  });

  it.each([
    ['an unknown key', undefined, 'invalid_api_key'],
    ['a revoked key, whatever its account', { ...HOLDER, keyState: 'revoked', suspended: true }, 'invalid_api_key'],
    ['a suspended key', { ...HOLDER, keyState: 'suspended' }, 'key_suspended'],
    ['a live key of an account that awaits approval', { ...HOLDER, awaitsApproval: true }, 'approval_required'],
    ['a key of a suspended account', { ...HOLDER, suspended: true }, 'key_suspended'],
    ['a key of an account without a subscription', { ...HOLDER, subscription: undefined }, 'subscription_inactive'],
    [
      'a key of an account whose subscription has ended',
      { ...HOLDER, subscription: { ...SUBSCRIPTION, status: 'inactive' } },
      'subscription_inactive',
    ],
  ] as const)('refuses %s', (_name, holder, expected) => {
    expect(verdict(holder)).toBe(expected);
  });
});

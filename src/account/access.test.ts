import { describe, expect, it } from 'vitest';
import { assertMayRender, type KeyHolder } from './access.ts';

const HOLDER: KeyHolder = {
  keyId: 'k',
  keyState: 'active',
  mode: 'live',
  accountId: 'a',
  accountState: 'active',
  plan: 'free',
};

const verdict = (holder: KeyHolder | undefined): string => {
  try {
    assertMayRender(holder);
    return 'welcome';
  } catch (error) {
    return String(error instanceof Error && 'code' in error ? error.code : error);
  }
};

describe('who may render', () => {
  it.each([
    ['an active key of an active account', HOLDER, 'welcome'],
    ['an unknown key', undefined, 'invalid_api_key'],
    [
      'a revoked key, whatever its account',
      { ...HOLDER, keyState: 'revoked', accountState: 'suspended' },
      'invalid_api_key',
    ],
    ['a suspended key', { ...HOLDER, keyState: 'suspended' }, 'key_suspended'],
    ['a key of a suspended account', { ...HOLDER, accountState: 'suspended' }, 'key_suspended'],
    ['a key without subscription', { ...HOLDER, accountState: 'inactive' }, 'subscription_inactive'],
  ] as const)('%s', (_name, holder, expected) => {
    expect(verdict(holder)).toBe(expected);
  });
});

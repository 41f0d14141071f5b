// May this key render? A decision over what the store knows about it.

import { AppError } from '../errors.ts';
import type { KeyMode } from './api-key.ts';
import type { PlanName } from './plan.ts';

export type AccountState = 'active' | 'inactive' | 'suspended';
export type KeyState = 'active' | 'suspended' | 'revoked';

/** A key together with the account it belongs to. */
export interface KeyHolder {
  readonly keyId: string;
  readonly keyState: KeyState;
  readonly mode: KeyMode;
  readonly accountId: string;
  readonly accountState: AccountState;
  readonly plan: PlanName;
}

/** Throws what the caller is told. A revoked key is as good as unknown, so it says no more than an invalid one. */
export function assertMayRender(holder: KeyHolder | undefined): asserts holder is KeyHolder {
  if (holder === undefined || holder.keyState === 'revoked') {
    throw new AppError('invalid_api_key', 'The API key is not valid.');
  }
  if (holder.keyState === 'suspended') throw new AppError('key_suspended', 'This API key is suspended.');
  if (holder.accountState === 'suspended') throw new AppError('key_suspended', 'This account is suspended.');
  if (holder.accountState === 'inactive') {
    throw new AppError('subscription_inactive', 'This account has no active subscription.');
  }
}

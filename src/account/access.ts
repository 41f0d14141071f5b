// May this caller render? A decision over what the store knows.

import { AppError } from '../errors.ts';
import type { KeyMode } from './api-key.ts';
import type { Subscription } from './subscription.ts';

/** Suspending is the operator's; being inactive is a matter of the subscription. */
export type AccountState = 'active' | 'inactive' | 'suspended';
export type KeyState = 'active' | 'suspended' | 'revoked';

/** An account as far as rendering is concerned. */
export interface Holder {
  readonly accountId: string;
  readonly suspended: boolean;
  /** Brought up to date: its period holds now, or it is inactive. */
  readonly subscription: Subscription | undefined;
}

/** A key together with the account it belongs to. */
export interface KeyHolder extends Holder {
  readonly keyId: string;
  readonly keyState: KeyState;
  readonly mode: KeyMode;
  /** Web pages that may use the key from a browser; none listed: any program, no page. */
  readonly allowedOrigins: readonly string[];
}

/** A caller who may render. */
export interface Subscriber {
  readonly accountId: string;
  readonly keyId: string | undefined;
  readonly mode: KeyMode;
  readonly subscription: Subscription;
}

export function stateOf({ suspended, subscription }: Omit<Holder, 'accountId'>): AccountState {
  if (suspended) return 'suspended';
  return subscription?.status === 'active' ? 'active' : 'inactive';
}

/** Throws what the caller is told. A revoked key is as good as unknown, so it says no more than an invalid one. */
export function admitKey(holder: KeyHolder | undefined): Subscriber {
  if (holder === undefined || holder.keyState === 'revoked') {
    throw new AppError('invalid_api_key', 'The API key is not valid.');
  }
  if (holder.keyState === 'suspended') throw new AppError('key_suspended', 'This API key is suspended.');
  const { accountId, keyId, mode } = holder;
  return { accountId, keyId, mode, subscription: admitAccount(holder) };
}

export function admitAccount({ suspended, subscription }: Holder): Subscription {
  if (suspended) throw new AppError('key_suspended', 'This account is suspended.');
  if (subscription?.status !== 'active') {
    throw new AppError('subscription_inactive', 'This account has no active subscription.');
  }
  return subscription;
}

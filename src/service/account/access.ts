// Decides from stored data whether a caller may render.

import { AppError } from '../../shared/errors.ts';
import type { KeyMode } from './api-key.ts';
import type { Subscription } from './subscription.ts';

/**
 * `suspended` means that the operator has suspended the account. A `pending` one has test keys only, until the operator
 * approves it. An account without an active subscription is `inactive`.
 */
export type AccountState = 'active' | 'inactive' | 'pending' | 'suspended';

export const KEY_STATES = ['active', 'suspended', 'revoked'] as const;
export type KeyState = (typeof KEY_STATES)[number];

/** The part of an account that matters for rendering. */
export interface Holder {
  readonly accountId: string;
  readonly suspended: boolean;
  /** If true, its live keys don't work until the operator approves the account. */
  readonly awaitsApproval: boolean;
  /** Always up to date: the current time is in its period, or it is inactive. */
  readonly subscription: Subscription | undefined;
}

/** A key and the account it belongs to. */
export interface KeyHolder extends Holder {
  readonly keyId: string;
  readonly keyState: KeyState;
  readonly mode: KeyMode;
  /** Web pages that may use the key from a browser. Without any, only programs may use it. */
  readonly allowedOrigins: readonly string[];
}

/** A caller who may render. */
export interface Subscriber {
  readonly accountId: string;
  readonly keyId: string | undefined;
  readonly mode: KeyMode;
  readonly subscription: Subscription;
}

export function stateOf({ suspended, awaitsApproval, subscription }: Omit<Holder, 'accountId'>): AccountState {
  if (suspended) return 'suspended';
  if (awaitsApproval) return 'pending';
  return subscription?.status === 'active' ? 'active' : 'inactive';
}

/** Throws the error for the caller. A revoked key gets the same response as an unknown one. */
export function admitKey(holder: KeyHolder | undefined): Subscriber {
  if (holder === undefined || holder.keyState === 'revoked') {
    throw new AppError('invalid_api_key', 'The API key is not valid.');
  }
  if (holder.keyState === 'suspended') throw new AppError('key_suspended', 'This API key is suspended.');
  const { accountId, keyId, mode } = holder;
  const subscription = admitAccount(holder);
  if (mode === 'live' && holder.awaitsApproval) {
    throw new AppError(
      'approval_required',
      'The operator has yet to approve this account, so its live keys are off. Ask the operator to approve it, or use a test key.',
    );
  }
  return { accountId, keyId, mode, subscription };
}

export function admitAccount({ suspended, subscription }: Pick<Holder, 'suspended' | 'subscription'>): Subscription {
  if (suspended) throw new AppError('key_suspended', 'This account is suspended.');
  if (subscription?.status !== 'active') {
    throw new AppError('subscription_inactive', 'This account has no active subscription.');
  }
  return subscription;
}

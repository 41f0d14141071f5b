// What is remembered between requests, behind one interface. Asynchronous although the embedded engine is not, because a
// server-based one will stand behind it too.

import type { AccountState, KeyHolder, KeyState } from '../account/access.ts';
import type { KeyMode } from '../account/api-key.ts';
import type { PlanName } from '../account/plan.ts';

export interface NewAccount {
  readonly id: string;
  readonly name: string;
  readonly plan: PlanName;
}

export interface NewKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly mode: KeyMode;
  readonly hash: Buffer;
  readonly prefix: string;
  readonly lastFour: string;
}

export interface KeySummary {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly plan: PlanName;
  readonly mode: KeyMode;
  readonly state: KeyState;
  readonly accountState: AccountState;
  readonly prefix: string;
  readonly lastFour: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

export interface Store {
  countAccounts(): Promise<number>;
  /** Both or neither. */
  createAccountWithKey(account: NewAccount, key: NewKey): Promise<void>;
  findKey(hash: Buffer): Promise<KeyHolder | undefined>;
  listKeys(): Promise<KeySummary[]>;
  /** False when there is no such key, or it is revoked: revoking is for good. */
  setKeyState(keyId: string, state: KeyState): Promise<boolean>;
  markKeyUsed(keyId: string): Promise<void>;
  close(): Promise<void>;
}

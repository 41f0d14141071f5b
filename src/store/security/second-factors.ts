// Authenticator apps and recovery codes. Part of the store's interface. A recovery code arrives as a hash; the secret of an app
// is stored as it is, because codes are computed from it.

import type { Actor } from '../actor.ts';

export interface NewAuthenticator {
  readonly userId: string;
  /** In Base32. */
  readonly secret: string;
  /** The time step of the code with which the user proved to have the app. */
  readonly step: number;
  readonly recoveryHashes: readonly string[];
}

export interface AuthenticatorState {
  readonly secret: string;
  readonly createdAt: Date;
  readonly recoveryCodes: number;
}

export interface SecondFactors {
  /** Undefined when the user signs in with the password alone. */
  find(userId: string): Promise<AuthenticatorState | undefined>;
  /** False when the user has one already. */
  add(authenticator: NewAuthenticator): Promise<boolean>;
  /** True once per time step, and never for one before the last that was used: a code that was seen can't be replayed. */
  useStep(userId: string, step: number): Promise<boolean>;
  /** True once per code. */
  useRecoveryCode(userId: string, hash: string): Promise<boolean>;
  /** Replaces all of them. False without an authenticator. */
  replaceRecoveryCodes(userId: string, hashes: readonly string[]): Promise<boolean>;
  /** Removes the authenticator and the recovery codes. False when there is none. */
  remove(userId: string, actor: Actor): Promise<boolean>;
}

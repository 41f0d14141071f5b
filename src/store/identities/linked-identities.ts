// Identities at sign-in providers that are linked to users. Part of the store's interface. A user has at most one per provider.
// An identity is never linked because of its address: a provider may have verified the address years ago, for a person who
// doesn't own it any more.

import type { ProviderIdentity, SignInProvider } from '../../account/sign-in-provider.ts';
import type { LiveAccess, User } from '../users.ts';

export interface LinkedIdentity extends ProviderIdentity {
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
}

/** Why an identity wasn't linked. */
export type LinkRefusal =
  /** The identity belongs to another user. */
  | 'taken'
  /** The user has another identity of the provider. */
  | 'other identity';

export interface LinkedIdentities {
  /** Oldest first. */
  list(userId: string): Promise<LinkedIdentity[]>;
  /** The user whose identity it is, for a sign-in. */
  use(identity: ProviderIdentity): Promise<User | undefined>;
  /**
   * Creates a user without a password, with an account of their own, on no plan. The address counts as confirmed. Undefined
   * when the address or the identity belongs to a user.
   */
  signUp(identity: ProviderIdentity, access?: LiveAccess): Promise<User | undefined>;
  /** For a user who is signed in. Does nothing if the identity is linked to the user. */
  link(userId: string, identity: ProviderIdentity): Promise<'linked' | LinkRefusal>;
  /** `usable` are the providers that users can sign in with at present. Refuses to remove the last way to sign in. */
  unlink(
    userId: string,
    provider: SignInProvider,
    usable: readonly SignInProvider[],
  ): Promise<'unlinked' | 'not found' | 'last way'>;
}

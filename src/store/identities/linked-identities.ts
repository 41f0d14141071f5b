// Identities at sign-in providers that are linked to users. Part of the store's interface. A user has at most one per provider:
// if an organization gives an address to another person, that person's identity doesn't get into the account.

import type { ProviderIdentity, SignInProvider } from '../../account/sign-in-provider.ts';
import type { User } from '../users.ts';

export interface LinkedIdentity extends ProviderIdentity {
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
}

/** Why an identity wasn't linked. */
export type LinkRefusal =
  /** The identity belongs to another user. */
  | 'taken'
  /** The user has another identity of the provider. */
  | 'other identity'
  /** The user has never shown to own their address, and the identity has another one. */
  | 'unproven'
  /** An operator has to link identities on purpose. */
  | 'operator';

export type EmailMatch =
  | { readonly kind: 'linked'; readonly user: User }
  | { readonly kind: 'no user' }
  | { readonly kind: 'refused'; readonly reason: LinkRefusal };

export interface LinkedIdentities {
  /** Oldest first. */
  list(userId: string): Promise<LinkedIdentity[]>;
  /** The user whose identity it is, for a sign-in. */
  use(identity: ProviderIdentity): Promise<User | undefined>;
  /**
   * Links the identity to the user with its address. Only if that user has proven to own the address: anyone could have signed
   * up with it and would keep a password that works.
   */
  linkByEmail(identity: ProviderIdentity): Promise<EmailMatch>;
  /**
   * Creates a user without a password, with an account of their own, on no plan. The address counts as confirmed. Undefined
   * when the address belongs to a user.
   */
  signUp(identity: ProviderIdentity, passwordHash: string): Promise<User | undefined>;
  /**
   * For a user who is signed in; proves their address if the identity has the same. Does nothing if the identity is linked to
   * the user.
   */
  link(userId: string, identity: ProviderIdentity): Promise<'linked' | LinkRefusal>;
  /** `usable` are the providers that users can sign in with at present. Refuses to remove the last way to sign in. */
  unlink(
    userId: string,
    provider: SignInProvider,
    usable: readonly SignInProvider[],
  ): Promise<'unlinked' | 'not found' | 'last way'>;
}

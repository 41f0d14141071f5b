// The services that users can sign in with instead of a password.

export const SIGN_IN_PROVIDERS = ['google', 'github'] as const;
export type SignInProvider = (typeof SIGN_IN_PROVIDERS)[number];

export const PROVIDER_NAMES: Readonly<Record<SignInProvider, string>> = { google: 'Google', github: 'GitHub' };

/** The identity of a user at a provider. */
export interface ProviderIdentity {
  readonly provider: SignInProvider;
  /** An id that never changes and is never reassigned to another person, unlike the address. */
  readonly subject: string;
  /** The address, verified by the provider, in the form in which addresses are stored. */
  readonly email: string;
}

// The services that users can sign in with instead of a password.

export const SIGN_IN_PROVIDERS = ['google', 'github'] as const;
export type SignInProvider = (typeof SIGN_IN_PROVIDERS)[number];

export const PROVIDER_NAMES: Readonly<Record<SignInProvider, string>> = { google: 'Google', github: 'GitHub' };

/** A person as a provider knows them. */
export interface ProviderIdentity {
  readonly provider: SignInProvider;
  /** Never changes and is never given to another person, unlike the address. */
  readonly subject: string;
  /** Verified by the provider, in the form in which addresses are stored. */
  readonly email: string;
}

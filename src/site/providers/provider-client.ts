// The interface of a sign-in provider: the URL of its sign-in page, and afterwards the identity of the user.

import type { ProviderIdentity, SignInProvider } from '../../service/account/sign-in-provider.ts';

/** One attempt to sign in. All values belong to one browser. */
export interface AuthorizationRequest {
  /** The URL that the provider sends the browser back to. */
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

export interface ProviderClient {
  readonly provider: SignInProvider;
  /** Throws a `ProviderError` when the provider can't be reached. */
  authorizationUrl(request: AuthorizationRequest): Promise<URL>;
  /** `parameters` are those with which the provider sent the browser back. Throws a `ProviderError`. */
  identify(parameters: URLSearchParams, request: AuthorizationRequest): Promise<ProviderIdentity>;
}

export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

export type ProviderFailure =
  /** The user didn't allow it. */
  | 'denied'
  /** The provider can't be reached, is overloaded or takes too long. */
  | 'unavailable'
  /** The provider's response can't be trusted or isn't understood, or the provider refused the code. */
  | 'failed'
  /** The provider hasn't verified an address of the user. */
  | 'no email';

/** The message is for the log. It never contains a secret or a token. */
export class ProviderError extends Error {
  readonly failure: ProviderFailure;

  constructor(failure: ProviderFailure, message: string) {
    super(message);
    this.name = 'ProviderError';
    this.failure = failure;
  }
}

// Decides what a proven identity at a provider gives access to: the user it is linked to, or a new account.
//
// An account that exists is never linked because it has the same address. A stranger could have prepared it with the address of
// another person, and a provider may have verified the address for a person who doesn't own it any more. Its user signs in and
// connects the provider on the Security page, once. With email, an unconfirmed user doesn't own the address yet, so the person
// gets a new account, and the unconfirmed one can never be confirmed.

import { mailboxOf } from '../../service/account/email.ts';
import type { ProviderIdentity, SignInProvider } from '../../service/account/sign-in-provider.ts';
import type { LinkedIdentities, LinkRefusal } from '../../service/store/people/linked-identities.ts';
import type { User } from '../../service/store/people/user.ts';
import type { Users } from '../../service/store/people/users.ts';
import { createDeviceToken } from '../identity/device-token.ts';
import type { AuthenticatedUser } from '../identity/identity.ts';
import type { Throttle } from '../identity/throttle.ts';
import { must } from '../../shared/must.ts';
import {
  type AuthorizationRequest,
  type ProviderClient,
  ProviderError,
  type ProviderFailure,
} from './provider-client.ts';

export interface ProviderSignInOptions {
  readonly clients: readonly ProviderClient[];
  readonly users: Users;
  readonly identities: LinkedIdentities;
  readonly throttle: Throttle;
  /** If false, new users need an invitation. */
  readonly signUpOpen: boolean;
  /** If true, accounts can use live keys without the operator's approval, however many one mailbox has. */
  readonly trustsSignUps: boolean;
  /** The address whose owner has to prove more than a provider can. If empty, no address is special. */
  readonly operatorEmail: string;
  /** `reason` is safe to log. */
  readonly onFailed: (provider: SignInProvider, reason: string, requestId: string) => void;
}

/** The reason why a visitor isn't signed in. */
export type ProviderProblem =
  | ProviderFailure
  | LinkRefusal
  | 'known address'
  | 'operator'
  | 'expired'
  | 'closed'
  | 'signed out';

export type ProviderOutcome =
  | { readonly kind: 'known'; readonly authenticated: AuthenticatedUser }
  | { readonly kind: 'new'; readonly authenticated: AuthenticatedUser }
  | { readonly kind: 'refused'; readonly problem: ProviderProblem };

export class ProviderSignIn {
  readonly #options: ProviderSignInOptions;

  constructor(options: ProviderSignInOptions) {
    this.#options = options;
  }

  /** Returns the providers that the operator has configured. */
  get providers(): readonly SignInProvider[] {
    return this.#options.clients.map(({ provider }) => provider);
  }

  /** Returns the URL of the provider's sign-in page, or why there is none. */
  async begin(
    provider: SignInProvider,
    request: AuthorizationRequest,
    visitor: { readonly address: string; readonly requestId: string },
  ): Promise<URL | ProviderProblem> {
    await this.#options.throttle.takeProviderVisit(visitor.address);
    return await this.#attempt(provider, visitor.requestId, async (client) => await client.authorizationUrl(request));
  }

  /** Returns the identity of the visitor that the provider sent back, or why there is none. */
  async identify(
    provider: SignInProvider,
    parameters: URLSearchParams,
    request: AuthorizationRequest,
    visitor: { readonly address: string; readonly requestId: string },
  ): Promise<ProviderIdentity | ProviderProblem> {
    await this.#options.throttle.takeProviderVisit(visitor.address);
    return await this.#attempt(
      provider,
      visitor.requestId,
      async (client) => await client.identify(parameters, request),
    );
  }

  async signIn(identity: ProviderIdentity, address: string): Promise<ProviderOutcome> {
    const { identities, users, throttle } = this.#options;
    await throttle.take('signIn', address, `${identity.provider} ${identity.subject}`);
    const known = await identities.use(identity);
    if (known !== undefined) return { kind: 'known', authenticated: authenticated(known) };
    if ((await users.findByEmail(identity.email)) !== undefined) return { kind: 'refused', problem: 'known address' };
    return await this.#signUp(identity, address);
  }

  async #signUp(identity: ProviderIdentity, address: string): Promise<ProviderOutcome> {
    const { identities, throttle, signUpOpen, operatorEmail, trustsSignUps } = this.#options;
    if (!signUpOpen) return { kind: 'refused', problem: 'closed' };
    if (identity.email === operatorEmail) return { kind: 'refused', problem: 'operator' };
    // Sign-ups aren't counted by address, because a stranger could use up the attempts of an address.
    await throttle.takeSignUp(address, `${identity.provider} ${identity.subject}`);
    const isGranted = trustsSignUps || (await throttle.allowsLiveAccount(mailboxOf(identity.email)));
    const access = isGranted ? 'granted' : 'awaits approval';
    const user = await identities.signUp(identity, access);
    if (user !== undefined) return { kind: 'new', authenticated: authenticated(user) };
    // The same user was faster in another window, or the address was confirmed a moment ago.
    const known = await identities.use(identity);
    if (known === undefined) return { kind: 'refused', problem: 'known address' };
    return { kind: 'known', authenticated: authenticated(known) };
  }

  async #attempt<Result>(
    provider: SignInProvider,
    requestId: string,
    work: (client: ProviderClient) => Promise<Result>,
  ): Promise<Result | ProviderProblem> {
    const client = this.#options.clients.find((each) => each.provider === provider);
    try {
      return await work(must(client, 'the configured provider'));
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      const isFailure = error.failure === 'failed' || error.failure === 'unavailable';
      if (isFailure) this.#options.onFailed(provider, error.message, requestId);
      return error.failure;
    }
  }
}

function authenticated(user: User): AuthenticatedUser {
  return { user, deviceToken: createDeviceToken(user.tokenKey) };
}

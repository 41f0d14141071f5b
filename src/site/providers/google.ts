// Sign-in with Google: OpenID Connect with the authorization code flow and PKCE. The ID token identifies the user. Its
// signature is checked against the keys of the issuer, although it comes from there directly.

import type * as OAuth from 'oauth4webapi';
import { z } from 'zod';
import { parseEmail } from '../../service/account/email.ts';
import type { ProviderIdentity } from '../../service/account/sign-in-provider.ts';
import {
  type AuthorizationRequest,
  type ClientCredentials,
  type ProviderClient,
  ProviderError,
} from './provider-client.ts';
import { oauthLibrary, PROVIDER_TIMEOUT_MS, providerStep, requestOptions } from './provider-requests.ts';

/** Endpoints and keys change rarely; the library fetches new keys by itself. */
const DISCOVERY_MS = 3_600_000;

const CLAIMS = z.object({
  sub: z.string().min(1).max(255),
  email: z.string().max(320).optional(),
  email_verified: z.boolean().optional(),
});

export class GoogleClient implements ProviderClient {
  readonly provider = 'google';
  readonly #credentials: ClientCredentials;
  readonly #timeoutMs: number;
  readonly #issuer: string;
  #discovered: { readonly at: number; readonly server: OAuth.AuthorizationServer } | undefined;

  constructor(credentials: ClientCredentials, issuer: string, timeoutMs = PROVIDER_TIMEOUT_MS) {
    this.#credentials = credentials;
    this.#timeoutMs = timeoutMs;
    this.#issuer = issuer;
  }

  async authorizationUrl({ redirectUri, state, nonce, codeVerifier }: AuthorizationRequest): Promise<URL> {
    const oauth = await oauthLibrary();
    return await providerStep(oauth, async () => {
      const { authorization_endpoint: endpoint } = await this.#server(
        oauth,
        requestOptions(oauth, this.#issuer, this.#timeoutMs),
      );
      if (endpoint === undefined) throw new ProviderError('failed', 'the issuer has no authorization endpoint');
      const url = new URL(endpoint);
      const parameters = {
        client_id: this.#credentials.clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: 'openid email',
        code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        state,
        nonce,
        // This shows users which account they use, even if they have only one.
        prompt: 'select_account',
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return url;
    });
  }

  async identify(parameters: URLSearchParams, request: AuthorizationRequest): Promise<ProviderIdentity> {
    const oauth = await oauthLibrary();
    const { clientId, clientSecret } = this.#credentials;
    const options = requestOptions(oauth, this.#issuer, this.#timeoutMs);
    const claims = await providerStep(oauth, async () => {
      const server = await this.#server(oauth, options);
      const client = { client_id: clientId };
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        oauth.ClientSecretPost(clientSecret),
        oauth.validateAuthResponse(server, client, parameters, request.state),
        request.redirectUri,
        request.codeVerifier,
        options,
      );
      const expected = { expectedNonce: request.nonce, requireIdToken: true };
      const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, expected);
      await oauth.validateApplicationLevelSignature(server, response, options);
      return CLAIMS.safeParse(oauth.getValidatedIdTokenClaims(tokens)).data;
    });
    if (claims === undefined) throw new ProviderError('failed', 'the ID token has unexpected claims');
    const email = claims.email_verified === true ? parseEmail(claims.email ?? '') : undefined;
    if (email === undefined) throw new ProviderError('no email', 'no verified address');
    return { provider: this.provider, subject: claims.sub, email };
  }

  async #server(oauth: typeof OAuth, options: ReturnType<typeof requestOptions>): Promise<OAuth.AuthorizationServer> {
    const known = this.#discovered;
    if (known !== undefined && Date.now() - known.at < DISCOVERY_MS) return known.server;
    const issuer = new URL(this.#issuer);
    const response = await oauth.discoveryRequest(issuer, options);
    const server = await oauth.processDiscoveryResponse(issuer, response);
    this.#discovered = { at: Date.now(), server };
    return server;
  }
}

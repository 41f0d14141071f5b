// Sign-in with GitHub: OAuth 2 with PKCE, and GitHub's API, which identifies the owner of the access token. The token
// is used for two requests and then discarded.

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
import { oauthLibrary, plain, PROVIDER_TIMEOUT_MS, providerStep, requestOptions } from './provider-requests.ts';

const GITHUB = 'https://github.com';

/** GitHub reports errors with status 200. */
const REFUSAL = z.object({ error: z.string() });
/** The name of a user can be reassigned to another person. The number can't. */
const USER = z.object({ id: z.int().positive() });
const EMAILS = z
  .array(z.object({ email: z.string().max(320), primary: z.boolean(), verified: z.boolean() }))
  .max(1_000);

export class GitHubClient implements ProviderClient {
  readonly provider = 'github';
  readonly #credentials: ClientCredentials;
  readonly #timeoutMs: number;
  readonly #baseUrl: string;
  readonly #apiUrl: string;
  readonly #server: OAuth.AuthorizationServer;

  /** A base URL other than GitHub's is that of a GitHub Enterprise Server. */
  constructor(credentials: ClientCredentials, baseUrl: string, timeoutMs = PROVIDER_TIMEOUT_MS) {
    this.#credentials = credentials;
    this.#timeoutMs = timeoutMs;
    this.#baseUrl = baseUrl;
    this.#apiUrl = baseUrl === GITHUB ? 'https://api.github.com' : `${baseUrl}/api/v3`;
    this.#server = {
      issuer: `${baseUrl}/login/oauth`,
      authorization_endpoint: `${baseUrl}/login/oauth/authorize`,
      token_endpoint: `${baseUrl}/login/oauth/access_token`,
    };
  }

  async authorizationUrl({ redirectUri, state, codeVerifier }: AuthorizationRequest): Promise<URL> {
    const oauth = await oauthLibrary();
    const url = new URL(`${this.#baseUrl}/login/oauth/authorize`);
    const parameters = {
      client_id: this.#credentials.clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'user:email',
      code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
      state,
      prompt: 'select_account',
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url;
  }

  async identify(parameters: URLSearchParams, request: AuthorizationRequest): Promise<ProviderIdentity> {
    const oauth = await oauthLibrary();
    return await providerStep(oauth, async () => {
      const options = requestOptions(oauth, this.#baseUrl, this.#timeoutMs);
      const accessToken = await this.#exchange(oauth, parameters, request, options);
      const read = async <Value>(path: string, schema: z.ZodType<Value>): Promise<Value> => {
        const headers = new Headers({ accept: 'application/vnd.github+json' });
        const url = new URL(`${this.#apiUrl}${path}`);
        const response = await oauth.protectedResourceRequest(accessToken, 'GET', url, headers, null, options);
        const body: unknown = await response.json().catch(() => undefined);
        const parsed = response.ok ? schema.safeParse(body).data : undefined;
        if (parsed !== undefined) return parsed;
        throw new ProviderError('failed', `unexpected response to ${path} with status ${response.status}`);
      };
      const user = await read('/user', USER);
      const primary = (await read('/user/emails?per_page=100', EMAILS)).find((each) => each.primary && each.verified);
      const email = parseEmail(primary?.email ?? '');
      if (email === undefined) throw new ProviderError('no email', 'no verified primary address');
      // Ids of different servers overlap.
      const subject = this.#baseUrl === GITHUB ? String(user.id) : `${new URL(this.#baseUrl).host} ${user.id}`;
      return { provider: this.provider, subject, email };
    });
  }

  async #exchange(
    oauth: typeof OAuth,
    parameters: URLSearchParams,
    request: AuthorizationRequest,
    options: ReturnType<typeof requestOptions>,
  ): Promise<string> {
    const client = { client_id: this.#credentials.clientId };
    const response = await oauth.authorizationCodeGrantRequest(
      this.#server,
      client,
      oauth.ClientSecretPost(this.#credentials.clientSecret),
      oauth.validateAuthResponse(this.#server, client, parameters, request.state),
      request.redirectUri,
      request.codeVerifier,
      options,
    );
    const refusal = REFUSAL.safeParse(
      await response
        .clone()
        .json()
        .catch(() => undefined),
    ).data;
    if (refusal !== undefined) throw new ProviderError('failed', `refused: ${plain(refusal.error)}`);
    const tokens = await oauth.processAuthorizationCodeResponse(this.#server, client, response);
    return tokens.access_token;
  }
}

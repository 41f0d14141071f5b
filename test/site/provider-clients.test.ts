// Responses that the clients of Google and GitHub accept from a provider, and those that they refuse.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { tokenOf } from '../../src/service/account/secret.ts';
import { GitHubClient } from '../../src/site/providers/github.ts';
import { GoogleClient } from '../../src/site/providers/google.ts';
import type { AuthorizationRequest, ProviderClient } from '../../src/site/providers/provider-client.ts';
import { CLIENT, ProviderStandIn } from './provider-stand-in.ts';

const REDIRECT_URI = 'https://captions.example.com/back';
const CREDENTIALS = { clientId: CLIENT.id, clientSecret: CLIENT.secret };
/** The timeout is long, because the machine may be busy. The test of a slow provider has a short one. */
const TIMEOUT_MS = 60_000;
const SHORT_TIMEOUT_MS = 500;

let standIn: ProviderStandIn;
beforeAll(async () => {
  standIn = await ProviderStandIn.start([REDIRECT_URI]);
});
afterAll(async () => await standIn.stop());
beforeEach(() => {
  standIn.trouble = undefined;
  standIn.person = { id: 7, email: 'Ann@Example.com' };
});

const google = (secret: string = CLIENT.secret, timeoutMs = TIMEOUT_MS): ProviderClient =>
  new GoogleClient({ ...CREDENTIALS, clientSecret: secret }, standIn.url, timeoutMs);
const github = (secret: string = CLIENT.secret, timeoutMs = TIMEOUT_MS): ProviderClient =>
  new GitHubClient({ ...CREDENTIALS, clientSecret: secret }, standIn.url, timeoutMs);
const CLIENTS = { google, github };

const newRequest = (secret = 'one'): AuthorizationRequest => ({
  redirectUri: REDIRECT_URI,
  state: tokenOf(secret, 'state'),
  nonce: tokenOf(secret, 'nonce'),
  codeVerifier: tokenOf(secret, 'verifier'),
});
/** Visits the provider and returns the parameters it comes back with. */
const visit = async (client: ProviderClient, request: AuthorizationRequest): Promise<URLSearchParams> => {
  const response = await fetch(await client.authorizationUrl(request), { redirect: 'manual' });
  const location = response.headers.get('location');
  if (location === null) throw new Error(await response.text());
  return new URL(location).searchParams;
};

describe.each(Object.entries(CLIENTS))('%s', (provider, create) => {
  it('says who signed in, with the verified primary address', async () => {
    const request = newRequest();
    const client = create();
    const identity = await client.identify(await visit(client, request), request);
    // Ids of servers other than github.com contain the host.
    const subject = provider === 'github' ? `${new URL(standIn.url).host} 7` : '7';
    expect(identity).toEqual({ provider, subject, email: 'ann@example.com' });
  });

  it('refuses a code that was used before', async () => {
    const request = newRequest();
    const client = create();
    const parameters = await visit(client, request);
    await client.identify(parameters, request);
    const reason = provider === 'google' ? 'refused: invalid_grant' : 'refused: bad_verification_code';
    await expect(client.identify(parameters, request)).rejects.toMatchObject({ failure: 'failed', message: reason });
  });

  it('refuses a code that was requested with another PKCE verifier', async () => {
    const client = create();
    const parameters = await visit(client, newRequest());
    const stolen = { ...newRequest(), codeVerifier: tokenOf('two', 'verifier') };
    await expect(client.identify(parameters, stolen)).rejects.toMatchObject({ failure: 'failed' });
  });

  it('refuses another state', async () => {
    const client = create();
    const parameters = await visit(client, newRequest('one'));
    const other = { ...newRequest('one'), state: tokenOf('two', 'state') };
    await expect(client.identify(parameters, other)).rejects.toMatchObject({ failure: 'failed' });
  });

  it('names the reason when the client secret is wrong, and never the secret', async () => {
    const request = newRequest();
    const client = create('a-wrong-secret');
    const failed = client.identify(await visit(client, request), request);
    const message = provider === 'google' ? 'refused: invalid_client' : 'refused: incorrect_client_credentials';
    await expect(failed).rejects.toMatchObject({ failure: 'failed', message });
  });

  it('reports that the user did not allow it', async () => {
    standIn.trouble = 'denied';
    const request = newRequest();
    const client = create();
    await expect(client.identify(await visit(client, request), request)).rejects.toMatchObject({ failure: 'denied' });
  });

  it('refuses a person without a verified address', async () => {
    standIn.person = { id: 7, email: 'ann@example.com', isVerified: false };
    const request = newRequest();
    const client = create();
    await expect(client.identify(await visit(client, request), request)).rejects.toMatchObject({ failure: 'no email' });
  });

  it('refuses an address that Storybar could not send emails to', async () => {
    standIn.person = { id: 7, email: 'ann@localhost' };
    const request = newRequest();
    const client = create();
    await expect(client.identify(await visit(client, request), request)).rejects.toMatchObject({ failure: 'no email' });
  });

  it.each(['down', 'slow'] as const)('a provider is unavailable while it is %s', async (trouble) => {
    const request = newRequest();
    const parameters = await visit(create(), request);
    standIn.trouble = trouble;
    await expect(create(CLIENT.secret, SHORT_TIMEOUT_MS).identify(parameters, request)).rejects.toMatchObject({
      failure: 'unavailable',
    });
  });

  it.each(['endless', 'not JSON', 'wrong iss parameter', 'unexpected claims'] as const)(
    'refuses a response with this fault: %s',
    async (trouble) => {
      const request = newRequest();
      const client = create();
      // Discovery works, but the next step doesn't.
      await client.authorizationUrl(request);
      if (trouble === 'wrong iss parameter') standIn.trouble = trouble;
      const parameters = await visit(client, request);
      standIn.trouble = trouble;
      await expect(client.identify(parameters, request)).rejects.toMatchObject({ failure: 'failed' });
    },
  );
});

describe('google', () => {
  it.each([
    'wrong nonce',
    'bad signature',
    'unknown key',
    'wrong audience',
    'wrong issuer',
    'expired token',
    'unsigned',
    'no ID token',
  ] as const)('refuses an ID token with this fault: %s', async (trouble) => {
    standIn.trouble = trouble;
    const request = newRequest();
    const client = google();
    await expect(client.identify(await visit(client, request), request)).rejects.toMatchObject({ failure: 'failed' });
  });

  it('Google is unavailable while its discovery document cannot be loaded, and works again afterwards', async () => {
    standIn.trouble = 'down';
    const client = google();
    await expect(client.authorizationUrl(newRequest())).rejects.toMatchObject({ failure: 'unavailable' });
    standIn.trouble = undefined;
    await expect(client.authorizationUrl(newRequest())).resolves.toBeInstanceOf(URL);
  });

  it('Google is unavailable when nothing listens at its address', async () => {
    const client = new GoogleClient(CREDENTIALS, 'http://127.0.0.1:1', TIMEOUT_MS);
    await expect(client.authorizationUrl(newRequest())).rejects.toMatchObject({ failure: 'unavailable' });
  });
});

describe('github', () => {
  it('leads to GitHub itself by default, and asks for nothing but the addresses', async () => {
    const url = await new GitHubClient(CREDENTIALS, 'https://github.com').authorizationUrl(newRequest());
    expect(url.origin + url.pathname).toBe('https://github.com/login/oauth/authorize');
    expect(url.searchParams.get('scope')).toBe('user:email');
  });
});

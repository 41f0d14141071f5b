// A stand-in for Google (OpenID Connect) and GitHub (OAuth 2 and its API) on one local port. It checks the same as the
// real ones: client, redirect address, PKCE, and that a code is used once. `trouble` makes the next responses wrong in
// one way.

import { createHash, createSign, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

export const CLIENT = { id: 'client-1', secret: 'secret-1' } as const;

export interface Person {
  readonly id: number;
  readonly email: string;
  readonly isVerified?: boolean;
}

type Trouble =
  | 'denied'
  | 'wrong nonce'
  | 'bad signature'
  | 'unknown key'
  | 'wrong audience'
  | 'wrong issuer'
  | 'expired token'
  | 'unsigned'
  | 'no ID token'
  | 'wrong iss parameter'
  | 'unexpected claims'
  | 'down'
  | 'slow'
  | 'endless'
  | 'not JSON';

interface Grant {
  readonly person: Person;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly nonce: string | null;
}

export class ProviderStandIn {
  /** The person who is signed in at the provider. */
  person: Person = { id: 1, email: 'ann@example.com' };
  trouble: Trouble | undefined;
  /** Paths of all requests. */
  readonly requests: string[] = [];
  readonly #redirectUris: readonly string[];
  readonly #grants = new Map<string, Grant>();
  readonly #tokens = new Map<string, Person>();
  readonly #keys = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  readonly #strangeKeys = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  readonly #server: Server;

  private constructor(redirectUris: readonly string[]) {
    this.#redirectUris = redirectUris;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        response.writeHead(500).end(String(error));
      });
    });
  }

  static async start(redirectUris: readonly string[]): Promise<ProviderStandIn> {
    const standIn = new ProviderStandIn(redirectUris);
    await new Promise<void>((resolve) => {
      standIn.#server.listen(0, '127.0.0.1', resolve);
    });
    return standIn;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the stand-in is not listening');
    return `http://127.0.0.1:${address.port}`;
  }

  /** Settings of a server that uses it. */
  get settings(): Record<string, string> {
    return {
      STORYBAR_GOOGLE_CLIENT_ID: CLIENT.id,
      STORYBAR_GOOGLE_CLIENT_SECRET: CLIENT.secret,
      STORYBAR_GOOGLE_ISSUER: this.url,
      STORYBAR_GITHUB_CLIENT_ID: CLIENT.id,
      STORYBAR_GITHUB_CLIENT_SECRET: CLIENT.secret,
      STORYBAR_GITHUB_URL: this.url,
    };
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', this.url);
    this.requests.push(url.pathname);
    if (url.pathname.endsWith('/authorize')) return this.#authorize(url, response);
    if (this.trouble === 'slow') return;
    if (this.trouble === 'down') return void response.writeHead(503).end('<h1>Unavailable</h1>');
    if (this.trouble === 'not JSON') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>');
    if (this.trouble === 'endless') {
      response.writeHead(200, { 'content-type': 'application/json' });
      const write = (): void =>
        void (response.destroyed || response.write(' '.repeat(65_536), () => setImmediate(write)));
      return write();
    }
    const routes: Record<string, () => unknown> = {
      '/.well-known/openid-configuration': () => this.#metadata(),
      '/jwks': () => ({
        keys: [{ ...this.#keys.publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' }],
      }),
      '/api/v3/user': () => this.#user(request),
      '/api/v3/user/emails': () => this.#emails(request),
    };
    if (url.pathname === '/token' || url.pathname === '/login/oauth/access_token') {
      const { status, body } = this.#exchange(new URLSearchParams(await textOf(request)), url.pathname !== '/token');
      return void response
        .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
        .end(JSON.stringify(body));
    }
    const body = routes[url.pathname]?.();
    if (body === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  /** The person is signed in and agrees at once. */
  #authorize({ searchParams, pathname }: URL, response: ServerResponse): void {
    const redirectUri = searchParams.get('redirect_uri') ?? '';
    const isGitHub = pathname.startsWith('/login/');
    const faults = [
      searchParams.get('client_id') !== CLIENT.id && 'client_id',
      !this.#redirectUris.includes(redirectUri) && 'redirect_uri',
      searchParams.get('response_type') !== 'code' && 'response_type',
      searchParams.get('code_challenge_method') !== 'S256' && 'code_challenge_method',
      !/^[\w-]{43}$/u.test(searchParams.get('state') ?? '') && 'state',
      !isGitHub && !/^[\w-]{43}$/u.test(searchParams.get('nonce') ?? '') && 'nonce',
      searchParams.get('scope') !== (isGitHub ? 'user:email' : 'openid email') && 'scope',
    ].filter(Boolean);
    if (faults.length > 0) return void response.writeHead(400).end(`invalid: ${faults.join(', ')}`);
    const code = randomUUID();
    this.#grants.set(code, {
      person: this.person,
      redirectUri,
      challenge: searchParams.get('code_challenge') ?? '',
      nonce: searchParams.get('nonce'),
    });
    const back = new URL(redirectUri);
    back.searchParams.set('state', searchParams.get('state') ?? '');
    if (this.trouble === 'denied') back.searchParams.set('error', 'access_denied');
    else back.searchParams.set('code', code);
    const issuer = isGitHub ? `${this.url}/login/oauth` : this.url;
    back.searchParams.set('iss', this.trouble === 'wrong iss parameter' ? 'https://evil.example' : issuer);
    response.writeHead(302, { location: back.href }).end();
  }

  #exchange(form: URLSearchParams, isGitHub: boolean): { status: number; body: object } {
    const code = form.get('code') ?? '';
    const grant = this.#grants.get(code);
    this.#grants.delete(code);
    const verifier = form.get('code_verifier') ?? '';
    const isValid =
      grant !== undefined &&
      form.get('grant_type') === 'authorization_code' &&
      form.get('redirect_uri') === grant.redirectUri &&
      createHash('sha256').update(verifier).digest('base64url') === grant.challenge;
    const isClient = form.get('client_id') === CLIENT.id && form.get('client_secret') === CLIENT.secret;
    if (!isValid || !isClient) {
      // GitHub has error codes of its own and reports them with status 200.
      if (isGitHub)
        return { status: 200, body: { error: isClient ? 'bad_verification_code' : 'incorrect_client_credentials' } };
      return { status: isClient ? 400 : 401, body: { error: isClient ? 'invalid_grant' : 'invalid_client' } };
    }
    const accessToken = randomUUID();
    this.#tokens.set(accessToken, grant.person);
    if (isGitHub)
      return { status: 200, body: { access_token: accessToken, token_type: 'bearer', scope: 'user:email' } };
    const tokens = { access_token: accessToken, token_type: 'Bearer', expires_in: 3_599, scope: 'openid email' };
    return {
      status: 200,
      body: this.trouble === 'no ID token' ? tokens : { ...tokens, id_token: this.#idToken(grant) },
    };
  }

  #idToken({ person, nonce }: Grant): string {
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: this.trouble === 'wrong issuer' ? 'https://evil.example' : this.url,
      aud: this.trouble === 'wrong audience' ? 'another-client' : CLIENT.id,
      sub: String(person.id),
      email: this.trouble === 'unexpected claims' ? 7 : person.email,
      email_verified: person.isVerified !== false,
      nonce: this.trouble === 'wrong nonce' ? 'another' : nonce,
      iat: now - 3_600 * (this.trouble === 'expired token' ? 2 : 0),
      exp: now + 3_600 * (this.trouble === 'expired token' ? -1 : 1),
    };
    if (this.trouble === 'unsigned') return `${encode({ alg: 'none', typ: 'JWT' })}.${encode(claims)}.`;
    const key = this.trouble === 'bad signature' || this.trouble === 'unknown key' ? this.#strangeKeys : this.#keys;
    return signed(
      { alg: 'RS256', typ: 'JWT', kid: this.trouble === 'unknown key' ? 'two' : 'one' },
      claims,
      key.privateKey,
    );
  }

  #metadata(): object {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      jwks_uri: `${this.url}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    };
  }

  #owner({ headers }: IncomingMessage): Person {
    const person = this.#tokens.get((headers.authorization ?? '').replace('Bearer ', ''));
    if (person === undefined) throw new Error('unknown token');
    return person;
  }

  #user(request: IncomingMessage): object {
    const { id, email } = this.#owner(request);
    // The profile shows an address that a user can choose freely, so it must not count.
    return {
      id: this.trouble === 'unexpected claims' ? 'seven' : id,
      login: email.split('@')[0],
      email: 'profile@example.com',
    };
  }

  #emails(request: IncomingMessage): object {
    const { email, isVerified = true } = this.#owner(request);
    return [
      { email: 'second@example.com', primary: false, verified: true, visibility: null },
      { email, primary: true, verified: isVerified, visibility: 'private' },
    ];
  }
}

function signed(header: object, claims: object, key: KeyObject): string {
  const text = `${encode(header)}.${encode(claims)}`;
  return `${text}.${createSign('RSA-SHA256').update(text).sign(key).toString('base64url')}`;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

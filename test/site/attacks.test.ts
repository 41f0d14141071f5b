// Attacks on the site.

import { beforeAll, describe, expect, it } from 'vitest';
import { newAddress, type SharedServer, sharedServer } from '../shared-server.ts';
import { PASSWORD, Visitor } from './visitor.ts';

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

/** The test key that everyone gets by signing up. */
const FIRST_KEY_ONLY = [expect.any(String)];
const PRIVATE_PATHS = [
  '/dashboard',
  '/dashboard/requests',
  '/dashboard/renders',

  '/dashboard/keys',
  '/dashboard/plan',
  '/dashboard/security',
];
const OPERATOR_PATHS = ['/operator', '/operator/accounts', '/operator/audit'];
let visitors = 0;
const stranger = (): Visitor => new Visitor(server.url, newAddress());
/** Uses a new address, so the attempts of one test don't count in another. */
const fromNewAddress = (): Record<string, string> => ({ 'x-forwarded-for': newAddress() });
const member = async (): Promise<{ visitor: Visitor; email: string }> => {
  const visitor = stranger();
  const email = `user-${(visitors += 1)}@attacks.example.com`;
  const token = await visitor.tokenOf('/signup');
  const { status, text } = await visitor.send('/signup', { token, email, password: PASSWORD }, fromNewAddress());
  if (status !== 303) throw new Error(`${email} could not sign up: ${status} ${text}`);
  await visitor.submit('/dashboard/plan', { plan: 'free' });
  return { visitor, email };
};

describe('a form', () => {
  const attempt = { name: 'stolen', mode: 'live', origins: '' };

  it.each([
    ['without a token', async () => ({})],
    ['with a wrong token', async () => ({ token: 'x'.repeat(43) })],
    ["with another user's token", async () => ({ token: await (await member()).visitor.tokenOf('/dashboard/keys') })],
    ['with a token from before signing in', async () => ({ token: await stranger().tokenOf('/signin') })],
  ])('%s does nothing', async (_name, token) => {
    const { visitor } = await member();
    const { status, text } = await visitor.send('/dashboard/keys', { ...attempt, ...(await token()) });
    expect([status, text]).toEqual([403, expect.stringContaining('Form rejected')]);
    expect(await visitor.keyIds()).toEqual(FIRST_KEY_ONLY);
  });

  it.each([
    [{ origin: 'https://evil.example' }],
    [{ origin: 'null' }],
    [{ origin: 'http://127.0.0.1:1' }],
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
  ])('a form from another site does nothing, even with the right token: %j', async (headers) => {
    const { visitor } = await member();
    const token = await visitor.tokenOf('/dashboard/keys');
    expect(await visitor.send('/dashboard/keys', { ...attempt, token }, headers)).toMatchObject({ status: 403 });
    expect(await visitor.keyIds()).toEqual(FIRST_KEY_ONLY);
  });

  it('a form with another content type or an excessive size is not read', async () => {
    const { visitor } = await member();
    const token = await visitor.tokenOf('/dashboard/keys');
    const json = await visitor.send('/dashboard/keys', { ...attempt, token }, { 'content-type': 'text/plain' });
    expect(json.status).toBe(415);
    const large = await visitor.send('/dashboard/keys', { ...attempt, token, name: 'x'.repeat(40_000) });
    expect(large.status).toBe(400);
    expect(await visitor.keyIds()).toEqual(FIRST_KEY_ONLY);
  });

  it('a form reports all faults together, and only those', async () => {
    const bad = await stranger().signUp('no address', 'short');
    expect(bad.text).toMatch(/Enter a valid email address\.[^]*Use at least 12 characters/u);
    const half = await stranger().signUp('no address');
    expect(half.text.match(/class="fault"/gu)).toHaveLength(1);
  });

  it('a form from another site neither signs in nor signs out', async () => {
    const { visitor, email } = await member();
    const evil = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    const token = await visitor.tokenOf('/dashboard');
    expect(await visitor.send('/signout', { token }, evil)).toMatchObject({ status: 403 });
    expect(await visitor.get('/dashboard')).toMatchObject({ status: 200 });
    const other = stranger();
    const theirs = { email, password: PASSWORD, token: await other.tokenOf('/signin') };
    expect(await other.send('/signin', theirs, evil)).toMatchObject({ status: 403 });
    expect(await stranger().send('/signin', theirs)).toMatchObject({ status: 403 });
  });
});

describe('a session', () => {
  it('a session gets a new secret at sign-in, so one that an attacker planted is worthless', async () => {
    const { email } = await member();
    const victim = stranger();
    const planted = 'A'.repeat(43);
    victim.cookies.set('__Host-storybar', planted);
    await victim.signIn(email);
    expect(victim.cookies.get('__Host-storybar')).not.toBe(planted);
    const attacker = stranger();
    attacker.cookies.set('__Host-storybar', planted);
    expect(await attacker.get('/dashboard')).toMatchObject({ status: 303, location: '/signin' });
  });

  it('a session ends when the user signs in again, signs out or changes the password', async () => {
    const { visitor, email } = await member();
    const steal = (): Visitor => {
      const thief = stranger();
      for (const [name, value] of visitor.cookies) thief.cookies.set(name, value);
      return thief;
    };
    const first = steal();
    expect(await first.get('/dashboard')).toMatchObject({ status: 200 });
    const token = await visitor.tokenOf('/dashboard');
    await visitor.send('/signin', { token, email, password: PASSWORD }, fromNewAddress());
    expect(await first.get('/dashboard')).toMatchObject({ status: 303 });
    const second = steal();
    const elsewhere = stranger();
    await elsewhere.signIn(email);
    const change = { current: PASSWORD, next: 'another horse, another staple' };
    expect(await visitor.submit('/dashboard/security', change)).toMatchObject({
      status: 303,
      location: '/dashboard/security?done=password',
    });
    expect(await visitor.get('/dashboard')).toMatchObject({ status: 200 });
    for (const thief of [second, elsewhere]) expect(await thief.get('/dashboard')).toMatchObject({ status: 303 });
    const third = steal();
    await visitor.submit('/dashboard', {}, '/signout');
    expect(visitor.cookies.has('__Host-storybar')).toBe(false);
    expect(await third.get('/dashboard')).toMatchObject({ status: 303 });
    expect(await stranger().signIn(email)).toMatchObject({ status: 422 });
  });

  it('a session ends on all devices on request, and when the role changes', async () => {
    const { visitor, email } = await member();
    const elsewhere = stranger();
    await elsewhere.signIn(email);
    await visitor.submit('/dashboard/security', {}, '/dashboard/security/sign-out-everywhere');
    expect(await elsewhere.get('/dashboard')).toMatchObject({ status: 303 });
    await elsewhere.signIn(email);
    await server.cli('users', 'promote', email);
    expect(await elsewhere.get('/dashboard')).toMatchObject({ status: 303 });
  });

  it('a session has a cookie that is HttpOnly, SameSite, and Secure except on localhost without HTTPS', async () => {
    const { headers } = await new Visitor(server.url).get('/signin');
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(/^storybar=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/u),
    ]);
    // A proxy may use HTTPS toward the browser, so the cookie must be bound to HTTPS.
    const proxied = await stranger().get('/signin');
    expect(proxied.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-storybar=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/u),
    ]);
  });
});

describe('guessing', () => {
  it('passwords from one address ends after 10 attempts, even with the right one, and says when to try again', async () => {
    const { email } = await member();
    const attacker = stranger();
    const token = await attacker.tokenOf('/signin');
    const address = fromNewAddress();
    const guess = async (password: string) => await attacker.send('/signin', { token, email, password }, address);
    const guesses = [];
    for (let index = 0; index < 10; index += 1) guesses.push((await guess(`guess number ${index}`)).status);
    expect(guesses).toEqual(Array.from({ length: 10 }, () => 422));
    const refused = await guess(PASSWORD);
    expect(refused).toMatchObject({ status: 429, text: expect.stringContaining('Too many attempts') });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await attacker.send('/signin', { token, email, password: PASSWORD }, fromNewAddress())).toMatchObject({
      status: 303,
    });
  });

  it('addresses at sign-in gets the same response for known and unknown ones', async () => {
    const { email } = await member();
    const visitor = stranger();
    const token = await visitor.tokenOf('/signin');
    const responses = [];
    for (const name of [email, 'unknown@attacks.example.com', 'no address']) {
      const { status, text } = await visitor.send(
        '/signin',
        { token, email: name, password: 'wrong password' },
        fromNewAddress(),
      );
      responses.push(`${status} ${text.replaceAll(name, 'NAME')}`);
    }
    expect(new Set(responses).size).toBe(1);
    expect(responses[0]).toContain('Incorrect email or password.');
  });

  it('addresses at sign-up is limited, and the response does not say that the address is taken', async () => {
    const { email } = await member();
    const visitor = stranger();
    const token = await visitor.tokenOf('/signup');
    const taken = await visitor.send('/signup', { token, email, password: PASSWORD }, fromNewAddress());
    expect(taken).toMatchObject({ status: 422, text: expect.stringContaining('You can’t sign up with this email.') });
    const address = fromNewAddress();
    const statuses = [];
    for (let index = 0; index < 11; index += 1) {
      const fields = { token, email: `${index}-${email}`, password: PASSWORD };
      statuses.push((await stranger().send('/signup', fields, address)).status);
    }
    // These visitors have no cookie, so the form is rejected before the address is looked up.
    expect(new Set(statuses)).toEqual(new Set([403]));
    const counted = [];
    for (let index = 0; index < 21; index += 1) {
      const fresh = stranger();
      const fields = { token: await fresh.tokenOf('/signup'), email: `${index}-${email}`, password: PASSWORD };
      counted.push((await fresh.send('/signup', fields, address)).status);
    }
    expect(counted).toEqual([...Array.from({ length: 20 }, () => 303), 429]);
  });
});

describe('pages for signed-in users', () => {
  it.each([...PRIVATE_PATHS, ...OPERATOR_PATHS, '/dashboard/usage/days.csv'])(
    'redirect from %s to the sign-in page without a session',
    async (path) => {
      const { status, location } = await stranger().get(path);
      const next = path === '/dashboard' || path.endsWith('.csv') ? '' : `?next=${encodeURIComponent(path)}`;
      expect([status, location]).toEqual([303, `/signin${next}`]);
      expect(await stranger().send(path, {})).toMatchObject({
        status: expect.toSatisfy((code) => code === 303 || code === 405),
      });
    },
  );

  it('pages for signed-in users can be neither cached nor embedded by other sites', async () => {
    const { visitor } = await member();
    const { id } = await visitor.createKey();
    for (const path of [...PRIVATE_PATHS, `/dashboard/keys/${id}`, '/dashboard/start', '/reset', '/password?link=x']) {
      const { headers } = await visitor.get(path);
      expect({ path, ...Object.fromEntries(headers) }).toMatchObject({
        path,
        'cache-control': 'no-store',
        'x-frame-options': 'DENY',
        'content-security-policy': expect.stringMatching(/script-src 'self';.*frame-ancestors 'none'/u),
        'referrer-policy': 'same-origin',
      });
    }
    const csv = await visitor.get('/dashboard/usage/days.csv');
    expect(csv.headers.get('cache-control')).toBe('no-store');
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="storybar-days.csv"');
  });

  it.each([
    'https://evil.example',
    '//evil.example',
    String.raw`/\evil.example`,
    '/dashboard/../../evil',
    '/dashboard//evil.example',
    'javascript:alert(1)',
    '/signout',
    '/dashboards',
  ])('signing in redirects only to pages for signed-in users, not to %s', async (next) => {
    const { email } = await member();
    const visitor = stranger();
    const page = await visitor.get(`/signin?next=${encodeURIComponent(next)}`);
    expect(page.text).toContain('name="next" value=""');
    const token = await visitor.tokenOf('/signin');
    const response = await visitor.send('/signin', { token, email, password: PASSWORD, next }, fromNewAddress());
    expect(response.location).toBe('/dashboard');
  });

  it('escape everything that was typed', async () => {
    const { visitor } = await member();
    const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>'`;
    const { id } = await visitor.createKey({ name: hostile });
    const shown = await Promise.all([
      visitor.get('/dashboard/keys'),
      visitor.get(`/dashboard/keys/${id}`),
      visitor.submit('/dashboard/keys', { name: hostile, mode: 'live', origins: hostile }),
      visitor.get(`/dashboard?done=${encodeURIComponent(hostile)}`),
      visitor.get(`/signin?next=${encodeURIComponent(hostile)}`),
      stranger().submit('/signin', { email: hostile, password: hostile }),
    ]);
    for (const { text } of shown) expect(text).not.toMatch(/<script>|<img|onerror=alert\(1\)>/u);
    expect(shown[0]?.text).toContain('&lt;script&gt;');
  });
});

describe('another account', () => {
  it('the keys of another account respond with 404', async () => {
    const { visitor: owner } = await member();
    const { id } = await owner.createKey();
    const { visitor } = await member();
    const token = await visitor.tokenOf('/dashboard/keys');
    expect(await visitor.get(`/dashboard/keys/${id}`)).toMatchObject({ status: 404 });
    for (const [path, fields] of [
      [`/dashboard/keys/${id}`, { name: 'mine', origins: '' }],
      [`/dashboard/keys/${id}/rotate`, { overlap: 'none' }],
      [`/dashboard/keys/${id}/revoke`, {}],
    ] as const) {
      expect({ path, ...(await visitor.send(path, { token, ...fields })) }).toMatchObject({ path, status: 404 });
    }
    expect((await owner.get(`/dashboard/keys/${id}`)).text).toContain('active');
  });

  it('another account is visible only to operators, and others get 404', async () => {
    const { visitor } = await member();
    const token = await visitor.tokenOf('/dashboard');
    for (const path of OPERATOR_PATHS)
      expect({ path, ...(await visitor.get(path)) }).toMatchObject({ path, status: 404 });
    for (const action of ['suspend', 'resume', 'plan']) {
      const path = `/operator/accounts/unknown/${action}`;
      expect({ path, ...(await visitor.send(path, { token, plan: 'business' })) }).toMatchObject({ path, status: 404 });
    }
    expect((await visitor.get('/dashboard')).text).not.toContain('/operator');
  });
});

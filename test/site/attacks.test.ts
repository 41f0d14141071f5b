// What somebody with bad intentions tries at the site.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../running-server.ts';
import { PASSWORD, Visitor } from './visitor.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer({ STORYBAR_WORKERS: '1', STORYBAR_TRUST_PROXY: '127.0.0.1' });
});
afterAll(async () => {
  await server.stop();
});

const PRIVATE = ['/dashboard', '/dashboard/keys', '/dashboard/plan', '/dashboard/security'];
const OPERATORS = ['/operator', '/operator/accounts', '/operator/audit'];
let people = 0;
const nextAddress = (): string => `10.1.${(people += 1) >> 8}.${people & 255}`;
const stranger = (): Visitor => new Visitor(server.url, nextAddress());
/** From another address, so that one test's tries do not count in another. */
const from = (): Record<string, string> => ({ 'x-forwarded-for': nextAddress() });
const member = async (): Promise<{ visitor: Visitor; email: string }> => {
  const visitor = stranger();
  const email = `person-${(people += 1)}@example.com`;
  const token = await visitor.tokenOf('/signup');
  const answer = await visitor.send('/signup', { token, email, password: PASSWORD }, from());
  if (answer.status !== 303) throw new Error(`${email} could not sign up: ${answer.status} ${answer.text}`);
  await visitor.submit('/dashboard/plan', { plan: 'starter' });
  return { visitor, email };
};

describe('a form', () => {
  const attempt = { name: 'stolen', mode: 'live', origins: '' };

  it.each([
    ['without a token', async () => ({})],
    ['with a wrong token', async () => ({ token: 'x'.repeat(43) })],
    ["with somebody else's token", async () => ({ token: await (await member()).visitor.tokenOf('/dashboard/keys') })],
    ['with the token of nobody', async () => ({ token: await stranger().tokenOf('/signin') })],
  ])('%s does nothing', async (_name, token) => {
    const { visitor } = await member();
    const { status, text } = await visitor.send('/dashboard/keys', { ...attempt, ...(await token()) });
    expect([status, text]).toEqual([403, expect.stringContaining('Form rejected')]);
    expect(await visitor.keyIds()).toEqual([]);
  });

  it.each([
    [{ origin: 'https://evil.example' }],
    [{ origin: 'null' }],
    [{ origin: 'http://127.0.0.1:1' }],
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
  ])('of another site does nothing, even with the right token: %j', async (headers) => {
    const { visitor } = await member();
    const token = await visitor.tokenOf('/dashboard/keys');
    expect(await visitor.send('/dashboard/keys', { ...attempt, token }, headers)).toMatchObject({ status: 403 });
    expect(await visitor.keyIds()).toEqual([]);
  });

  it('that is no form is not read', async () => {
    const { visitor } = await member();
    const token = await visitor.tokenOf('/dashboard/keys');
    const json = await visitor.send('/dashboard/keys', { ...attempt, token }, { 'content-type': 'text/plain' });
    expect(json.status).toBe(415);
    const large = await visitor.send('/dashboard/keys', { ...attempt, token, name: 'x'.repeat(40_000) });
    expect(large.status).toBe(400);
    expect(await visitor.keyIds()).toEqual([]);
  });

  it('says every fault at once, and no other', async () => {
    const bad = await stranger().signUp('no address', 'short');
    expect(bad.text).toMatch(/This is no e-mail address\.[^]*Use at least 12 characters/u);
    const half = await stranger().signUp('no address');
    expect(half.text.match(/class="fault"/gu)).toHaveLength(1);
  });

  it('signs nobody in or out from elsewhere', async () => {
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
  it('is never the one that was there before signing in', async () => {
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

  it('of before is over after signing in again, signing out, and a new password', async () => {
    const { visitor, email } = await member();
    const steal = (): Visitor => {
      const thief = stranger();
      for (const [name, value] of visitor.cookies) thief.cookies.set(name, value);
      return thief;
    };
    const first = steal();
    expect(await first.get('/dashboard')).toMatchObject({ status: 200 });
    const token = await visitor.tokenOf('/dashboard');
    await visitor.send('/signin', { token, email, password: PASSWORD }, from());
    expect(await first.get('/dashboard')).toMatchObject({ status: 303 });
    const second = steal();
    const elsewhere = stranger();
    await elsewhere.signIn(email);
    const change = { present: PASSWORD, next: 'another horse, another staple' };
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

  it('ends everywhere on demand, and with another role', async () => {
    const { visitor, email } = await member();
    const elsewhere = stranger();
    await elsewhere.signIn(email);
    await visitor.submit('/dashboard/security', {}, '/dashboard/security/sign-out-everywhere');
    expect(await elsewhere.get('/dashboard')).toMatchObject({ status: 303 });
    await elsewhere.signIn(email);
    await server.cli('users', 'promote', email);
    expect(await elsewhere.get('/dashboard')).toMatchObject({ status: 303 });
  });

  it('is no cookie that scripts, other sites or plain connections see', async () => {
    const { headers } = await new Visitor(server.url).get('/signin');
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(/^storybar=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/u),
    ]);
    // Whoever came through a proxy may have come by HTTPS: then the browser must hold on to that.
    const proxied = await stranger().get('/signin');
    expect(proxied.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-storybar=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/u),
    ]);
  });
});

describe('guessing', () => {
  it('passwords is soon over, whoever has the right one in the end, and says when to come again', async () => {
    const { email } = await member();
    const attacker = stranger();
    const token = await attacker.tokenOf('/signin');
    const address = from();
    const guess = async (password: string) => await attacker.send('/signin', { token, email, password }, address);
    const guesses = [];
    for (let index = 0; index < 10; index += 1) guesses.push((await guess(`guess number ${index}`)).status);
    expect(guesses).toEqual(Array.from({ length: 10 }, () => 422));
    const refused = await guess(PASSWORD);
    expect(refused).toMatchObject({ status: 429, text: expect.stringContaining('Too many tries') });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await attacker.send('/signin', { token, email, password: PASSWORD }, from())).toMatchObject({
      status: 303,
    });
  });

  it('addresses learns nothing from signing in', async () => {
    const { email } = await member();
    const visitor = stranger();
    const token = await visitor.tokenOf('/signin');
    const answers = [];
    for (const name of [email, 'nobody-at-all@example.com', 'no address']) {
      const { status, text } = await visitor.send(
        '/signin',
        { token, email: name, password: 'wrong password' },
        from(),
      );
      answers.push(`${status} ${text.replaceAll(name, 'NAME')}`);
    }
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain('E-mail address or password is wrong.');
  });

  it('addresses by signing up is counted, and the wording does not say why', async () => {
    const { email } = await member();
    const visitor = stranger();
    const token = await visitor.tokenOf('/signup');
    const taken = await visitor.send('/signup', { token, email, password: PASSWORD }, from());
    expect(taken).toMatchObject({ status: 422, text: expect.stringContaining('cannot be used to sign up') });
    const address = from();
    const statuses = [];
    for (let index = 0; index < 11; index += 1) {
      const fields = { token, email: `${index}-${email}`, password: PASSWORD };
      statuses.push((await stranger().send('/signup', fields, address)).status);
    }
    // Each of these has no cookie, so the form is refused before anything is looked up.
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

describe('pages for people who are signed in', () => {
  it.each([...PRIVATE, ...OPERATORS, '/dashboard/usage/days.csv'])(
    '%s leads a stranger to the sign-in page',
    async (path) => {
      const { status, location } = await stranger().get(path);
      const next = path === '/dashboard' || path.endsWith('.csv') ? '' : `?next=${encodeURIComponent(path)}`;
      expect([status, location]).toEqual([303, `/signin${next}`]);
      expect(await stranger().send(path, {})).toMatchObject({
        status: expect.toSatisfy((code) => code === 303 || code === 405),
      });
    },
  );

  it('are kept by nobody and framed by nobody', async () => {
    const { visitor } = await member();
    const { id } = await visitor.makeKey();
    for (const path of [...PRIVATE, `/dashboard/keys/${id}`, '/signup', '/reset', '/password?link=x']) {
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
  ])('signing in leads to no other place, such as %s', async (next) => {
    const { email } = await member();
    const visitor = stranger();
    const page = await visitor.get(`/signin?next=${encodeURIComponent(next)}`);
    expect(page.text).toContain('name="next" value=""');
    const token = await visitor.tokenOf('/signin');
    const answer = await visitor.send('/signin', { token, email, password: PASSWORD, next }, from());
    expect(answer.location).toBe('/dashboard');
  });

  it('do not show what was typed as part of the page', async () => {
    const { visitor } = await member();
    const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>'`;
    const { id } = await visitor.makeKey({ name: hostile });
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

describe("somebody else's", () => {
  it('keys are as good as none', async () => {
    const { visitor: owner } = await member();
    const { id } = await owner.makeKey();
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

  it('accounts are for operators; for others there is nothing there', async () => {
    const { visitor } = await member();
    const token = await visitor.tokenOf('/dashboard');
    for (const path of OPERATORS) expect({ path, ...(await visitor.get(path)) }).toMatchObject({ path, status: 404 });
    for (const action of ['suspend', 'resume', 'plan']) {
      const path = `/operator/accounts/anybody/${action}`;
      expect({ path, ...(await visitor.send(path, { token, plan: 'business' })) }).toMatchObject({ path, status: 404 });
    }
    expect((await visitor.get('/dashboard')).text).not.toContain('/operator');
  });
});

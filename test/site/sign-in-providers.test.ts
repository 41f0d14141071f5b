// Signing up, signing in and connecting accounts with Google and GitHub, on a server with email, and attacks on it.

import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SqliteEngine } from '../../src/service/store/sqlite-engine.ts';
import { type RunningServer, startServer, until } from '../running-server.ts';
import { codeOf, secretIn } from './authenticator.ts';
import { CLIENT, ProviderStandIn } from './provider-stand-in.ts';
import { SmtpServer } from './smtp-server.ts';
import { type PageResponse, PASSWORD, Visitor } from './visitor.ts';

const PUBLIC_URL = 'https://captions.example.com';
const PROVIDERS = ['google', 'github'] as const;
const SECURITY = '/dashboard/security';
const CONNECT = '/dashboard/security/providers';
const ATTACKER_PASSWORD = 'an attacker, a staple';
type Provider = (typeof PROVIDERS)[number];

let smtp: SmtpServer;
let standIn: ProviderStandIn;
let server: RunningServer;
let database: SqliteEngine;
let visitors = 0;
let people = 0;
beforeAll(async () => {
  smtp = await SmtpServer.start();
  standIn = await ProviderStandIn.start(PROVIDERS.map((provider) => `${PUBLIC_URL}/signin/${provider}/callback`));
  server = await startServer({
    STORYBAR_TRUST_PROXY: '127.0.0.1',
    STORYBAR_PUBLIC_URL: PUBLIC_URL,
    STORYBAR_SMTP_URL: smtp.url,
    STORYBAR_MAIL_FROM: 'Storybar <captions@example.com>',
    ...standIn.settings,
  });
  database = new SqliteEngine(path.join(server.dataDirectory, 'storybar.db'));
});
afterAll(async () => {
  await database.close();
  await server.stop();
  await standIn.stop();
  await smtp.stop();
});
beforeEach(() => {
  standIn.trouble = undefined;
});

const visitor = (): Visitor => new Visitor(server.url, `10.6.${(visitors += 1)}.1`);
/** Adds a person whom the providers know, and who is signed in there. */
const newPerson = (name: string): string => {
  const email = `${name}-${(people += 1)}@example.com`;
  standIn.person = { id: people, email };
  return email;
};
/** The provider's sign-in page, and the path it sends the browser back to. */
const atProvider = async ({ headers, text, status }: PageResponse): Promise<string> => {
  const url = /^0;url=(?<url>.+)$/u.exec(headers.get('refresh') ?? '')?.groups?.['url'];
  if (url === undefined) throw new Error(`doesn't lead to a provider (${status}): ${text}`);
  const location = (await fetch(url, { redirect: 'manual' })).headers.get('location') ?? '';
  if (!location.startsWith(`${PUBLIC_URL}/`)) throw new Error(`the provider doesn't come back: ${location}`);
  return location.slice(PUBLIC_URL.length);
};
const leave = async (user: Visitor, provider: Provider, next = ''): Promise<string> =>
  await atProvider(await user.submit('/signin', { next }, `/signin/${provider}`));
const signInWith = async (user: Visitor, provider: Provider, next = ''): Promise<PageResponse> =>
  await user.get(await leave(user, provider, next));
const connect = async (user: Visitor, provider: Provider): Promise<string> =>
  await atProvider(await user.submit(`${CONNECT}?provider=${provider}`, { provider, password: PASSWORD }, CONNECT));
const disconnect = async (user: Visitor, provider: Provider): Promise<PageResponse> =>
  await user.submit(SECURITY, { provider }, `${CONNECT}/disconnect`);
const linkTo = async (page: 'confirm' | 'password' | 'join', email: string, nth = 1): Promise<string> => {
  const { text } = await smtp.emailTo(email, nth);
  const link = new RegExp(`${PUBLIC_URL}/${page}\\?link=(?<link>[\\w-]{43})`, 'u').exec(text)?.groups?.['link'];
  if (link === undefined) throw new Error(`no link in ${text}`);
  return link;
};
/** A user with a password and a confirmed address. */
const confirmedUser = async (email: string): Promise<Visitor> => {
  const user = visitor();
  await user.signUp(email);
  const link = await linkTo('confirm', email);
  expect(await user.submit(`/confirm?link=${link}`, { link }, '/confirm')).toMatchObject({ status: 303 });
  return user;
};
const isSignedIn = async (user: Visitor): Promise<boolean> => (await user.get('/dashboard')).status === 200;
const accountIdOf = async (user: Visitor): Promise<string> =>
  /Account ID<\/dt><dd><code>(?<id>[\w-]+)</u.exec((await user.get('/dashboard/account')).text)?.groups?.['id'] ?? '';

describe.each(PROVIDERS)('signing in with %s', (provider) => {
  it('creates a confirmed account with the free plan and a first test key, and finds it again', async () => {
    const email = newPerson('new');
    const ann = visitor();
    expect(await signInWith(ann, provider)).toMatchObject({ status: 303, location: '/dashboard/start' });
    const start = (await ann.get('/dashboard/start')).text;
    expect(start).toContain(email);
    expect(start).toMatch(/sb_test_\w{33}/u);
    expect(start).not.toContain('We’ve sent a link');
    expect((await ann.createKey()).key).toMatch(/^sb_live_/u);
    expect((await ann.get('/dashboard/plan')).text).toContain('Free');
    const elsewhere = visitor();
    expect(await signInWith(elsewhere, provider)).toMatchObject({ status: 303, location: '/dashboard' });
    expect(await accountIdOf(elsewhere)).toBe(await accountIdOf(ann));
    expect(smtp.emails.filter(({ to }) => to === email)).toEqual([]);
  });

  it('opens the page that the visitor wanted to see, and no other site', async () => {
    newPerson('next');
    await signInWith(visitor(), provider);
    expect(await signInWith(visitor(), provider, '/dashboard/keys')).toMatchObject({ location: '/dashboard/keys' });
    for (const next of ['https://evil.example/', '//evil.example', '/signin'])
      expect(await signInWith(visitor(), provider, next)).toMatchObject({ location: '/dashboard' });
  });

  it('a sign-in is refused with the state of another browser, and works in the browser that asked', async () => {
    newPerson('two-browsers');
    const [victim, attacker] = [visitor(), visitor()];
    const back = await leave(attacker, provider);
    await leave(victim, provider);
    expect(await victim.get(back)).toMatchObject({ status: 422, text: expect.stringContaining('has expired') });
    expect(await isSignedIn(victim)).toBe(false);
    expect(await visitor().get(back)).toMatchObject({ status: 422 });
    expect(await attacker.get(back)).toMatchObject({ status: 303 });
  });

  it('a sign-in is refused with another state, without one and without parameters', async () => {
    newPerson('state');
    const user = visitor();
    const back = await leave(user, provider);
    const requests = standIn.requests.length;
    for (const changed of [
      back.replace(/state=[\w-]+/u, 'state=x'),
      back.replace(/state=[\w-]+/u, ''),
      back.split('?')[0],
    ])
      expect(await user.get(changed ?? '')).toMatchObject({
        status: 422,
        text: expect.stringContaining('has expired'),
      });
    expect(standIn.requests.length).toBe(requests);
    expect(await user.get(back)).toMatchObject({ status: 303 });
  });

  it('a sign-in is refused a second time with the same response, even if the browser kept the cookie', async () => {
    newPerson('replay');
    const user = visitor();
    const back = await leave(user, provider);
    const cookies = new Map(user.cookies);
    expect(await user.get(back)).toMatchObject({ status: 303 });
    expect(await user.get(back)).toMatchObject({ status: 422, text: expect.stringContaining('has expired') });
    const thief = visitor();
    for (const [name, value] of cookies) thief.cookies.set(name, value);
    expect(await thief.get(back)).toMatchObject({ status: 422, text: expect.stringContaining('Sign-in failed') });
    expect(await isSignedIn(thief)).toBe(false);
  });

  it('says so when the user does not allow it', async () => {
    newPerson('denied');
    standIn.trouble = 'denied';
    const page = await signInWith(visitor(), provider);
    expect(page).toMatchObject({ status: 422, text: expect.stringContaining('Sign-in canceled') });
    expect(page.headers.get('cache-control')).toBe('no-store');
  });

  it('asks to confirm the address at the provider when it is not verified there', async () => {
    const email = newPerson('unverified');
    standIn.person = { id: people, email, isVerified: false };
    const user = visitor();
    expect(await signInWith(user, provider)).toMatchObject({
      status: 422,
      text: expect.stringContaining('hasn’t confirmed your primary email address'),
    });
    expect(await isSignedIn(user)).toBe(false);
  });

  it('responds with 503 while the provider is down, and logs it without secrets', async () => {
    newPerson('down');
    const user = visitor();
    const back = await leave(user, provider);
    standIn.trouble = 'down';
    expect(await user.get(back)).toMatchObject({
      status: 503,
      text: expect.stringContaining('isn’t responding'),
    });
    await until(
      () =>
        server.output().stderr.includes('sign-in provider failed') ||
        server.output().stdout.includes('sign-in provider failed'),
    );
    const { stdout, stderr } = server.output();
    expect(stdout + stderr).not.toContain(CLIENT.secret);
    expect(stdout + stderr).not.toContain(new URLSearchParams(back.split('?')[1]).get('code'));
  });

  it('signing in with a provider still asks for the code of the authenticator app', async () => {
    const email = newPerson('two-factor');
    const owner = await confirmedUser(email);
    const secret = secretIn((await owner.get('/dashboard/security/two-factor')).text);
    await until(async () => {
      const fields = { secret, code: codeOf(secret, -1), password: PASSWORD };
      return (await owner.submit('/dashboard/security/two-factor', fields)).text.includes('recovery codes');
    });
    expect(await owner.get(await connect(owner, provider))).toMatchObject({ status: 303 });
    const user = visitor();
    const page = await signInWith(user, provider, '/dashboard/keys');
    expect(page).toMatchObject({ status: 200, text: expect.stringContaining('Enter your code') });
    expect(await isSignedIn(user)).toBe(false);
    expect(page.text).not.toContain('Sign in with a passkey');
    const pending = /name="pending" value="(?<token>[^"]+)"/u.exec(page.text)?.groups?.['token'] ?? '';
    const wrong = await user.submit('/signin', { pending, code: '000000', next: '' }, '/signin/code');
    expect(wrong).toMatchObject({ status: 422 });
    const right = await user.submit(
      '/signin',
      { pending, code: codeOf(secret), next: '/dashboard/keys' },
      '/signin/code',
    );
    expect(right).toMatchObject({ status: 303, location: '/dashboard/keys' });
    // A passkey replaces the code too.
    await database.run(
      `insert into passkeys (id, user_id, name, public_key, counter, transports, created_at)
       select :id, id, 'Phone', '', 0, '[]', created_at from users where email = :email`,
      { id: `passkey of ${email}`, email },
    );
    expect((await signInWith(visitor(), provider)).text).toContain('Sign in with a passkey');
  });
});

describe('starting a sign-in with a provider', () => {
  it('a sign-in with a provider starts only from a page of the site', async () => {
    const user = visitor();
    const token = await user.tokenOf('/signin');
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect(await user.send('/signin/google', { token, next: '' }, foreign)).toMatchObject({ status: 403 });
    expect(await user.send('/signin/google', { token: 'x', next: '' })).toMatchObject({ status: 403 });
    // A link or an image can't start it either.
    const opened = await user.get('/signin/google');
    expect(opened).toMatchObject({ status: 303, location: '/signin' });
    expect(user.cookies.has('__Host-storybar-provider')).toBe(false);
  });

  it('sets a short-lived cookie that scripts and other hosts can not read', async () => {
    const page = await visitor().submit('/signin', { next: '' }, '/signin/github');
    const cookie = page.headers.getSetCookie().find((line) => line.startsWith('__Host-storybar-provider='));
    expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=900$/u);
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.text).toContain('continue to GitHub');
  });

  it('starting a sign-in with a provider is limited per network', async () => {
    const user = visitor();
    const token = await user.tokenOf('/signin');
    const statuses: number[] = [];
    // The limit grows back while the requests are sent, so a slow machine may send some more.
    while (statuses.length < 240 && statuses.at(-1) !== 429)
      statuses.push((await user.send('/signin/github', { token, next: '' })).status);
    expect([new Set(statuses.slice(0, 120)), statuses.at(-1)]).toEqual([new Set([200]), 429]);
  });
});

describe('an address that has an account', () => {
  it('the provider does not open an account with the same address until its user connects it, nor after a disconnect', async () => {
    const email = newPerson('known');
    const owner = await confirmedUser(email);
    const refused = { status: 422, text: expect.stringContaining('You already have an account') };
    const user = visitor();
    expect(await signInWith(user, 'google')).toMatchObject(refused);
    expect(await isSignedIn(user)).toBe(false);
    expect(await owner.get(await connect(owner, 'google'))).toMatchObject({ status: 303 });
    expect((await smtp.emailTo(email, 2)).text).toContain('Subject: Google was connected to your Storybar account');
    expect(await signInWith(user, 'google')).toMatchObject({ status: 303, location: '/dashboard' });
    expect(await accountIdOf(user)).toBe(await accountIdOf(owner));
    expect(await disconnect(owner, 'google')).toMatchObject({ status: 303 });
    expect(await signInWith(visitor(), 'google')).toMatchObject(refused);
  });

  it('an address leads only to the owner of the mailbox after a password reset', async () => {
    const email = newPerson('stale');
    const stranger = visitor();
    expect(await signInWith(stranger, 'google')).toMatchObject({ location: '/dashboard/start' });
    const owner = visitor();
    await owner.submit('/reset', { email });
    const link = await linkTo('password', email);
    await owner.submit(`/password?link=${link}`, { link, password: PASSWORD }, '/password');
    expect(await isSignedIn(owner)).toBe(true);
    expect(await isSignedIn(stranger)).toBe(false);
    expect(await signInWith(stranger, 'google')).toMatchObject({ status: 422 });
  });

  it('a stranger who signed up with an address and never confirmed it gets nothing', async () => {
    const email = newPerson('prepared');
    const attacker = visitor();
    await attacker.signUp(email, ATTACKER_PASSWORD);
    const victim = visitor();
    expect(await signInWith(victim, 'google')).toMatchObject({ status: 303, location: '/dashboard/start' });
    expect(await accountIdOf(victim)).not.toBe(await accountIdOf(attacker));
    expect(await visitor().signIn(email, ATTACKER_PASSWORD)).toMatchObject({ status: 422 });
    const link = await linkTo('confirm', email);
    const late = await attacker.submit(`/confirm?link=${link}`, { link }, '/confirm');
    expect(late).toMatchObject({ status: 422 });
  });

  it('another person who got the address later does not get into the account', async () => {
    const email = newPerson('reused');
    await signInWith(visitor(), 'google');
    standIn.person = { id: (people += 1), email };
    const user = visitor();
    expect(await signInWith(user, 'google')).toMatchObject({
      status: 422,
      text: expect.stringContaining('You already have an account'),
    });
    expect(await isSignedIn(user)).toBe(false);
  });
});

describe('connecting a provider on the security page', () => {
  it('needs the password, and is listed, exported and recorded afterwards', async () => {
    const owner = await confirmedUser(newPerson('connect'));
    const other = newPerson('elsewhere');
    const refused = await owner.submit(
      `${CONNECT}?provider=google`,
      { provider: 'google', password: 'wrong' },
      CONNECT,
    );
    expect(refused).toMatchObject({ status: 422, text: expect.stringContaining('Incorrect password.') });
    const done = await owner.get(await connect(owner, 'google'));
    expect(done).toMatchObject({ status: 303, location: `${SECURITY}?done=provider-linked` });
    expect((await owner.get(SECURITY)).text).toContain(other);
    const data = JSON.parse((await owner.get('/dashboard/account/export.json')).text) as Record<string, unknown[]>;
    expect(data['linked_identities']).toMatchObject([{ provider: 'google', email: other }]);
    expect(JSON.stringify(data['audit_log'])).toContain('user.identity_linked');
    expect(await signInWith(visitor(), 'google')).toMatchObject({ status: 303, location: '/dashboard' });
    expect(await disconnect(owner, 'google')).toMatchObject({ location: `${SECURITY}?done=provider-unlinked` });
    expect(await disconnect(owner, 'google')).toMatchObject({ status: 404 });
  });

  it('connecting a provider is refused in the session of another user, so that a link cannot connect a stranger’s identity', async () => {
    const [attacker, victim] = [await confirmedUser(newPerson('attacker')), await confirmedUser(newPerson('victim'))];
    newPerson('planted');
    const back = await connect(attacker, 'google');
    expect(await victim.get(back)).toMatchObject({ status: 422, text: expect.stringContaining('has expired') });
    // It fails even with the cookie of the attacker.
    const name = '__Host-storybar-provider';
    victim.cookies.set(name, attacker.cookies.get(name) ?? '');
    expect(await victim.get(back)).toMatchObject({ status: 422, text: expect.stringContaining('signed out') });
    expect((await victim.get(SECURITY)).text).not.toContain('Disconnect Google');
  });

  it('connecting an identity of another user is refused', async () => {
    const owner = await confirmedUser(newPerson('second'));
    newPerson('first');
    await signInWith(visitor(), 'google');
    const page = await owner.get(await connect(owner, 'google'));
    expect(page).toMatchObject({ status: 422, text: expect.stringContaining('This Google account is taken') });
  });

  it('connecting a provider is refused before the address is confirmed', async () => {
    const user = visitor();
    await user.signUp(newPerson('early'));
    const early = await user.submit(SECURITY, { provider: 'google', password: PASSWORD }, CONNECT);
    expect(early).toMatchObject({ status: 400, text: expect.stringContaining('Confirm your email address') });
  });
});

describe('a user without a password', () => {
  it('a user without a password is told to set one where it is needed, and can disconnect the provider only afterwards', async () => {
    const email = newPerson('no-password');
    const user = visitor();
    await signInWith(user, 'google');
    expect((await user.get(SECURITY)).text).toContain('You don’t have a password.');
    expect(await disconnect(user, 'google')).toMatchObject({
      status: 400,
      text: expect.stringContaining('Set a password'),
    });
    const deletion = await user.submit('/dashboard/account/delete', { password: '' });
    expect(deletion).toMatchObject({ status: 400, text: expect.stringContaining('Set one on the Security page') });
    for (const password of ['', PASSWORD])
      expect(await visitor().signIn(email, password)).toMatchObject({ status: 422 });
    expect(await user.submit(SECURITY, {}, `${SECURITY}/password-link`)).toMatchObject({ status: 303 });
    const link = await linkTo('password', email);
    const set = await user.submit(`/password?link=${link}`, { link, password: PASSWORD }, '/password');
    expect(set).toMatchObject({ status: 303 });
    const security = (await user.get(SECURITY)).text;
    expect(security).toContain('Change password');
    expect(security).not.toContain('Disconnect Google');
    expect(await user.get(await connect(user, 'google'))).toMatchObject({ status: 303 });
    expect(await disconnect(user, 'google')).toMatchObject({ status: 303 });
    expect(await visitor().signIn(email)).toMatchObject({ status: 303 });
  });

  it('a user without a password leaves nothing behind when the account is deleted', async () => {
    const email = newPerson('deleted');
    const user = visitor();
    await signInWith(user, 'google');
    await user.submit(SECURITY, {}, `${SECURITY}/password-link`);
    const link = await linkTo('password', email);
    await user.submit(`/password?link=${link}`, { link, password: PASSWORD }, '/password');
    const deleted = await user.submit('/dashboard/account/delete', { password: PASSWORD });
    expect(deleted).toMatchObject({ location: '/signin?done=account-deleted' });
    expect(await database.all('select * from linked_identities where email = :email', { email })).toEqual([]);
    expect(await signInWith(visitor(), 'google')).toMatchObject({ location: '/dashboard/start' });
  });
});

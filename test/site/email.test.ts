// With an SMTP server: a test key works before the address is confirmed and live keys after it, and no response reveals which
// addresses are known.

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { form, post, type RunningServer, startServer, until } from '../running-server.ts';
import { codeOf, secretIn } from './authenticator.ts';
import { SmtpServer } from './smtp-server.ts';
import { registrationResponse } from './software-passkey.ts';
import { PASSWORD, Visitor } from './visitor.ts';

const PUBLIC_URL = 'https://captions.example.com';
const SETTINGS = {
  STORYBAR_WORKERS: '1',
  STORYBAR_TRUST_PROXY: '127.0.0.1',
  STORYBAR_PUBLIC_URL: PUBLIC_URL,
  STORYBAR_MAIL_FROM: 'Storybar <captions@example.com>',
};

let smtp: SmtpServer;
let server: RunningServer;
let addresses = 0;
beforeAll(async () => {
  smtp = await SmtpServer.start();
  server = await startServer({
    ...SETTINGS,
    STORYBAR_SMTP_URL: smtp.url,
    STORYBAR_OPERATOR_EMAIL: 'boss@example.com',
  });
});
afterAll(async () => {
  await server.stop();
  await smtp.stop();
});

/** Each visitor has a network of their own, because sign-ups are limited per network. */
const visitor = (): Visitor => new Visitor(server.url, `10.9.${(addresses += 1)}.1`);
const linkIn = (text: string): string => {
  const link = new RegExp(`${PUBLIC_URL}(?<path>/password\\?link=[\\w-]{43})\\b`, 'u').exec(text)?.groups?.['path'];
  if (link === undefined) throw new Error(`no link in ${text}`);
  return link;
};
const redeem = async (path: string, user = visitor(), password = PASSWORD) =>
  await user.submit(path, { link: path.slice(path.indexOf('=') + 1), password }, '/password');
const confirmationIn = (text: string): string => {
  const link = new RegExp(`${PUBLIC_URL}(?<path>/confirm\\?link=[\\w-]{43})\\b`, 'u').exec(text)?.groups?.['path'];
  if (link === undefined) throw new Error(`no confirmation in ${text}`);
  return link;
};
const confirm = async (path: string, user: Visitor, fields: { password?: string } = {}) =>
  await user.submit(path, { link: path.slice(path.indexOf('=') + 1), ...fields }, '/confirm');
const signUp = async (email: string): Promise<Visitor> => {
  const user = visitor();
  await user.signUp(email);
  await confirm(confirmationIn((await smtp.emailTo(email)).text), user);
  return user;
};

describe('signing up', () => {
  it('gives a test key that works before the address is confirmed, and live keys only after it', async () => {
    const ann = visitor();
    expect(await ann.signUp('Ann@Example.com')).toMatchObject({ status: 303, location: '/dashboard/start' });
    const start = (await ann.get('/dashboard/start')).text;
    expect(start).toContain('We’ve sent a link to <strong>ann@example.com</strong>');
    const key = /sb_test_\w{33}/u.exec(start)?.[0] ?? '';
    const response = await post({ url: server.url, key }, form({ width: '32', height: '32', text: 'a' }));
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    const early = await ann.submit('/dashboard/keys', { name: 'shop', mode: 'live', origins: '' });
    expect(early).toMatchObject({ status: 400, text: expect.stringContaining('Confirm your email address') });
    const { text } = await smtp.emailTo('ann@example.com');
    expect(text).toContain('From: Storybar <captions@example.com>');
    expect(text).toContain("If you didn't sign up, ignore this email.");
    const path = confirmationIn(text);
    // Mail scanners open links, so opening it changes nothing.
    expect((await visitor().get(path)).text).toContain('ann@example.com');
    expect(await visitor().signIn('ann@example.com')).toMatchObject({ status: 422 });
    expect(await confirm(path, ann)).toMatchObject({ status: 303 });
    expect((await ann.createKey()).key).toMatch(/^sb_live_/u);
    expect(await visitor().signIn('ann@example.com')).toMatchObject({ status: 303 });
    expect((await visitor().get(path)).text).toContain('It has already been used or is no longer valid.');
    expect((await visitor().get(path.replace('/confirm', '/password'))).text).toContain('This link has expired');
  });

  it('twice with one address lets the first confirmation win', async () => {
    const [first, second] = [visitor(), visitor()];
    for (const user of [first, second]) await user.signUp('twice@example.com');
    const links = [1, 2].map(async (number) => confirmationIn((await smtp.emailTo('twice@example.com', number)).text));
    const [one = '', other = ''] = await Promise.all(links);
    expect(await confirm(one, visitor(), { password: PASSWORD })).toMatchObject({ status: 303 });
    const late = await confirm(other, visitor(), { password: PASSWORD });
    expect(late).toMatchObject({ status: 422, text: expect.stringContaining('This link has expired') });
  });

  it('signing up with the address of another user gives no way to guess or change their password', async () => {
    await signUp('victim@example.com');
    const attacker = visitor();
    await attacker.signUp('victim@example.com', 'an attacker, a staple');
    const change = await attacker.submit('/dashboard/security', { current: PASSWORD, next: 'another horse, a staple' });
    expect(change).toMatchObject({ status: 422 });
    await attacker.submit('/dashboard/security', { current: 'an attacker, a staple', next: 'another horse, a staple' });
    expect(await visitor().signIn('victim@example.com')).toMatchObject({ status: 303 });
  });

  it('signing up and resetting a password respond alike to known and unknown addresses', async () => {
    await signUp('bob@example.com');
    for (const page of ['/signup', '/reset']) {
      const responses = [];
      for (const email of ['bob@example.com', 'stranger@example.com']) {
        const { status, text, location } = await visitor().submit(page, { email, password: PASSWORD });
        responses.push(`${status} ${location} ${text.replaceAll(email, 'NAME').replaceAll(/value="[\w-]{43}"/gu, '')}`);
      }
      expect([page, new Set(responses).size]).toEqual([page, 1]);
    }
    expect((await smtp.emailTo('bob@example.com', 2)).text).toContain('Subject: You already have a Storybar account');
    expect((await smtp.emailTo('bob@example.com', 3)).text).toContain('Subject: Your link to sign in to Storybar');
    await smtp.emailTo('stranger@example.com');
    expect(smtp.emails.filter(({ to }) => to === 'stranger@example.com')).toHaveLength(1);
  });

  it('signing up with the address of the operator creates an operator, because the email proves the address', async () => {
    const boss = await signUp('boss@example.com');
    // The new role ended the session.
    await boss.signIn('boss@example.com');
    expect(await boss.get('/operator')).toMatchObject({ status: 200 });
    expect(await (await signUp('eve@example.com')).get('/operator')).toMatchObject({ status: 404 });
  });

  it('sends only a few emails to one address, and each of them works', async () => {
    await signUp('flooded@example.com');
    for (let index = 0; index < 8; index += 1) {
      expect(await visitor().submit('/reset', { email: 'flooded@example.com' })).toMatchObject({ status: 200 });
    }
    const emails = () => smtp.emails.filter(({ to }) => to === 'flooded@example.com');
    await until(() => emails().length === 6);
    // Emails are sent one after the other, so a seventh would arrive before the email to another address.
    await visitor().submit('/reset', { email: 'bob@example.com' });
    await until(() => smtp.emails.at(-1)?.to === 'bob@example.com');
    expect(emails()).toHaveLength(6);
    expect(await redeem(linkIn(emails().at(-1)?.text ?? ''))).toMatchObject({ status: 303 });
    await visitor().submit('/reset', { email: 'flooded@example.com' });
    await until(() => emails().length === 7);
  });

  it('limits the links that one network requests, and lets every other request one', async () => {
    const attacker = visitor();
    const statuses = [];
    for (let index = 0; index < 6; index += 1) {
      statuses.push((await attacker.submit('/reset', { email: 'wanted@example.com' })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    expect(await visitor().submit('/reset', { email: 'wanted@example.com' })).toMatchObject({ status: 200 });
  });

  it('signing up with a link works on a new device while strangers guess the password, and keeps the password', async () => {
    const email = 'guessed@example.com';
    const owner = await signUp(email);
    for (let address = 0; address < 4; address += 1) {
      const attacker = visitor();
      const fields = { token: await attacker.tokenOf('/signin'), email, password: 'a wrong password' };
      await Promise.all(Array.from({ length: 10 }, async () => await attacker.send('/signin', fields)));
    }
    const device = visitor();
    await device.signIn(email, 'a password with a typo');
    const refused = await device.signIn(email);
    expect(refused).toMatchObject({ status: 429, text: expect.stringContaining('Email me a link') });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const [, fields = ''] = /<form[^>]* action="\/reset"[^>]*>(.*?)<\/form>/su.exec(refused.text) ?? [];
    const hidden = [...fields.matchAll(/name="(\w+)" value="([^"]*)"/gu)].map(([, name, value]) => [name, value]);
    expect(await device.send('/reset', Object.fromEntries(hidden))).toMatchObject({ status: 200 });
    const path = linkIn((await smtp.emailTo(email, 2)).text);
    const link = path.slice(path.indexOf('=') + 1);
    expect(await device.submit(path, { link }, '/password/signin')).toMatchObject({ location: '/dashboard' });
    expect(await device.get('/dashboard')).toMatchObject({ status: 200 });
    expect((await visitor().get(path)).text).toContain('This link has expired');
    // The other session goes on, and the device is known from now on, so the password works there.
    expect(await owner.get('/dashboard')).toMatchObject({ status: 200 });
    await device.submit('/dashboard', {}, '/signout');
    expect(await device.signIn(email)).toMatchObject({ status: 303 });
  });
});

describe('confirming an address', () => {
  const ATTACKER_PASSWORD = 'an attacker, a staple';

  it('needs the password of the sign-up from a visitor without its session', async () => {
    await visitor().signUp('finn@example.com');
    const path = confirmationIn((await smtp.emailTo('finn@example.com')).text);
    const stranger = visitor();
    const page = (await stranger.get(path)).text;
    expect(page).toContain('Enter the password you chose when you signed up.');
    expect(page).toContain('Didn’t sign up? Ignore the email.');
    for (const fields of [{}, { password: '' }, { password: 'a wrong password' }]) {
      expect(await confirm(path, stranger, fields)).toMatchObject({ status: 422 });
    }
    expect(await visitor().signIn('finn@example.com')).toMatchObject({ status: 422 });
    const done = await confirm(path, stranger, { password: PASSWORD });
    expect(done).toMatchObject({ status: 303, location: '/dashboard/keys?done=confirmed' });
    expect((await stranger.get('/dashboard/keys')).text).toContain('finn@example.com');
    expect(await visitor().signIn('finn@example.com')).toMatchObject({ status: 303 });
  });

  it('confirming an address does not give the address, or the operator role, to a stranger who signed up with it', async () => {
    const email = 'chief@example.com';
    const other = await startServer({ ...SETTINGS, STORYBAR_SMTP_URL: smtp.url, STORYBAR_OPERATOR_EMAIL: email });
    onTestFinished(async () => await other.stop());
    const newVisitor = (): Visitor => new Visitor(other.url, `198.51.100.${(addresses += 1)}`);
    const attacker = newVisitor();
    await attacker.signUp(email, ATTACKER_PASSWORD);
    const planted = confirmationIn((await smtp.emailTo(email)).text);
    expect(await confirm(planted, newVisitor())).toMatchObject({ status: 422 });
    const chief = newVisitor();
    await chief.signUp(email);
    const own = confirmationIn((await smtp.emailTo(email, 2)).text);
    // The session and the password of one sign-up don't confirm the other, although both have the same address.
    expect(await confirm(planted, chief)).toMatchObject({ status: 422 });
    expect(await confirm(planted, chief, { password: PASSWORD })).toMatchObject({ status: 422 });
    expect(await confirm(own, attacker, { password: ATTACKER_PASSWORD })).toMatchObject({ status: 422 });
    expect(await attacker.get('/operator')).toMatchObject({ status: 404 });
    const elsewhere = newVisitor();
    expect(await confirm(own, elsewhere, { password: PASSWORD })).toMatchObject({ status: 303 });
    expect(await elsewhere.get('/operator')).toMatchObject({ status: 200 });
    expect(await attacker.get('/operator')).toMatchObject({ status: 404 });
    expect(await newVisitor().signIn(email, ATTACKER_PASSWORD)).toMatchObject({ status: 422 });
  });

  it('limits wrong passwords like a sign-in, and never stops the browser that signed up', async () => {
    const owner = visitor();
    await owner.signUp('hugo@example.com');
    const path = confirmationIn((await smtp.emailTo('hugo@example.com')).text);
    await owner.submit('/dashboard', {}, '/signout');
    const stranger = visitor();
    const fields = { token: await stranger.tokenOf(path), link: path.slice(path.indexOf('=') + 1) };
    // The attempts run side by side, because in half a minute the limit already allows one more.
    const guesses = Array.from(
      { length: 11 },
      async () => (await stranger.send('/confirm', { ...fields, password: 'a wrong password' })).status,
    );
    expect((await Promise.all(guesses)).toSorted((a, b) => a - b)).toEqual([...Array<number>(10).fill(422), 429]);
    expect(await confirm(path, stranger, { password: PASSWORD })).toMatchObject({ status: 429 });
    expect(await confirm(path, owner, { password: PASSWORD })).toMatchObject({ status: 303 });
  });
});

it('the site shows the address that was typed on the password page before it is confirmed', async () => {
  const user = visitor();
  await user.signUp('ida.longname@example.com');
  const page = (await user.get('/dashboard/security')).text;
  expect(page).toContain('value="ida.longname@example.com"');
  expect(page).not.toContain('unconfirmed:');
  const next = 'ida.longname@example.com';
  const change = await user.submit('/dashboard/security', { current: PASSWORD, next });
  expect(change).toMatchObject({ status: 422 });
});

describe('a password reset', () => {
  it('a password reset ends all sessions and invalidates all other links', async () => {
    const carl = await signUp('carl@example.com');
    for (let index = 0; index < 2; index += 1) await visitor().submit('/reset', { email: 'carl@example.com' });
    const first = linkIn((await smtp.emailTo('carl@example.com', 2)).text);
    const second = linkIn((await smtp.emailTo('carl@example.com', 3)).text);
    const next = 'a new horse, a new staple';
    expect(await redeem(second, visitor(), next)).toMatchObject({ status: 303 });
    expect(await carl.get('/dashboard')).toMatchObject({ status: 303 });
    expect((await visitor().get(first)).text).toContain('This link has expired');
    expect(await visitor().signIn('carl@example.com')).toMatchObject({ status: 422 });
    expect(await visitor().signIn('carl@example.com', next)).toMatchObject({ status: 303 });
  });

  it('links to the configured public URL, whatever host the request claims', async () => {
    await signUp('dora@example.com');
    const attacker = visitor();
    const token = await attacker.tokenOf('/reset');
    const fields = { token, email: 'dora@example.com' };
    await attacker.send('/reset', fields, { 'x-forwarded-host': 'evil.example', origin: PUBLIC_URL });
    expect((await smtp.emailTo('dora@example.com', 2)).text).not.toContain('evil.example');
  });
});

it('a password reset logs an email that cannot be sent with the id of the request, and responds as usual', async () => {
  const broken = await startServer({
    STORYBAR_WORKERS: '1',
    STORYBAR_PUBLIC_URL: PUBLIC_URL,
    STORYBAR_SMTP_URL: 'smtp://127.0.0.1:1',
    STORYBAR_MAIL_FROM: 'captions@example.com',
  });
  const response = await new Visitor(broken.url).signUp('ann@example.com');
  expect(response).toMatchObject({ status: 303, location: '/dashboard/start' });
  const line = await until(() =>
    broken
      .output()
      .stderr.split('\n')
      .find((entry) => entry.includes('email not sent')),
  );
  const requestId = response.headers.get('x-request-id');
  expect(JSON.parse(line)).toMatchObject({ level: 40, requestId, purpose: 'sign-up' });
  expect(line).not.toContain('ann@example.com');
  await broken.stop();
});

describe('changing the address', () => {
  const PATH = '/dashboard/security/email';

  it('needs the password and a link in the new mailbox, and tells the old one', async () => {
    const user = await signUp('before@example.com');
    expect((await user.submit(PATH, { email: 'after@example.com', password: 'wrong password' })).status).toBe(422);
    for (const email of ['nonsense', 'before@example.com']) {
      expect((await user.submit(PATH, { email, password: PASSWORD })).status).toBe(422);
    }
    expect(await user.submit(PATH, { email: 'After@Example.com', password: PASSWORD })).toMatchObject({
      location: '/dashboard/security?done=email-change-sent',
    });
    const link = confirmationIn((await smtp.emailTo('after@example.com')).text);
    expect((await visitor().signIn('before@example.com')).status).toBe(303);
    expect((await visitor().signIn('after@example.com')).status).toBe(422);
    const stranger = await signUp('stranger@example.com');
    expect((await confirm(link, stranger)).status).toBe(422);
    expect(await confirm(link, user)).toMatchObject({ location: '/dashboard/security?done=email-changed' });
    expect((await smtp.emailTo('before@example.com', 2)).text).toContain('was changed');
    expect((await visitor().signIn('before@example.com')).status).toBe(422);
    expect((await visitor().signIn('after@example.com')).status).toBe(303);
    expect((await user.get('/dashboard')).text).toContain('after@example.com');
  });

  it('changing the address to one that is taken looks the same, and changes nothing', async () => {
    const user = await signUp('wisher@example.com');
    await signUp('taken@example.com');
    expect(await user.submit(PATH, { email: 'taken@example.com', password: PASSWORD })).toMatchObject({
      location: '/dashboard/security?done=email-change-sent',
    });
    const { text } = await smtp.emailTo('taken@example.com', 2);
    expect(text).toContain('Nothing has changed.');
    expect(text).not.toContain('link=');
  });

  it('changing the address does not become a way around the second factor', async () => {
    const user = await signUp('careful@example.com');
    const page = '/dashboard/security/two-factor';
    const secret = secretIn((await user.get(page)).text);
    await user.submit(page, { secret, code: codeOf(secret), password: PASSWORD });
    await user.submit(PATH, { email: 'careful-2@example.com', password: PASSWORD });
    const link = confirmationIn((await smtp.emailTo('careful-2@example.com')).text);
    const thief = visitor();
    const asked = await confirm(link, thief, { password: PASSWORD });
    expect(asked.text).toContain('Enter your code');
    expect((await thief.get('/dashboard')).location).toContain('/signin');
  });

  it('an address change is refused before the current address is confirmed', async () => {
    const user = visitor();
    await user.signUp('hasty@example.com');
    expect((await user.submit(PATH, { email: 'other@example.com', password: PASSWORD })).status).toBe(400);
  });
});

describe('a user is told by email', () => {
  const SECURITY = '/dashboard/security';

  it('a user gets an email when a passkey is added, and not when it is refused', async () => {
    const user = await signUp('keys@example.com');
    const add = async (challenge: string) =>
      await user.submit(
        SECURITY,
        { name: 'Laptop', response: registrationResponse(PUBLIC_URL, challenge) },
        `${SECURITY}/passkeys`,
      );
    const options = await user.submit(`${SECURITY}/passkeys`, { password: PASSWORD }, `${SECURITY}/passkeys/options`);
    const { challenge } = JSON.parse(options.text) as { challenge: string };
    expect((await add('another challenge')).status).toBe(422);
    expect(await add(challenge)).toMatchObject({ location: `${SECURITY}?done=passkey-added` });
    const { text } = await smtp.emailTo('keys@example.com', 2);
    expect(text).toContain('A passkey was added to your Storybar account');
    expect(text).toContain(`${PUBLIC_URL}${SECURITY}`);
  });

  it('a user gets one email when two-factor authentication is turned off', async () => {
    const user = await signUp('codes@example.com');
    const page = `${SECURITY}/two-factor`;
    const secret = secretIn((await user.get(page)).text);
    await user.submit(page, { secret, code: codeOf(secret), password: PASSWORD });
    for (const password of ['wrong password', PASSWORD, PASSWORD]) await user.submit(page, { password }, `${page}/off`);
    expect((await smtp.emailTo('codes@example.com', 2)).text).toContain('Two-factor authentication was turned off');
    await user.submit('/dashboard/security/email', { email: 'last@example.com', password: PASSWORD });
    await smtp.emailTo('last@example.com');
    expect(smtp.emails.filter(({ to }) => to === 'codes@example.com')).toHaveLength(2);
  });
});

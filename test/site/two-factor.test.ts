// Signing in with an authenticator app, and attacks by someone who knows the password.

import { beforeAll, describe, expect, it } from 'vitest';
import { newAddress, type SharedServer, sharedServer } from '../shared-server.ts';
import { codeOf, secretIn } from './authenticator.ts';
import { type PageResponse, PASSWORD, Visitor } from './visitor.ts';

const PATH = '/dashboard/security/two-factor';

let server: SharedServer;
let visitors = 0;
beforeAll(async () => {
  server = await sharedServer();
});

const newVisitor = (): Visitor => {
  visitors += 1;
  return new Visitor(server.url, newAddress());
};
const recoveryCodesIn = (text: string): string[] => [...new Set(text.match(/(?:[a-z2-7]{4}-){3}[a-z2-7]{4}/gu))];
const isSignedIn = async (visitor: Visitor): Promise<boolean> => (await visitor.get('/dashboard')).status === 200;

interface Protected {
  readonly visitor: Visitor;
  readonly email: string;
  readonly secret: string;
  readonly recoveryCodes: string[];
}

const newProtected = async (): Promise<Protected> => {
  const visitor = newVisitor();
  const email = `two-factor-${visitors}@two-factor.example.com`;
  await visitor.signUp(email);
  const secret = secretIn((await visitor.get(PATH)).text);
  for (;;) {
    // The code of the previous step leaves the current one for signing in. It is too old when the step ends meanwhile.
    const { text } = await visitor.submit(PATH, { secret, code: codeOf(secret, -1), password: PASSWORD });
    const recoveryCodes = recoveryCodesIn(text);
    if (recoveryCodes.length > 0) return { visitor, email, secret, recoveryCodes };
  }
};
const enterPassword = async (visitor: Visitor, email: string): Promise<string> => {
  const { text, status } = await visitor.signIn(email);
  expect(status).toBe(200);
  expect(text).toContain('Enter your code');
  return /name="pending" value="(?<token>[^"]+)"/u.exec(text)?.groups?.['token'] ?? '';
};
const enterCode = async (visitor: Visitor, pending: string, code: string): Promise<PageResponse> =>
  await visitor.submit('/signin', { pending, code, next: '/dashboard/keys' }, '/signin/code');

describe('turning two-factor authentication on', () => {
  it('needs the password and a code that fits, and ends all other sessions', async () => {
    const visitor = newVisitor();
    const email = `on-${visitors}@two-factor.example.com`;
    await visitor.signUp(email);
    const other = newVisitor();
    await other.signIn(email);
    const page = (await visitor.get(PATH)).text;
    const secret = secretIn(page);
    expect(page).toContain('<svg class="qr"');
    expect(secretIn((await visitor.get(PATH)).text)).not.toBe(secret);
    const wrong = [
      [{ secret, code: codeOf(secret), password: 'not the password' }, 'Incorrect password.'],
      [{ secret, code: '000000', password: PASSWORD }, 'Wrong code.'],
      [{ secret, code: codeOf(secret, 5), password: PASSWORD }, 'Wrong code.'],
    ] as const;
    for (const [fields, fault] of wrong) {
      expect(await visitor.submit(PATH, fields)).toMatchObject({ status: 422, text: expect.stringContaining(fault) });
    }
    expect(await visitor.submit(PATH, { secret: 'short', code: '1', password: PASSWORD })).toMatchObject({
      status: 303,
    });
    const on = await visitor.submit(PATH, { secret, code: codeOf(secret), password: PASSWORD });
    expect(recoveryCodesIn(on.text)).toHaveLength(10);
    const file =
      /href="data:text\/plain;charset=utf-8,(?<text>[^"]+)" download=/u.exec(on.text)?.groups?.['text'] ?? '';
    expect(decodeURIComponent(file).trim().split('\n')).toEqual(recoveryCodesIn(on.text));
    expect([await isSignedIn(visitor), await isSignedIn(other)]).toEqual([true, false]);
    expect((await visitor.get(PATH)).text).toContain('10 recovery codes are left');
  });
});

describe('signing in with a code', () => {
  it('takes the password and a code, each of which works once', async () => {
    const { email, secret } = await newProtected();
    const visitor = newVisitor();
    const pending = await enterPassword(visitor, email);
    expect(await isSignedIn(visitor)).toBe(false);
    expect(await enterCode(visitor, pending, '000000')).toMatchObject({ status: 422 });
    const code = codeOf(secret);
    const before = visitor.cookies.get('__Host-storybar');
    expect(before).toBeDefined();
    expect(await enterCode(visitor, pending, code)).toMatchObject({ status: 303, location: '/dashboard/keys' });
    expect(visitor.cookies.get('__Host-storybar')).not.toBe(before);
    expect(await isSignedIn(visitor)).toBe(true);
    const thief = newVisitor();
    expect(await enterCode(thief, await enterPassword(thief, email), code)).toMatchObject({ status: 422 });
    expect(await isSignedIn(thief)).toBe(false);
  });

  it('accepts every recovery code once, however it is typed', async () => {
    const { email, recoveryCodes } = await newProtected();
    const [first = '', second = ''] = recoveryCodes;
    const sign = async (code: string): Promise<number> => {
      const visitor = newVisitor();
      return (await enterCode(visitor, await enterPassword(visitor, email), code)).status;
    };
    expect(await sign(first.toUpperCase().replaceAll('-', ' '))).toBe(303);
    expect(await sign(first)).toBe(422);
    expect(await sign(second)).toBe(303);
  });

  it('signing in with a code is refused with a forged, foreign or changed token', async () => {
    const { email, secret, visitor: owner } = await newProtected();
    const other = await newProtected();
    const visitor = newVisitor();
    const pending = await enterPassword(visitor, email);
    const [userId = '', until = '', signature = ''] = pending.split('.');
    const [otherId = ''] = (await enterPassword(newVisitor(), other.email)).split('.');
    const forged = [
      '',
      'x.y.z',
      `${userId}.${until}.`,
      `${userId}.${Number(until) + 1}.${signature}`,
      `${otherId}.${until}.${signature}`,
    ];
    for (const token of forged) {
      expect(await enterCode(visitor, token, codeOf(secret))).toMatchObject({
        status: 303,
        location: '/signin?done=sign-in-expired',
      });
    }
    const next = 'another horse, another staple';
    await owner.submit('/dashboard/security', { current: PASSWORD, next });
    expect(await enterCode(visitor, pending, codeOf(secret))).toMatchObject({
      location: '/signin?done=sign-in-expired',
    });
    expect(await isSignedIn(visitor)).toBe(false);
  });

  it('signing in with a code is limited to a few attempts per user, from all addresses together', async () => {
    const { email, secret } = await newProtected();
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 11; attempt += 1) {
      const visitor = newVisitor();
      statuses.push((await enterCode(visitor, await enterPassword(visitor, email), '000000')).status);
    }
    expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 422));
    expect(statuses.at(-1)).toBe(429);
    const visitor = newVisitor();
    expect((await enterCode(visitor, await enterPassword(visitor, email), codeOf(secret))).status).toBe(429);
  });

  it('a code is also needed after the password was reset with a link', async () => {
    const { email, secret } = await newProtected();
    const link = /\/password\?link=[\w-]{43}/u.exec(await server.cli('users', 'reset', email))?.[0] ?? '';
    const visitor = newVisitor();
    const password = 'a new horse and a new staple';
    const reset = await visitor.submit(link, { link: link.slice(link.indexOf('=') + 1), password }, '/password');
    expect(reset.text).toContain('Enter your code');
    expect(await isSignedIn(visitor)).toBe(false);
    const pending = /name="pending" value="(?<token>[^"]+)"/u.exec(reset.text)?.groups?.['token'] ?? '';
    expect(await enterCode(visitor, pending, codeOf(secret))).toMatchObject({ status: 303 });
    expect(await isSignedIn(visitor)).toBe(true);
  });
});

describe('turning two-factor authentication off', () => {
  it('turning two-factor authentication off and creating recovery codes need the password', async () => {
    const { visitor, email, recoveryCodes } = await newProtected();
    for (const action of ['codes', 'off']) {
      expect((await visitor.submit(PATH, { password: 'wrong password' }, `${PATH}/${action}`)).status).toBe(422);
    }
    const renewed = recoveryCodesIn((await visitor.submit(PATH, { password: PASSWORD }, `${PATH}/codes`)).text);
    expect(renewed).toHaveLength(10);
    expect(renewed.filter((code) => recoveryCodes.includes(code))).toEqual([]);
    expect(await visitor.submit(PATH, { password: PASSWORD }, `${PATH}/off`)).toMatchObject({
      location: '/dashboard/security?done=two-factor-off',
    });
    expect(await newVisitor().signIn(email)).toMatchObject({ status: 303, location: '/dashboard' });
  });

  it('an operator can turn two-factor authentication off when the app and all codes are lost', async () => {
    const { email } = await newProtected();
    expect(await server.cli('users', 'two-factor-off', email)).toContain('with the password alone');
    expect(await newVisitor().signIn(email)).toMatchObject({ status: 303, location: '/dashboard' });
    await expect(server.cli('users', 'two-factor-off', email)).rejects.toThrow('has no authenticator app');
  });
});

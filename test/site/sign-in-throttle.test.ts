// The limit on sign-in attempts, which stops strangers who guess a password, and never the user's own browser.

import { beforeAll, describe, expect, it } from 'vitest';
import { newAddress, type SharedServer, sharedServer } from '../shared-server.ts';
import { PASSWORD, Visitor } from './visitor.ts';

const DEVICE_COOKIE = '__Host-storybar-device';

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

/** Returns a visitor with an address of their own. */
const stranger = (): Visitor => new Visitor(server.url, newAddress());

/** Returns a user who signed up, then signed out again in the same browser. */
const userWithKnownBrowser = async (email: string): Promise<Visitor> => {
  const visitor = stranger();
  await visitor.signUp(email);
  await visitor.submit('/dashboard', {}, '/signout');
  return visitor;
};

const statuses = async (visitor: Visitor, email: string, password: string, attempts: number): Promise<number[]> => {
  const token = await visitor.tokenOf('/signin');
  // The attempts run side by side, because in half a minute the limit already allows one more.
  const responses = await Promise.all(
    Array.from({ length: attempts }, () => visitor.send('/signin', { token, email, password })),
  );
  return responses.map(({ status }) => status).toSorted((a, b) => a - b);
};

const repeat = (status: number, count: number): number[] => Array.from({ length: count }, () => status);

/**
 * Two addresses make ten attempts each, as many as one account allows to all strangers together. Returns another address, which has
 * made the one attempt that a new network has then.
 */
const exhaustAttempts = async (email: string): Promise<string> => {
  for (let address = 0; address < 2; address += 1) {
    expect(await statuses(stranger(), email, 'a wrong password', 10)).toEqual(repeat(422, 10));
  }
  const address = newAddress();
  expect(await statuses(new Visitor(server.url, address), email, 'a wrong password', 2)).toEqual([422, 429]);
  return address;
};

describe('after strangers have used up the attempts for an account', () => {
  it('lets a new device on a network of its own sign in with the password, and a network only once in 15 minutes', async () => {
    await userWithKnownBrowser('ida@throttle.example.com');
    const refusedAddress = await exhaustAttempts('ida@throttle.example.com');
    expect(await stranger().signIn('ida@throttle.example.com')).toMatchObject({ status: 303, location: '/dashboard' });
    const refused = await new Visitor(server.url, refusedAddress).signIn('ida@throttle.example.com');
    expect(refused).toMatchObject({ status: 429, text: expect.stringContaining('try again in 15 minutes') });
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(15 * 60);
  });

  it('lets the browser that has signed in before sign in, whatever its address', async () => {
    const owner = await userWithKnownBrowser('ann@throttle.example.com');
    const elsewhere = new Visitor(server.url, await exhaustAttempts('ann@throttle.example.com'));
    elsewhere.cookies.set(DEVICE_COOKIE, owner.cookies.get(DEVICE_COOKIE) ?? '');
    expect(await owner.signIn('ann@throttle.example.com')).toMatchObject({ status: 303, location: '/dashboard' });
    expect(await elsewhere.signIn('ann@throttle.example.com')).toMatchObject({ status: 303, location: '/dashboard' });
  });

  it('rejects a forged device cookie and that of another user', async () => {
    const owner = await userWithKnownBrowser('bob@throttle.example.com');
    const other = await userWithKnownBrowser('eve@throttle.example.com');
    const address = await exhaustAttempts('bob@throttle.example.com');
    const [deviceId, signature] = (owner.cookies.get(DEVICE_COOKIE) ?? '').split('.');
    const forgeries = [
      other.cookies.get(DEVICE_COOKIE) ?? '',
      `${deviceId}.${'A'.repeat(43)}`,
      `${'A'.repeat(43)}.${signature}`,
      `${deviceId}`,
    ];
    for (const forgery of forgeries) {
      const attacker = new Visitor(server.url, address);
      attacker.cookies.set(DEVICE_COOKIE, forgery);
      expect([forgery, (await attacker.signIn('bob@throttle.example.com')).status]).toEqual([forgery, 429]);
    }
    expect(await owner.signIn('bob@throttle.example.com')).toMatchObject({ status: 303 });
  });

  it('lets the user back in with a reset link, and knows that browser from then on', async () => {
    await userWithKnownBrowser('carl@throttle.example.com');
    const address = await exhaustAttempts('carl@throttle.example.com');
    const visitor = new Visitor(server.url, address);
    const printed = await server.cli('users', 'reset', 'carl@throttle.example.com');
    const path = /\/password\?link=[\w-]{43}/u.exec(printed)?.[0] ?? '';
    const password = 'an entirely new password';
    const link = path.slice(path.indexOf('=') + 1);
    expect(await visitor.submit(path, { link, password }, '/password')).toMatchObject({ status: 303 });
    await visitor.submit('/dashboard', {}, '/signout');
    const other = new Visitor(server.url, address);
    expect(await other.signIn('carl@throttle.example.com', password)).toMatchObject({ status: 429 });
    expect(await visitor.signIn('carl@throttle.example.com', password)).toMatchObject({ status: 303 });
  });
});

it('the throttle limits the attempts of a known browser across addresses, without using up those of strangers', async () => {
  const owner = await userWithKnownBrowser('dora@throttle.example.com');
  const token = await owner.tokenOf('/signin');
  const guess = { token, email: 'dora@throttle.example.com', password: 'a wrong password' };
  const responses = await Promise.all(
    Array.from({ length: 11 }, (_, index) => owner.send('/signin', guess, { 'x-forwarded-for': `10.3.0.${index}` })),
  );
  expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([...repeat(422, 10), 429]);
  expect(await owner.signIn('dora@throttle.example.com')).toMatchObject({ status: 429 });
  expect(await stranger().signIn('dora@throttle.example.com')).toMatchObject({ status: 303 });
});

it('the throttle treats other browsers as strangers again after the password was changed', async () => {
  const owner = await userWithKnownBrowser('fay@throttle.example.com');
  const device = owner.cookies.get(DEVICE_COOKIE) ?? '';
  await owner.signIn('fay@throttle.example.com');
  const next = 'another horse, another staple';
  await owner.submit('/dashboard/security', { current: PASSWORD, next });
  await owner.submit('/dashboard', {}, '/signout');
  const old = new Visitor(server.url, await exhaustAttempts('fay@throttle.example.com'));
  old.cookies.set(DEVICE_COOKIE, device);
  expect(await old.signIn('fay@throttle.example.com', next)).toMatchObject({ status: 429 });
  expect(await owner.signIn('fay@throttle.example.com', next)).toMatchObject({ status: 303 });
});

it('sets a device cookie that lasts a year and is HttpOnly, SameSite, and Secure except on localhost without HTTPS', async () => {
  const deviceCookie = (headers: Headers) => headers.getSetCookie().find((line) => line.includes('storybar-device='));
  const proxied = await stranger().signUp('gus@throttle.example.com');
  expect(deviceCookie(proxied.headers)).toMatch(
    /^__Host-storybar-device=[\w-]{43}\.[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=31536000$/u,
  );
  const local = await new Visitor(server.url).signUp('hal@throttle.example.com');
  expect(deviceCookie(local.headers)).toMatch(
    /^storybar-device=[\w-]{43}\.[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=31536000$/u,
  );
});

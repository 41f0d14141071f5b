// The pages for sessions, data export and deleting the account: their content, their effects and their refusals.

import { beforeAll, describe, expect, it } from 'vitest';
import { decode, plainPng } from '../pictures.ts';
import { form, post, problemOf } from '../running-server.ts';
import { newAddress, type SharedServer, sharedServer } from '../shared-server.ts';
import { PASSWORD, Visitor } from './visitor.ts';

const FORM = { width: '32', height: '32', text: 'Hello' };
const SECURITY = '/dashboard/security';
const DELETE = '/dashboard/account/delete';

let server: SharedServer;
let visitors = 0;
beforeAll(async () => {
  server = await sharedServer();
});

const newVisitor = (): Visitor => {
  visitors += 1;
  return new Visitor(server.url, newAddress());
};
const newMember = async (): Promise<{ visitor: Visitor; email: string }> => {
  const visitor = newVisitor();
  const email = `settings-${visitors}@settings.example.com`;
  await visitor.signUp(email);
  return { visitor, email };
};
const sessionIds = (text: string): string[] =>
  [...text.matchAll(/name="session" value="([\da-f]{32})"/gu)].map(([, id = '']) => id);
const isSignedIn = async (visitor: Visitor): Promise<boolean> => (await visitor.get('/dashboard')).status === 200;

describe('the list of sessions', () => {
  it('names devices, and ends one of them or all others', async () => {
    const { visitor, email } = await newMember();
    const [phone, tablet] = [newVisitor(), newVisitor()];
    const token = await phone.tokenOf('/signin');
    const agent = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 Version/18.0 Safari/604.1';
    await phone.send('/signin', { token, email, password: PASSWORD }, { 'user-agent': agent });
    const { text } = await visitor.get(SECURITY);
    expect(text).toContain('Safari on iPhone');
    expect(text.match(/this device/gu)).toHaveLength(1);
    const ids = sessionIds(text);
    expect(ids).toHaveLength(2);
    const phoneId = sessionIds(text.slice(text.indexOf('Safari on iPhone')))[0] ?? '';
    expect(await visitor.submit(SECURITY, { session: phoneId }, `${SECURITY}/end-session`)).toMatchObject({
      location: `${SECURITY}?done=session-ended`,
    });
    expect(await isSignedIn(phone)).toBe(false);
    expect(await isSignedIn(visitor)).toBe(true);
    await tablet.signIn(email);
    await visitor.submit(SECURITY, {}, `${SECURITY}/end-other-sessions`);
    expect([await isSignedIn(tablet), await isSignedIn(visitor)]).toEqual([false, true]);
    const own = sessionIds((await visitor.get(SECURITY)).text);
    expect(own).toHaveLength(1);
    expect(await visitor.submit(SECURITY, { session: own[0] ?? '' }, `${SECURITY}/end-session`)).toMatchObject({
      location: '/signin?done=signed-out',
    });
    expect(await isSignedIn(visitor)).toBe(false);
  });

  it('the list of sessions cannot end the session of another user', async () => {
    const [ann, bob] = [await newMember(), await newMember()];
    const [annsId = ''] = sessionIds((await ann.visitor.get(SECURITY)).text);
    for (const session of [annsId, '', 'x'.repeat(32)]) {
      expect((await bob.visitor.submit(SECURITY, { session }, `${SECURITY}/end-session`)).status).toBe(404);
    }
    expect(await isSignedIn(ann.visitor)).toBe(true);
  });
});

describe('usage per key', () => {
  it('usage is shown per key and type for a range of days, and exported as CSV', async () => {
    const { visitor } = await newMember();
    const shop = await visitor.createKey({ name: 'shop' });
    const blog = await visitor.createKey({ name: 'blog' });
    for (const key of [shop.key, shop.key, blog.key]) {
      await (await post({ url: server.url, key }, form(FORM))).arrayBuffer();
    }
    await visitor.waitForUsage('<strong>3</strong> of 100 credits used (Free)');
    const csv = async (query: string): Promise<string[]> =>
      (await visitor.get(`/dashboard/usage/keys.csv?${query}`)).text.trim().split('\r\n').slice(1);
    const today = new Date().toISOString().slice(0, 10);
    expect((await csv('')).toSorted()).toEqual(
      [
        `${today},${shop.id},shop,overlay,live,delivered,2,2`,
        `${today},${blog.id},blog,overlay,live,delivered,1,1`,
      ].toSorted(),
    );
    expect(await csv(`range=7&key=${blog.id}`)).toEqual([`${today},${blog.id},blog,overlay,live,delivered,1,1`]);
    expect(await csv('kind=video')).toEqual([]);
    const page = (await visitor.get(`/dashboard?range=7&key=${shop.id}&kind=overlay`)).text;
    expect(page).toContain('Renders per day from');
    expect(page).toContain(': 2 in total.');
    expect(page).toMatch(/<option value="7" selected>/u);
    expect((await visitor.get('/dashboard?range=999&kind=x&key=none')).status).toBe(200);
    expect((await newVisitor().get('/dashboard/usage/keys.csv')).status).toBe(303);
  });
});

describe('the export of all data', () => {
  it('the export is JSON with the renders and requests of the account, and without secrets', async () => {
    const { visitor, email } = await newMember();
    const { key, id } = await visitor.createKey();
    await (await post({ url: server.url, key }, form(FORM))).arrayBuffer();
    await visitor.waitForUsage('<strong>1</strong> of 100');
    const response = await visitor.get('/dashboard/account/export.json');
    expect(response.headers.get('content-disposition')).toContain('attachment');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const data = JSON.parse(response.text) as Record<string, Record<string, unknown>[]>;
    expect(data['users']).toMatchObject([{ email }]);
    expect(data['keys']?.map((each) => each['id'])).toContain(id);
    expect(data['renders']).toMatchObject([{ key_id: id, outcome: 'delivered' }]);
    expect(response.text).not.toContain(key);
    expect(response.text).not.toMatch(/argon2|hash/u);
    expect((await newVisitor().get('/dashboard/account/export.json')).location).toContain('/signin');
  });

  it('the export has the content of logos and fonts', async () => {
    const { visitor } = await newMember();
    const { key } = await visitor.createKey();
    const upload = async (): Promise<{ id: string }> => {
      const body = form({ asset: await plainPng(20, 10, '#336699') });
      const response = await fetch(`${server.url}/v1/logos`, { method: 'POST', headers: { 'x-api-key': key }, body });
      expect(response.status).toBe(201);
      return (await response.json()) as { id: string };
    };
    const [kept, deleted] = [await upload(), await upload()];
    await fetch(`${server.url}/v1/logos/${deleted.id}`, { method: 'DELETE', headers: { 'x-api-key': key } });
    const { text } = await visitor.get('/dashboard/account/export.json');
    const rows = (JSON.parse(text) as { brand_files: { id: string; sha256: string; content: string | null }[] })
      .brand_files;
    const contentOf = (id: string): string | null | undefined => rows.find((row) => row.id === id)?.content;
    const png = Buffer.from(contentOf(kept.id) ?? '', 'base64');
    expect(await decode(png)).toMatchObject({ width: 20, height: 10 });
    expect(contentOf(deleted.id)).toBeNull();
  });
});

describe('deleting the account', () => {
  it('needs the password, then removes users and keys immediately', async () => {
    const { visitor, email } = await newMember();
    const { key } = await visitor.createKey();
    for (const password of ['', 'wrong password here']) {
      expect(await visitor.submit(DELETE, { password })).toMatchObject({
        status: 422,
        text: expect.stringContaining('Incorrect password.'),
      });
    }
    expect(await isSignedIn(visitor)).toBe(true);
    const other = newVisitor();
    await other.signIn(email);
    expect(await visitor.submit(DELETE, { password: PASSWORD })).toMatchObject({
      location: '/signin?done=account-deleted',
    });
    expect([await isSignedIn(visitor), await isSignedIn(other)]).toEqual([false, false]);
    expect((await newVisitor().signIn(email)).status).toBe(422);
    const refused = async (): Promise<string> =>
      (await problemOf(await post({ url: server.url, key }, form(FORM)))).code;
    await expect.poll(refused).toBe('invalid_api_key');
    expect(await newVisitor().signUp(email)).toMatchObject({ status: 303, location: '/dashboard/start' });
  });

  it('an account cannot be deleted while an operator belongs to it', async () => {
    const { visitor } = await newMember();
    const email = `operator-${visitors}@settings.example.com`;
    const { text } = await visitor.submit('/dashboard/members', { email, role: 'member' });
    const link = /\/join\?link=(?<secret>[\w-]{43})/u.exec(text)?.groups?.['secret'] ?? '';
    const operator = newVisitor();
    await operator.submit(`/join?link=${link}`, { link, password: PASSWORD }, '/join');
    const token = await visitor.tokenOf(DELETE);
    await server.cli('users', 'promote', email);
    expect((await visitor.get(DELETE)).text).toContain('An operator of this server belongs to this account');
    expect(await visitor.send(DELETE, { token, password: PASSWORD })).toMatchObject({
      status: 400,
      text: expect.stringContaining('An operator of this server belongs to this account'),
    });
    expect((await operator.signIn(email)).status).toBe(303);
    await server.cli('users', 'demote', email);
    expect(await visitor.submit(DELETE, { password: PASSWORD })).toMatchObject({
      location: '/signin?done=account-deleted',
    });
  });

  it('deleting the account is limited to a few attempts to guess the password', async () => {
    const { visitor } = await newMember();
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 12; attempt += 1) {
      statuses.push((await visitor.submit(DELETE, { password: `guess number ${attempt}` })).status);
    }
    expect(statuses.slice(0, 5)).toEqual([422, 422, 422, 422, 422]);
    expect(statuses.at(-1)).toBe(429);
    expect((await visitor.submit(DELETE, { password: PASSWORD })).status).toBe(429);
  });

  it('deleting the account is refused for operators and from other sites', async () => {
    const { visitor, email } = await newMember();
    const token = await visitor.tokenOf(DELETE);
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect((await visitor.send(DELETE, { token, password: PASSWORD }, foreign)).status).toBe(403);
    expect((await visitor.send(DELETE, { token: 'x', password: PASSWORD })).status).toBe(403);
    await server.cli('users', 'promote', email);
    await visitor.signIn(email);
    expect((await visitor.submit(DELETE, { password: PASSWORD })).status).toBe(400);
    expect(await isSignedIn(visitor)).toBe(true);
  });
});

describe('sign-in with Google and GitHub', () => {
  it('sign-in with Google and GitHub does not appear on any page, and its paths do not exist, unless it is configured', async () => {
    const { visitor } = await newMember();
    for (const text of [(await newVisitor().get('/signin')).text, (await newVisitor().get('/signup')).text])
      expect(text).not.toMatch(/Google|GitHub|class="or"/u);
    expect((await visitor.get(SECURITY)).text).not.toMatch(/Google|GitHub|Connected accounts/u);
    for (const path of ['/signin/google', '/signin/google/callback', '/signin/github', `${SECURITY}/providers`])
      expect([path, (await visitor.get(path)).status]).toEqual([path, 404]);
  });
});

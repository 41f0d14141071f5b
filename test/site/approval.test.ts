// Open sign-up without email: a test key works immediately, and live credits wait for the operator's approval.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainPng } from '../pictures.ts';
import { form, problemOf, type RunningServer, startServer } from '../running-server.ts';
import { PASSWORD, Visitor } from './visitor.ts';

const OPERATOR = 'boss@example.com';
const NOTE = 'An operator has yet to approve this account';

let server: RunningServer;
let networks = 0;
beforeAll(async () => {
  server = await startServer({
    STORYBAR_SIGN_UP: 'open',
    STORYBAR_TRUST_PROXY: '127.0.0.1',
    STORYBAR_OPERATOR_EMAIL: OPERATOR,
  });
});
afterAll(async () => await server.stop());

const visitor = (): Visitor => new Visitor(server.url, `10.8.${(networks += 1)}.1`);
const signUp = async (email: string): Promise<Visitor> => {
  const user = visitor();
  await user.signUp(email);
  return user;
};
const accountOf = async (email: string): Promise<string> => {
  const users = JSON.parse(await server.cli('users', 'list', '--json')) as { email: string; accountId: string }[];
  return users.find((user) => user.email === email)?.accountId ?? '';
};
const issue = async (account: string): Promise<string> =>
  (JSON.parse(await server.cli('keys', 'create', '--account', account, '--json')) as { key: string }).key;
const render = async (key: string): Promise<Response> => {
  const body = form({ asset: await plainPng(40, 30, '#abc'), text: 'Hello' });
  return await fetch(`${server.url}/v1/overlay`, { method: 'POST', headers: { 'x-api-key': key }, body });
};
const operator = async (): Promise<Visitor> => {
  const boss = visitor();
  const printed = await server.cli('users', 'reset', OPERATOR).catch(async () => {
    return await server.cli('users', 'invite', OPERATOR, '--operator');
  });
  const link = /\/password\?link=(?<link>[\w-]{43})/u.exec(printed)?.groups?.['link'] ?? '';
  await boss.submit(`/password?link=${link}`, { link, password: PASSWORD }, '/password');
  return boss;
};

describe('an account that signed up without a confirmed address', () => {
  it('renders with its test key, and every page with keys or credits says what is missing', async () => {
    const user = await signUp('ann@example.com');
    const start = await user.get('/dashboard/start');
    expect(start.text).toContain(NOTE);
    const key = /sb_test_\w{33}/u.exec(start.text)?.[0] ?? '';
    expect((await render(key)).status).toBe(200);
    for (const path of ['/dashboard', '/dashboard/keys']) expect((await user.get(path)).text).toContain(NOTE);
    const page = await user.submit('/dashboard/keys', { name: 'shop', mode: 'live', origins: '' });
    expect(page).toMatchObject({ status: 403, text: expect.stringContaining('Ask the operator to approve') });
    const playground = await user.get('/playground/account');
    expect(JSON.parse(playground.text)).toMatchObject({ account: { mode: 'test' } });
  });

  it('an account without a confirmed address gets 403 for a live key until the operator approves it on its page', async () => {
    const user = await signUp('bob@example.com');
    const account = await accountOf('bob@example.com');
    const key = await issue(account);
    const refused = await render(key);
    expect(refused.status).toBe(403);
    expect(await problemOf(refused)).toMatchObject({ code: 'approval_required' });
    const boss = await operator();
    expect((await boss.get('/operator')).text).toContain('/operator/accounts?state=pending');
    expect((await boss.get('/operator/accounts?state=pending')).text).toContain('bob@example.com');
    const path = `/operator/accounts/${account}`;
    expect(await boss.submit(path, {}, `${path}/approve`)).toMatchObject({ location: `${path}?done=account-approved` });
    expect((await render(key)).status).toBe(200);
    expect((await user.get('/dashboard/keys')).text).not.toContain(NOTE);
    expect((await user.createKey()).key).toMatch(/^sb_live_/u);
    expect((await boss.get('/operator/accounts?state=pending')).text).not.toContain('bob@example.com');
    expect(await server.cli('audit', '--account', account)).toContain('account.approved');
  });

  it('an account is approved by "accounts approve" and by a plan that the operator assigns', async () => {
    const commands = { 'carl@example.com': ['approve'], 'dora@example.com': ['plan', 'pro'] } as const;
    for (const [email, [action, ...rest]] of Object.entries(commands)) {
      await signUp(email);
      const account = await accountOf(email);
      const key = await issue(account);
      expect((await render(key)).status).toBe(403);
      await server.cli('accounts', action, account, ...rest);
      expect((await render(key)).status).toBe(200);
    }
  });

  it('an account is approved from the start when the operator invites the user', async () => {
    const printed = await server.cli('users', 'invite', 'eve@example.com');
    const link = /\/password\?link=(?<link>[\w-]{43})/u.exec(printed)?.groups?.['link'] ?? '';
    const user = visitor();
    await user.submit(`/password?link=${link}`, { link, password: PASSWORD }, '/password');
    await user.submit('/dashboard/plan', { plan: 'free' });
    expect((await user.createKey()).key).toMatch(/^sb_live_/u);
  });
});

describe('signing up', () => {
  it('signing up is limited per network and day, whatever the addresses in it', async () => {
    const statuses = [];
    for (let index = 0; index < 22; index += 1) {
      const user = new Visitor(server.url, `203.0.113.${index}`);
      statuses.push((await user.signUp(`crowd-${index}@example.com`)).status);
    }
    expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 303));
    expect(statuses.slice(20)).toEqual([429, 429]);
    expect(await visitor().signUp('crowd-23@example.com')).toMatchObject({ status: 303 });
  });

  it('counts the addresses of one mailbox together', async () => {
    const statuses = [];
    for (let index = 0; index < 6; index += 1) {
      statuses.push((await visitor().signUp(`f.ay+${index}@gmail.com`)).status);
    }
    expect(statuses).toEqual([303, 303, 303, 303, 303, 429]);
    expect(await visitor().signUp('fay@googlemail.com')).toMatchObject({ status: 429 });
  });
});

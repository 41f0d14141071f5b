// Plans, keys, usage and the operator pages: their content and their effects on the service.

import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createStore } from '../../src/service/store/store.ts';
import { SqliteEngine } from '../../src/service/store/sqlite-engine.ts';
import { form, post, problemOf } from '../running-server.ts';
import { newAddress, type SharedServer, sharedServer } from '../shared-server.ts';
import { Visitor } from './visitor.ts';

const FORM = { width: '32', height: '32', text: '=HYPERLINK("http://evil.example")' };

let server: SharedServer;
let visitors = 0;
beforeAll(async () => {
  server = await sharedServer();
});

const newVisitor = (): Visitor => {
  visitors += 1;
  return new Visitor(server.url, newAddress());
};
const newMember = async (): Promise<Visitor> => {
  const visitor = newVisitor();
  await visitor.signUpWithPlan(`user-${visitors}@account.example.com`);
  return visitor;
};
/** Assigns a plan like an operator, to the account that was created last. */
const assignPlan = async (plan: string): Promise<void> => {
  const accounts = JSON.parse(await server.cli('accounts', 'list', '--json')) as { id: string }[];
  await server.cli('accounts', 'plan', accounts.at(-1)?.id ?? '', plan);
};
const outcomeOf = async (key: string, origin?: string): Promise<string> => {
  const response = await post({ url: server.url, key }, form(FORM), { headers: origin ? { origin } : {} });
  if (response.status !== 200) return (await problemOf(response)).code;
  await response.arrayBuffer();
  return '200';
};

describe('the plan page', () => {
  it('the plan page offers no plan that has a price, because this server takes no payments', async () => {
    const visitor = newVisitor();
    await visitor.signUp('planless@account.example.com');
    const offered = (await visitor.get('/dashboard/plan')).text;
    expect(offered).toContain('This server takes no payments.');
    expect(offered).toContain('Current plan');
    expect(offered).not.toMatch(/Choose (?:Starter|Pro|Business)/u);
    for (const plan of ['starter', 'business']) {
      expect((await visitor.submit('/dashboard/plan', { plan })).status).toBe(400);
    }
    const { key } = await visitor.createKey();
    expect(await outcomeOf(key)).toBe('200');
    await visitor.waitForUsage('<strong>1</strong> of 100 credits used (Free)');
  });

  it('the plan page downgrades an assigned plan with the next billing period, and only the operator can take that back', async () => {
    const visitor = await newMember();
    await assignPlan('pro');
    expect(await visitor.submit('/dashboard/plan', { plan: 'free' })).toMatchObject({
      location: '/dashboard/plan?done=plan-next',
    });
    const switching = (await visitor.get('/dashboard/plan?done=plan-next')).text;
    expect(switching).toMatch(/<strong>Pro<\/strong> until <time[^>]+>\w+ \d+<\/time>, then <strong>Free<\/strong>/u);
    expect(switching).toMatch(/You’ll switch to Free on <time[^>]+>\w+ \d+<\/time>\. You keep Pro until then\./u);
    expect(switching).toMatch(/Starts <time[^>]+>\w+ \d+<\/time>/u);
    expect(switching).not.toContain('Keep Pro');
    expect((await visitor.submit('/dashboard/plan', {}, '/dashboard/plan/resume')).status).toBe(400);
    expect((await visitor.get('/dashboard/plan')).text).toContain(', then <strong>');
    await assignPlan('pro');
    expect((await visitor.get('/dashboard/plan')).text).not.toContain(', then <strong>');
  });

  it('the plan page does not offer to cancel a free plan, and refuses it', async () => {
    const visitor = await newMember();
    expect((await visitor.get('/dashboard/plan')).text).not.toContain('Cancel plan');
    expect(await visitor.get('/dashboard/plan/cancel')).toMatchObject({ status: 303, location: '/dashboard/plan' });
    expect((await visitor.submit('/dashboard/keys', {}, '/dashboard/plan/cancel')).status).toBe(400);
    expect((await visitor.get('/dashboard/plan')).text).toContain('renews on');
    expect(await visitor.submit('/dashboard/keys', { plan: 'gold' }, '/dashboard/plan')).toMatchObject({ status: 422 });
  });

  it('names the day on which an assigned plan ends before it is canceled', async () => {
    const visitor = await newMember();
    await assignPlan('pro');
    const question = (await visitor.get('/dashboard/plan/cancel')).text;
    expect(question).toMatch(/Pro ends on <strong><time[^>]+>\w+ \d+<\/time><\/strong>/u);
    expect(await visitor.submit('/dashboard/plan/cancel', {})).toMatchObject({
      location: '/dashboard/plan?done=canceled',
    });
    const canceled = (await visitor.get('/dashboard/plan?done=canceled')).text;
    expect(canceled).toMatch(/<strong>Pro<\/strong> ends on/u);
    expect(canceled).toContain('Everything keeps working until then.');
  });
});

it('the plan page confirms only what is true of the subscription, whatever the address says', async () => {
  const visitor = await newMember();
  for (const done of ['plan-next', 'canceled', 'nonsense']) {
    expect((await visitor.get(`/dashboard/plan?done=${done}`)).text).not.toContain('role="status"');
  }
});

describe('signing up', () => {
  it('grants the free plan and a test key, whose first request the page reports', async () => {
    const visitor = newVisitor();
    expect(await visitor.signUp('starter@account.example.com')).toMatchObject({
      status: 303,
      location: '/dashboard/start',
    });
    const { text } = await visitor.get('/dashboard/start');
    const key = /sb_test_\w{33}/u.exec(text)?.[0] ?? '';
    expect(text).toContain('Waiting for your first request');
    const photo = await fetch(`${server.url}/samples/photo.jpg`);
    const asset = Buffer.from(await photo.arrayBuffer());
    const rejected = await post({ url: server.url, key }, form({ asset, text: ' ' }));
    expect(rejected.status).toBe(400);
    const status = async (): Promise<{ state: string }> =>
      JSON.parse((await visitor.get('/dashboard/start/status')).text) as { state: string };
    await expect.poll(async () => (await status()).state).toBe('rejected');
    await (await post({ url: server.url, key }, form({ asset, text: 'Hello' }))).arrayBuffer();
    await expect.poll(async () => (await status()).state).toBe('delivered');
    expect((await visitor.get('/dashboard')).text).toContain('<strong>0</strong> of 100 credits used (Free)');
    expect(await visitor.get('/signup')).toMatchObject({ status: 303, location: '/dashboard' });
  });
});

describe('the key pages', () => {
  it('reloading the page of a new key creates no second key', async () => {
    const visitor = await newMember();
    const before = await visitor.keyIds();
    const created = await visitor.submit('/dashboard/keys', { name: 'once', mode: 'live', origins: '' });
    expect(created).toMatchObject({ status: 303, location: '/dashboard/keys/new' });
    const shown = (await visitor.get('/dashboard/keys/new')).text;
    expect((await visitor.get('/dashboard/keys/new')).text).toBe(shown);
    const key = /sb_live_\w{33}/u.exec(shown)?.[0] ?? 'no key';
    expect(shown.split(key).length).toBeGreaterThan(4);
    expect(await visitor.keyIds()).toHaveLength(before.length + 1);
    await visitor.submit('/dashboard/keys/new', {});
    expect(await visitor.get('/dashboard/keys/new')).toMatchObject({ status: 303, location: '/dashboard/keys' });
  });

  it('never call a live key a free test key, also on the page of the first request', async () => {
    const visitor = await newMember();
    expect((await visitor.get('/dashboard/start')).text).toContain('This is your test key');
    await visitor.submit('/dashboard/keys', { name: 'Shop', mode: 'live', origins: '' });
    const { text } = await visitor.get('/dashboard/start');
    expect(text).toContain('This is your live key');
    expect(text).toContain('Each render uses credits');
    expect(text).not.toMatch(/Renders are free|your test key/u);
  });

  it('show a new key only to the session that created it', async () => {
    const [owner, thief] = [await newMember(), await newMember()];
    await owner.createKey();
    thief.cookies.set('storybar-new-key', owner.cookies.get('storybar-new-key') ?? '');
    thief.cookies.set('__Host-storybar-new-key', owner.cookies.get('__Host-storybar-new-key') ?? '');
    expect(await thief.get('/dashboard/keys/new')).toMatchObject({ status: 303 });
  });

  it('a new key is shown once, and can be renamed and revoked for good', async () => {
    const visitor = await newMember();
    const { key, id } = await visitor.createKey({ name: 'first' });
    expect(await outcomeOf(key)).toBe('200');
    for (const path of ['/dashboard/keys', `/dashboard/keys/${id}`])
      expect((await visitor.get(path)).text).not.toContain(key);
    await visitor.submit(`/dashboard/keys/${id}`, { name: '  second\u0000 name ', origins: '' });
    expect((await visitor.get('/dashboard/keys')).text).toMatch(/>second\s+name<\/a>/u);
    await visitor.submit(`/dashboard/keys/${id}`, {}, `/dashboard/keys/${id}/revoke`);
    expect(await outcomeOf(key)).toBe('invalid_api_key');
    expect((await visitor.get(`/dashboard/keys/${id}`)).text).toContain('This key has been revoked.');
    const token = await visitor.tokenOf('/dashboard');
    expect(await visitor.send(`/dashboard/keys/${id}/rotate`, { token, overlap: 'day' })).toMatchObject({
      status: 404,
    });
  });

  it('restrict a key to the pages of its origins', async () => {
    const visitor = await newMember();
    const { key, id } = await visitor.createKey({ origins: 'https://Shop.example/\nhttp://localhost:5173' });
    expect(await outcomeOf(key, 'https://shop.example')).toBe('200');
    expect(await outcomeOf(key, 'https://evil.example')).toBe('origin_not_allowed');
    await visitor.submit(`/dashboard/keys/${id}`, { name: 'shop', origins: '' });
    expect(await outcomeOf(key, 'https://evil.example')).toBe('200');
  });

  it('the key pages report all faults of a form together and keep what was typed', async () => {
    const visitor = await newMember();
    const { status, text } = await visitor.submit('/dashboard/keys', {
      name: ' ',
      mode: 'live',
      origins: 'shop.example *',
    });
    expect(status).toBe(422);
    expect(text).toContain('Name this key so you can recognize it later.');
    expect(text).toContain('Enter origins like https://shop.example. Invalid: shop.example, *');
    expect(text).toContain('>shop.example *</textarea>');
    expect(await visitor.keyIds()).toHaveLength(1);
  });

  it('rotate a key with an overlap or without', async () => {
    const visitor = await newMember();
    const old = await visitor.createKey({ name: 'old', mode: 'test' });
    const page = `/dashboard/keys/${old.id}`;
    const rotated = await visitor.submit(page, { overlap: 'hour' }, `${page}/rotate`);
    const { text } = await visitor.get(rotated.location ?? '');
    const next = /sb_test_\w{33}/u.exec(text)?.[0] ?? '';
    expect([await outcomeOf(old.key), await outcomeOf(next)]).toEqual(['200', '200']);
    expect((await visitor.get(page)).text).toMatch(/expires <time/u);
    const again = await visitor.createKey();
    await visitor.submit(`/dashboard/keys/${again.id}`, { overlap: 'none' }, `/dashboard/keys/${again.id}/rotate`);
    expect(await outcomeOf(again.key)).toBe('invalid_api_key');
    const token = await visitor.tokenOf('/dashboard');
    expect(await visitor.send(`${page}/rotate`, { token, overlap: 'forever' })).toMatchObject({ status: 400 });
  });
});

describe('the usage page', () => {
  it('the usage page shows renders, rejections and credits, and exports them as CSV', async () => {
    const visitor = await newMember();
    const { key } = await visitor.createKey();
    for (let index = 0; index < 3; index += 1) await outcomeOf(key);
    await post({ url: server.url, key }, form({ ...FORM, width: '0' }));
    await visitor.waitForUsage('<strong>3</strong> of 100 credits used (Free)');
    const { text } = await visitor.waitForUsage('Rejected (4xx): 1');
    expect(text).toContain('>Delivered: 3</text>');
    expect(text.match(/<code title="[\da-f-]{36}">/gu)).toHaveLength(3);
    const days = (await visitor.get('/dashboard/usage/days.csv')).text;
    const today = new Date().toISOString().slice(0, 10);
    expect(days.split('\r\n').filter(Boolean)).toEqual([
      'day,mode,outcome,renders,credits',
      `${today},live,delivered,3,3`,
      `${today},live,invalid_fields,1,0`,
    ]);
    const renders = (await visitor.get('/dashboard/usage/renders.csv')).text.split('\r\n').filter(Boolean);
    expect(renders[0]).toBe('id,created_at,kind,mode,state,outcome,credits,duration_ms');
    expect(renders).toHaveLength(4);
    expect(renders[1]).toMatch(/^[\da-f-]{36},\d{4}-.+Z,overlay,live,settled,delivered,1,\d+$/u);
  });
});

describe('the request log', () => {
  it('the request log lists delivered and refused requests with their faults, filters them and exports them', async () => {
    const visitor = await newMember();
    const { key } = await visitor.createKey({ name: 'logged' });
    expect(await outcomeOf(key)).toBe('200');
    await post({ url: server.url, key }, form({ ...FORM, width: '0' }));
    await expect
      .poll(async () => (await visitor.get('/dashboard/requests')).text.match(/POST \/v1\/overlay/gu)?.length)
      .toBe(2);
    const rejected = (await visitor.get('/dashboard/requests?status=rejected')).text;
    expect(rejected).toContain('invalid_fields');
    expect(rejected).not.toContain('>200<');
    const path = /\/dashboard\/requests\/[\da-f-]{36}/u.exec(rejected)?.[0] ?? '';
    const detail = (await visitor.get(path)).text;
    expect(detail).toContain('#/width');
    expect(detail).toContain('href="/docs/errors#invalid_fields"');
    expect(detail).not.toContain('HYPERLINK');
    expect(await (await newMember()).get(path)).toMatchObject({ status: 404 });
    const csv = (await visitor.get('/dashboard/requests.csv?status=ok')).text.split('\r\n').filter(Boolean);
    expect(csv).toHaveLength(2);
    expect(csv[1]).toMatch(/,POST \/v1\/overlay,200,,\d+,1,\d+,\d+$/u);
    expect((await visitor.get('/dashboard/requests?before=nonsense&day=x&status=y&key=z')).status).toBe(200);
  });
});

describe('the operator pages', () => {
  it('find an account, suspend and resume it, change its plan, and log every change', async () => {
    const customer = await newMember();
    const email = `user-${visitors}@account.example.com`;
    const { key } = await customer.createKey();
    const operator = newVisitor();
    await operator.signUp('operator@account.example.com');
    await server.cli('users', 'promote', 'operator@account.example.com');
    await operator.signIn('operator@account.example.com');
    const { text } = await operator.get(`/operator/accounts?q=${encodeURIComponent(email)}`);
    const path = /\/operator\/accounts\/[\da-f-]{36}/u.exec(text)?.[0] ?? '';
    expect(text.match(/\/operator\/accounts\/[\da-f-]{36}/gu)).toHaveLength(1);
    await operator.submit(path, {}, `${path}/suspend`);
    expect(await outcomeOf(key)).toBe('key_suspended');
    expect((await customer.get('/dashboard')).text).toContain('This account is suspended');
    await operator.submit(path, {}, `${path}/resume`);
    expect(await outcomeOf(key)).toBe('200');
    await operator.submit(path, { plan: 'business', when: 'now' }, `${path}/plan`);
    expect((await customer.get('/dashboard')).text).toContain('of 50,000 credits used (Business)');
    const id = path.slice(path.lastIndexOf('/') + 1);
    const audit = (await operator.get(`/operator/audit?account=${id}`)).text;
    for (const action of [
      'account.suspended',
      'account.resumed',
      'subscription.plan',
      'key.created',
      'user.signed_up',
    ]) {
      expect(audit).toContain(action);
    }
    expect(audit).toContain('operator:');
  });

  it('page through accounts and the audit log, and show the health of the service', async () => {
    const operator = newVisitor();
    await operator.signIn('operator@account.example.com');
    const engine = new SqliteEngine(join(server.dataDirectory, 'storybar.db'));
    const { accounts } = createStore(engine);
    for (let index = 0; index < 26; index += 1) {
      const id = `batch-${String(index).padStart(2, '0')}`;
      await accounts.create({ id, name: `batch ${index}` }, 'system');
      await accounts.subscribe(id, 'free', 'now', 'system');
    }
    await engine.close();
    const first = (await operator.get('/operator/accounts?q=batch')).text;
    expect(first.match(/>batch \d+</gu)).toHaveLength(25);
    const older = /href="(?<path>\/operator\/accounts\?[^"]+)">Older/u.exec(first)?.groups?.['path'] ?? '';
    expect((await operator.get(older.replaceAll('&amp;', '&'))).text).toContain('>batch 0<');
    const log = (await operator.get('/operator/audit')).text;
    const before = /href="(?<path>\/operator\/audit\?[^"]+)">Older/u.exec(log)?.groups?.['path'] ?? '';
    expect(before).toMatch(/before=\d+/u);
    expect(await operator.get(before)).toMatchObject({ status: 200 });
    expect((await operator.get('/operator/service')).text).toMatch(/Workers and queues[^]*Images[^]*FFmpeg/u);
    expect(await operator.get('/operator/accounts/unknown')).toMatchObject({ status: 404 });
  });

  it('the operator pages refuse to suspend the account of the operator', async () => {
    const operator = newVisitor();
    await operator.signIn('operator@account.example.com');
    const { text } = await operator.get('/operator/accounts?q=operator@account.example.com');
    const path = /\/operator\/accounts\/[\da-f-]{36}/u.exec(text)?.[0] ?? '';
    expect(await operator.submit(path, {}, `${path}/suspend`)).toMatchObject({ status: 400 });
  });
});

// Plans, keys, usage and the operator's pages, by what they do to the service.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { form, post, problemOf, type RunningServer, startServer, until } from '../running-server.ts';
import { Visitor } from './visitor.ts';

const FORM = { width: '32', height: '32', text: '=HYPERLINK("http://evil.example")' };

let server: RunningServer;
let people = 0;
beforeAll(async () => {
  server = await startServer({ STORYBAR_WORKERS: '1', STORYBAR_TRUST_PROXY: '127.0.0.1' });
});
afterAll(async () => {
  await server.stop();
});

const stranger = (): Visitor => new Visitor(server.url, `192.0.2.${(people += 1)}`);
const member = async (plan = 'starter'): Promise<Visitor> => {
  const visitor = stranger();
  await visitor.settle(`person-${people}@example.com`, plan);
  return visitor;
};
const answerTo = async (key: string, origin?: string): Promise<string> => {
  const response = await post({ url: server.url, key }, form(FORM), { headers: origin ? { origin } : {} });
  if (response.status !== 200) return (await problemOf(response)).code;
  await response.arrayBuffer();
  return '200';
};

describe('a plan', () => {
  it('is needed before keys work, and says that payments are off', async () => {
    const visitor = stranger();
    await visitor.signUp('planless@example.com');
    expect((await visitor.get('/dashboard')).text).toContain('No plan yet');
    const { key } = await visitor.makeKey();
    expect(await answerTo(key)).toBe('subscription_inactive');
    expect((await visitor.get('/dashboard/plan')).text).toContain('Payments are off');
    const chosen = await visitor.submit('/dashboard/plan', { plan: 'free' });
    expect(chosen.location).toBe('/dashboard/plan?done=plan-now');
    expect(await answerTo(key)).toBe('200');
    expect((await visitor.get('/dashboard')).text).toContain('<strong>99</strong> of 100 left on Free');
  });

  it('goes up at once and down with the next period; cancelling can be taken back', async () => {
    const visitor = await member('starter');
    expect(await visitor.submit('/dashboard/plan', { plan: 'pro' })).toMatchObject({
      location: '/dashboard/plan?done=plan-now',
    });
    expect(await visitor.submit('/dashboard/plan', { plan: 'free' })).toMatchObject({
      location: '/dashboard/plan?done=plan-next',
    });
    expect((await visitor.get('/dashboard/plan')).text).toMatch(/then as <strong>Free<\/strong>/u);
    await visitor.submit('/dashboard/plan', {}, '/dashboard/plan/resume');
    expect((await visitor.get('/dashboard/plan')).text).not.toContain('then as');
    await visitor.submit('/dashboard/plan', {}, '/dashboard/plan/cancel');
    expect((await visitor.get('/dashboard/plan?done=cancelled')).text).toContain('ends on');
    await visitor.submit('/dashboard/plan', {}, '/dashboard/plan/resume');
    expect((await visitor.get('/dashboard/plan')).text).toContain('renews on');
    expect(await visitor.submit('/dashboard/plan', { plan: 'gold' })).toMatchObject({ status: 422 });
  });
});

describe('a key', () => {
  it('is shown once, works, is renamed, and revoked for good', async () => {
    const visitor = await member();
    const { key, id } = await visitor.makeKey({ name: 'first' });
    expect(await answerTo(key)).toBe('200');
    for (const path of ['/dashboard/keys', `/dashboard/keys/${id}`])
      expect((await visitor.get(path)).text).not.toContain(key);
    await visitor.submit(`/dashboard/keys/${id}`, { name: '  second\u0000 name ', origins: '' });
    expect((await visitor.get('/dashboard/keys')).text).toMatch(/>second\s+name<\/a>/u);
    await visitor.submit(`/dashboard/keys/${id}`, {}, `/dashboard/keys/${id}/revoke`);
    expect(await answerTo(key)).toBe('invalid_api_key');
    expect((await visitor.get(`/dashboard/keys/${id}`)).text).toContain('stays revoked');
    const token = await visitor.tokenOf('/dashboard');
    expect(await visitor.send(`/dashboard/keys/${id}/rotate`, { token, overlap: 'day' })).toMatchObject({
      status: 404,
    });
  });

  it('for pages works from them alone', async () => {
    const visitor = await member();
    const { key, id } = await visitor.makeKey({ origins: 'https://Shop.example/\nhttp://localhost:5173' });
    expect(await answerTo(key, 'https://shop.example')).toBe('200');
    expect(await answerTo(key, 'https://evil.example')).toBe('origin_not_allowed');
    await visitor.submit(`/dashboard/keys/${id}`, { name: 'shop', origins: '' });
    expect(await answerTo(key, 'https://evil.example')).toBe('200');
  });

  it('with faults is refused with all of them, and what was typed stays', async () => {
    const visitor = await member();
    const { status, text } = await visitor.submit('/dashboard/keys', {
      name: ' ',
      mode: 'live',
      origins: 'shop.example *',
    });
    expect(status).toBe(422);
    expect(text).toContain('Give the key a name');
    expect(text).toContain('Not an origin like https://shop.example: shop.example, *');
    expect(text).toContain('>shop.example *</textarea>');
    expect(await visitor.keyIds()).toEqual([]);
  });

  it('is replaced with an overlap, or without', async () => {
    const visitor = await member();
    const old = await visitor.makeKey({ name: 'worn', mode: 'test' });
    const page = `/dashboard/keys/${old.id}`;
    const { text } = await visitor.submit(page, { overlap: 'hour' }, `${page}/rotate`);
    const next = /sb_test_\w{33}/u.exec(text)?.[0] ?? '';
    expect([await answerTo(old.key), await answerTo(next)]).toEqual(['200', '200']);
    expect((await visitor.get(page)).text).toMatch(/works until/u);
    const again = await visitor.makeKey();
    await visitor.submit(`/dashboard/keys/${again.id}`, { overlap: 'none' }, `/dashboard/keys/${again.id}/rotate`);
    expect(await answerTo(again.key)).toBe('invalid_api_key');
    const token = await visitor.tokenOf('/dashboard');
    expect(await visitor.send(`${page}/rotate`, { token, overlap: 'ever' })).toMatchObject({ status: 400 });
  });
});

describe('usage', () => {
  it('shows renders, refusals and credits, and gives them as files', async () => {
    const visitor = await member();
    const { key } = await visitor.makeKey();
    for (let index = 0; index < 3; index += 1) await answerTo(key);
    await post({ url: server.url, key }, form({ ...FORM, width: '0' }));
    const { text } = await until(async () => {
      const answer = await visitor.get('/dashboard');
      return answer.text.includes('Refused 1') ? answer : undefined;
    });
    expect(text).toContain('<strong>1,997</strong> of 2,000 left on Starter');
    expect(text).toMatch(/: Delivered 3, Refused 1</u);
    expect(text.match(/<code>[\da-f-]{36}<\/code>/gu)).toHaveLength(3);
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

describe('an operator', () => {
  it('finds an account, suspends it, changes its plan, and all of it is noted', async () => {
    const customer = await member('starter');
    const email = `person-${people}@example.com`;
    const { key } = await customer.makeKey();
    const operator = stranger();
    await operator.signUp('operator@example.com');
    await server.cli('users', 'promote', 'operator@example.com');
    await operator.signIn('operator@example.com');
    const { text } = await operator.get(`/operator/accounts?q=${encodeURIComponent(email)}`);
    const path = /\/operator\/accounts\/[\da-f-]{36}/u.exec(text)?.[0] ?? '';
    expect(text.match(/\/operator\/accounts\/[\da-f-]{36}/gu)).toHaveLength(1);
    await operator.submit(path, {}, `${path}/suspend`);
    expect(await answerTo(key)).toBe('key_suspended');
    expect((await customer.get('/dashboard')).text).toContain('This account is suspended');
    await operator.submit(path, {}, `${path}/resume`);
    expect(await answerTo(key)).toBe('200');
    await operator.submit(path, { plan: 'business', when: 'now' }, `${path}/plan`);
    expect((await customer.get('/dashboard')).text).toContain('of 50,000 left on Business');
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

  it('pages through accounts and the audit log, and sees how the service is', async () => {
    const operator = stranger();
    await operator.signIn('operator@example.com');
    for (let index = 0; index < 26; index += 1) {
      await server.cli('accounts', 'create', '--plan', 'free', '--name', `batch ${index}`);
    }
    const first = (await operator.get('/operator/accounts?q=batch')).text;
    expect(first.match(/>batch \d+</gu)).toHaveLength(25);
    const older = /href="(?<path>\/operator\/accounts\?[^"]+)">Older/u.exec(first)?.groups?.['path'] ?? '';
    expect((await operator.get(older.replaceAll('&amp;', '&'))).text).toContain('>batch 0<');
    const log = (await operator.get('/operator/audit')).text;
    const before = /href="(?<path>\/operator\/audit\?[^"]+)">Older/u.exec(log)?.groups?.['path'] ?? '';
    expect(before).toMatch(/before=\d+/u);
    expect(await operator.get(before)).toMatchObject({ status: 200 });
    expect((await operator.get('/operator')).text).toMatch(/Workers and queues[^]*images[^]*FFmpeg/u);
    expect(await operator.get('/operator/accounts/nobody')).toMatchObject({ status: 404 });
  });

  it('cannot lock themselves out', async () => {
    const operator = stranger();
    await operator.signIn('operator@example.com');
    const { text } = await operator.get('/operator/accounts?q=operator@example.com');
    const path = /\/operator\/accounts\/[\da-f-]{36}/u.exec(text)?.[0] ?? '';
    expect(await operator.submit(path, {}, `${path}/suspend`)).toMatchObject({ status: 400 });
  });
});

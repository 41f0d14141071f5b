// Payments through the running program: from a signed event to a key that works, and what a wrong set-up is told.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey, hashKey, maskKey } from '../../src/account/api-key.ts';
import { SqliteEngine } from '../../src/store/sqlite-engine.ts';
import { createStore } from '../../src/store/sql-store.ts';
import type { Store } from '../../src/store/store.ts';
import { form, post, problemOf, type RunningServer, startServer, until } from '../running-server.ts';
import { Courier, sign, WEBHOOK_SECRET } from './courier.ts';
import { FakeStripe, SECRET_KEY } from './fake-stripe.ts';
import { PLANS_FILE, PRICES } from './stripe-world.ts';

const PROGRAM = path.resolve(import.meta.dirname, '../../bin/storybar.js');
const CUSTOMER = 'cus_ada';

let directory: string;
let fake: FakeStripe;
let server: RunningServer;
let store: Store;
let courier: Courier;
const key = createApiKey('live');

beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'storybar-payments-'));
  const plans = path.join(directory, 'plans.json');
  writeFileSync(plans, JSON.stringify(PLANS_FILE));
  fake = await FakeStripe.start(PRICES);
  // The running program keeps the time of this machine, so Stripe must as well.
  fake.account.now = Math.floor(Date.now() / 1_000);
  fake.account.customers.set(CUSTOMER, { metadata: {}, card: 'good', deleted: false });
  server = await startServer({
    STORYBAR_PLANS: plans,
    STORYBAR_BILLING: 'stripe',
    STORYBAR_STRIPE_SECRET_KEY: SECRET_KEY,
    STORYBAR_STRIPE_WEBHOOK_SECRETS: `whsec_new, ${WEBHOOK_SECRET}`,
    STORYBAR_STRIPE_API_URL: fake.url,
    STORYBAR_WORKERS: '1',
    STORYBAR_LOG_LEVEL: 'debug',
  });
  store = createStore(new SqliteEngine(path.join(server.dataDirectory, 'storybar.db')));
  await store.accounts.create({ id: 'ada', name: 'Ada' }, 'system');
  await store.accounts.linkCustomer('ada', CUSTOMER);
  await store.keys.create(
    { id: 'k', accountId: 'ada', name: 'k', mode: 'live', hash: hashKey(key), ...maskKey(key) },
    'system',
  );
  courier = new Courier(fake, async (body, signature) => (await send(body, signature)).status);
});
afterAll(async () => {
  await store.close();
  await server.stop();
  await fake.close();
  rmSync(directory, { recursive: true, force: true });
});

async function send(body: Buffer, signature?: string): Promise<Response> {
  return await fetch(`${server.url}/webhooks/stripe`, {
    method: 'POST',
    body: new Uint8Array(body),
    headers: { 'content-type': 'application/json', ...(signature !== undefined && { 'stripe-signature': signature }) },
  });
}

async function render(): Promise<number> {
  const response = await post({ url: server.url, key }, form({ text: 'Hello', width: '64', height: '64' }));
  await response.arrayBuffer();
  return response.status;
}

describe('the running server', () => {
  it('lets a key render while it is paid for, and not while it is not', async () => {
    expect(await render()).toBe(403);
    const bought = fake.account.subscribe(CUSTOMER, 'price_pro');
    expect(await courier.deliver({ copies: 2, atOnce: true })).toEqual(Array.from({ length: 6 }, () => 200));
    expect(await render()).toBe(200);
    fake.account.setStatus(bought, 'past_due');
    expect(await courier.deliver()).toEqual([200]);
    expect(await render()).toBe(403);
    fake.account.payOwed(CUSTOMER);
    expect(await courier.deliver({ order: (events) => events.toReversed() })).toEqual([200, 200]);
    expect(await render()).toBe(200);
  });

  it('says what became of an event', async () => {
    const body = Buffer.from(
      JSON.stringify({ id: 'evt_x', object: 'event', type: 'charge.failed', data: { object: {} } }),
    );
    const response = await send(body, sign(body));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ receipt: 'ignored' });
  });

  it('refuses a wrong signature with a problem', async () => {
    const body = Buffer.from('{"id":"evt_1"}');
    for (const signature of [undefined, 'nonsense', sign(body, { secret: 'whsec_guess' })]) {
      const response = await send(body, signature);
      expect(response.status).toBe(400);
      expect(await problemOf(response)).toMatchObject({ code: 'invalid_signature' });
    }
  });

  it('refuses a body of more than a megabyte', async () => {
    const body = Buffer.alloc(1_500_000, 0x20);
    const response = await send(body, sign(body));
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ code: 'malformed_body' });
  });

  it('takes a body right up to a megabyte', async () => {
    const text = JSON.stringify({ id: 'evt_y', object: 'event', type: 'charge.failed', data: { object: {} } });
    const body = Buffer.from(text.padEnd(1_000_000));
    expect((await send(body, sign(body))).status).toBe(200);
  });

  it('survives a sender that breaks off', async () => {
    await new Promise<void>((resolve) => {
      const headers = { 'content-length': '5000', 'stripe-signature': 'x' };
      const broken = httpRequest(`${server.url}/webhooks/stripe`, { method: 'POST', headers });
      broken.on('error', () => resolve());
      broken.write('{"id"', () => broken.destroy(new Error('gone')));
    });
    expect((await fetch(`${server.url}/ping`)).status).toBe(200);
  });

  it('takes POST alone', async () => {
    const response = await fetch(`${server.url}/webhooks/stripe`);
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
  });

  it('asks Stripe to send again when its API fails', async () => {
    const [bought] = fake.account.of(CUSTOMER);
    if (bought) fake.account.tell(bought);
    fake.faults.push(500, 500, 500);
    expect(await courier.deliver()).toEqual([503]);
    expect(await courier.deliver()).toEqual([200]);
  });

  it('compares with Stripe at its start, and logs no secret', async () => {
    await until(() => server.output().stderr.includes('accounts compared with the payment provider'));
    expect(server.output().stderr).not.toMatch(/sk_test|whsec_/u);
  });
});

describe('without Stripe', () => {
  it('there is no such path', async () => {
    const plain = await startServer({ STORYBAR_WORKERS: '1' });
    try {
      expect((await fetch(`${plain.url}/webhooks/stripe`, { method: 'POST', body: '{}' })).status).toBe(404);
    } finally {
      await plain.stop();
    }
  });
});

describe('an incomplete set-up', () => {
  it('stops the start and names everything that is missing', async () => {
    const empty = mkdtempSync(path.join(directory, 'empty-'));
    const env = {
      PATH: process.env['PATH'] ?? '',
      STORYBAR_DATA_DIR: directory,
      PORT: '0',
      STORYBAR_BILLING: 'stripe',
    };
    const error: unknown = await promisify(execFile)(process.execPath, [PROGRAM, 'serve'], {
      env,
      cwd: empty,
    }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 78 });
    const { stderr } = error as { stderr: string };
    const needed = 'is needed for STORYBAR_BILLING=stripe';
    const price = (plan: string) => `STORYBAR_PLANS: the plan "${plan}" has a price, so its stripePrice ${needed}`;
    for (const fault of [
      `STORYBAR_STRIPE_SECRET_KEY ${needed}`,
      `STORYBAR_STRIPE_WEBHOOK_SECRETS ${needed}`,
      price('starter'),
      price('pro'),
      price('business'),
    ]) {
      expect(stderr).toContain(fault);
    }
    expect(stderr).not.toContain(price('free'));
  });
});

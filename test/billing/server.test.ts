// Payments through the running server: from a signed event to a key that works, and the messages for an incomplete setup.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey, hashKey, maskKey } from '../../src/service/account/api-key.ts';
import { SqliteEngine } from '../../src/service/store/sqlite-engine.ts';
import { createStore, type Store } from '../../src/service/store/store.ts';
import { form, post, problemOf, type RunningServer, startServer, until } from '../running-server.ts';
import { scrape } from '../scrape.ts';
import { sharedServer } from '../shared-server.ts';
import { WebhookSender, sign, WEBHOOK_SECRET } from './webhook-sender.ts';
import { FakeStripe, SECRET_KEY } from './fake-stripe.ts';
import { PLANS_FILE, PRICES } from './stripe-world.ts';

const PROGRAM = path.resolve(import.meta.dirname, '../../bin/storybar.js');
const CUSTOMER = 'cus_ada';

let directory: string;
let fake: FakeStripe;
let server: RunningServer;
let store: Store;
let webhooks: WebhookSender;
const key = createApiKey('live');

beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'storybar-payments-'));
  const plans = path.join(directory, 'plans.json');
  writeFileSync(plans, JSON.stringify(PLANS_FILE));
  fake = await FakeStripe.start(PRICES);
  // The server uses the real clock, so the fake must as well.
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
  webhooks = new WebhookSender(fake, async (body, signature) => (await send(body, signature)).status);
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

describe('a server with Stripe', () => {
  it('a server with Stripe lets a key render only while its plan is paid', async () => {
    expect(await render()).toBe(403);
    const bought = fake.account.subscribe(CUSTOMER, 'price_pro');
    expect(await webhooks.deliver({ copies: 2, inParallel: true })).toEqual(Array.from({ length: 6 }, () => 200));
    expect(await render()).toBe(200);
    fake.account.setStatus(bought, 'past_due');
    expect(await webhooks.deliver()).toEqual([200]);
    expect(await render()).toBe(403);
    fake.account.payOpenInvoices(CUSTOMER);
    expect(await webhooks.deliver({ order: (events) => events.toReversed() })).toEqual([200, 200]);
    expect(await render()).toBe(200);
  });

  it('a server with Stripe returns the receipt of an event', async () => {
    const body = Buffer.from(
      JSON.stringify({ id: 'evt_x', object: 'event', type: 'charge.failed', data: { object: {} } }),
    );
    const response = await send(body, sign(body));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ receipt: 'ignored' });
  });

  it('a server with Stripe refuses a wrong signature with problem details', async () => {
    const body = Buffer.from('{"id":"evt_1"}');
    for (const signature of [undefined, 'nonsense', sign(body, { secret: 'whsec_guess' })]) {
      const response = await send(body, signature);
      expect(response.status).toBe(400);
      expect(await problemOf(response)).toMatchObject({ code: 'invalid_signature' });
    }
  });

  it('a server with Stripe refuses a body of more than a megabyte', async () => {
    const body = Buffer.alloc(1_500_000, 0x20);
    const response = await send(body, sign(body));
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ code: 'malformed_body' });
  });

  it('a server with Stripe accepts a body of exactly a megabyte', async () => {
    const text = JSON.stringify({ id: 'evt_y', object: 'event', type: 'charge.failed', data: { object: {} } });
    const body = Buffer.from(text.padEnd(1_000_000));
    expect((await send(body, sign(body))).status).toBe(200);
  });

  it('a server with Stripe survives a sender that disconnects', async () => {
    await new Promise<void>((resolve) => {
      const headers = { 'content-length': '5000', 'stripe-signature': 'x' };
      const broken = httpRequest(`${server.url}/webhooks/stripe`, { method: 'POST', headers });
      broken.on('error', () => resolve());
      broken.write('{"id"', () => broken.destroy(new Error('gone')));
    });
    expect((await fetch(`${server.url}/ping`)).status).toBe(200);
  });

  it('a server with Stripe accepts only POST', async () => {
    const response = await fetch(`${server.url}/webhooks/stripe`);
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
  });

  it('a server with Stripe returns 503 when the API of Stripe fails, so that Stripe sends the event again', async () => {
    const [bought] = fake.account.of(CUSTOMER);
    if (bought) fake.account.emitChange(bought);
    fake.faults.push(500, 500, 500);
    expect(await webhooks.deliver()).toEqual([503]);
    expect(await webhooks.deliver()).toEqual([200]);
  });

  it('a server with Stripe counts accepted, refused and failed events', async () => {
    const seen = await scrape(server.url);
    for (const result of ['accepted', 'refused', 'failed']) {
      expect([result, seen.get(`storybar_webhooks_total{result="${result}"}`)]).toEqual([result, expect.any(Number)]);
      expect(seen.get(`storybar_webhooks_total{result="${result}"}`)).toBeGreaterThan(0);
    }
  });

  it('a server with Stripe reconciles with Stripe at start, and logs no secret', async () => {
    await until(() => server.output().stderr.includes('accounts reconciled with the payment provider'));
    expect(server.output().stderr).not.toMatch(/sk_test|whsec_/u);
  });
});

describe('a server without Stripe', () => {
  it('a server without Stripe returns 404 for the webhook', async () => {
    const plain = await sharedServer();
    expect((await fetch(`${plain.url}/webhooks/stripe`, { method: 'POST', body: '{}' })).status).toBe(404);
  });
});

describe('an incomplete setup of Stripe', () => {
  it('an incomplete setup of Stripe keeps the server from starting and lists everything that is missing', async () => {
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
    const required = 'is required with STORYBAR_BILLING=stripe';
    const price = (plan: string) => `STORYBAR_PLANS: the stripePrice of the paid plan "${plan}" ${required}`;
    for (const fault of [
      `STORYBAR_STRIPE_SECRET_KEY ${required}`,
      `STORYBAR_STRIPE_WEBHOOK_SECRETS ${required}`,
      price('starter'),
      price('pro'),
      price('business'),
    ]) {
      expect(stderr).toContain(fault);
    }
    expect(stderr).not.toContain(price('free'));
  });
});

// Against the reference implementation of Standard Webhooks, and against webhooks that the stand-in sends.

import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { type Storybar, StorybarApiError, StorybarWebhookError, verifyWebhook } from '@storybar/client';
import { Webhook } from 'standardwebhooks';
import { hasOperation, rejection, service, standIn } from './service.ts';

const SECRET = `whsec_${Buffer.from('a secret for the tests of webhooks').toString('base64')}`;
const OTHER = `whsec_${Buffer.from('a secret that was rotated long ago').toString('base64')}`;
const ACCOUNT_SECRET = `whsec_${Buffer.from('the webhook secret of the account').toString('base64')}`;
const BODY = JSON.stringify({ type: 'render.succeeded', timestamp: '2026-03-01T12:00:00Z', data: { id: 'r1 🌅' } });

function signed(secret: string, body = BODY, sentAt = new Date()): Record<string, string> {
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign('msg_1', sentAt, body),
  };
}

test('accepts what the reference implementation signs, as text and bytes, with either kind of headers', async () => {
  const headers = signed(SECRET);
  const event = await verifyWebhook({ body: BODY, headers, secret: SECRET });
  assert.equal(event.data.id, 'r1 🌅');
  const bytes = new TextEncoder().encode(BODY);
  assert.deepEqual(await verifyWebhook({ body: bytes, headers: new Headers(headers), secret: SECRET }), event);
});

test('accepts one of several secrets and one of several signatures', async () => {
  const headers = signed(SECRET);
  await verifyWebhook({ body: BODY, headers, secret: [OTHER, SECRET] });
  const several = `v1a,unknown v1,AAAA v1,not*base64 ${headers['webhook-signature']}`;
  await verifyWebhook({ body: BODY, headers: { ...headers, 'webhook-signature': several }, secret: SECRET });
});

test('refuses a changed body, another secret, another id and a signature of another version', async () => {
  const headers = signed(SECRET);
  const attempts = [
    { body: BODY.replace('succeeded', 'failed'), headers, secret: SECRET },
    { body: BODY, headers, secret: OTHER },
    { body: BODY, headers: { ...headers, 'webhook-id': 'msg_2' }, secret: SECRET },
    {
      body: BODY,
      headers: { ...headers, 'webhook-signature': (headers['webhook-signature'] ?? '').replace('v1,', 'v2,') },
      secret: SECRET,
    },
  ];
  for (const attempt of attempts) {
    assert.match((await rejection(verifyWebhook(attempt), StorybarWebhookError)).message, /signature doesn't match/u);
  }
});

test('refuses webhooks that are too old, from the future, without a header or with a bad secret', async () => {
  const old = signed(SECRET, BODY, new Date(Date.now() - 301_000));
  const future = signed(SECRET, BODY, new Date(Date.now() + 302_000));
  for (const headers of [old, future]) {
    const error = await rejection(verifyWebhook({ body: BODY, headers, secret: SECRET }), StorybarWebhookError);
    assert.match(error.message, /seconds ago/u);
  }
  await verifyWebhook({ body: BODY, headers: old, secret: SECRET, toleranceSeconds: 600 });
  const { 'webhook-id': _, ...without } = signed(SECRET);
  await rejection(verifyWebhook({ body: BODY, headers: without, secret: SECRET }), StorybarWebhookError);
  await rejection(verifyWebhook({ body: BODY, headers: signed(SECRET), secret: 'whsec_*' }), StorybarWebhookError);
});

/** A URL that gets webhooks. */
async function receiver(): Promise<{ url: string; next: () => Promise<Received>; close: () => void }> {
  const waiting: ((received: Received) => void)[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      response.end();
      waiting.shift()?.({ body, headers: request.headers });
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const next = async (): Promise<Received> => await new Promise((resolve) => void waiting.push(resolve));
  return { url, next, close: () => server.close() };
}

interface Received {
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

test('verifies the webhook that follows an asynchronous render', async () => {
  const { url, next, close } = await receiver();
  const received = next();
  const render = await standIn().startRender({ width: 16, height: 16, text: 'announce', webhook_url: url });
  const event = await verifyWebhook({ ...(await received), secret: ACCOUNT_SECRET });
  close();
  assert.equal(event.type, 'render.succeeded');
  assert.equal(event.data.id, render.id);
});

const registersAnEndpoint = (storybar: Storybar) => async () => {
  const { webhookEndpoints } = storybar;
  const { url, next, close } = await receiver();
  const { id, secret, ...created } = await webhookEndpoints.create({ url, events: ['render.failed'] });
  assert.deepEqual([created.url, created.events, created.status], [url, ['render.failed'], 'enabled']);
  const listed = (await webhookEndpoints.list()).find((endpoint) => endpoint.id === id);
  assert.equal(listed?.url, url);
  assert.equal('secret' in listed, false);

  const tested = next();
  assert.equal((await webhookEndpoints.test(id)).endpoint_id, id);
  assert.equal((await verifyWebhook({ ...(await tested), secret })).type, 'webhook.test');

  const { secret: newer } = await webhookEndpoints.rotateSecret(id, { overlapSeconds: 60 });
  assert.notEqual(newer, secret);
  const again = next();
  await webhookEndpoints.test(id);
  const received = await again;
  // Until the old secret expires, either is enough.
  for (const each of [secret, newer]) assert.ok(await verifyWebhook({ ...received, secret: each }));

  await webhookEndpoints.delete(id);
  assert.equal((await rejection(webhookEndpoints.delete(id), StorybarApiError)).code, 'webhook_not_found');
  close();
};

test('registers an endpoint, tests it, rotates its secret and deletes it', registersAnEndpoint(standIn()));
test(
  'does the same with the service',
  { skip: hasOperation('/v1/webhook-endpoints') ? false : 'this version of the service has no webhook endpoints' },
  registersAnEndpoint(service()),
);

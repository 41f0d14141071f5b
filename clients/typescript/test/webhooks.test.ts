// Tests against the reference implementation of Standard Webhooks, and against webhooks that the real service sends.

import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { StorybarApiError, StorybarWebhookError, verifyWebhook, type WebhookEvent } from '@storybar/client';
import { Webhook } from 'standardwebhooks';
import { rejection, service } from './service.ts';

const SECRET = `whsec_${Buffer.from('a secret for the tests of webhooks').toString('base64')}`;
const OTHER = `whsec_${Buffer.from('a secret that was rotated long ago').toString('base64')}`;
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
  assert.ok(event.type === 'render.succeeded' && event.data.id === 'r1 🌅');
  const bytes = new TextEncoder().encode(BODY);
  assert.deepEqual(await verifyWebhook({ body: bytes, headers: new Headers(headers), secret: SECRET }), event);
  const capitalized = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
  assert.deepEqual(await verifyWebhook({ body: Buffer.from(BODY), headers: capitalized, secret: SECRET }), event);
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
  for (const secret of ['whsec_*', '', [], undefined]) {
    await rejection(verifyWebhook({ body: BODY, headers: signed(SECRET), secret }), StorybarWebhookError);
  }
});

interface Received {
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

/** Starts a URL that gets webhooks, including those of other tests. `next` waits for one of this test. */
async function startReceiver(): Promise<{
  url: string;
  next: (isWanted: (event: WebhookEvent) => boolean) => Promise<Received>;
  close: () => void;
}> {
  const received: Received[] = [];
  const arrivals = new EventEmitter();
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      response.end();
      received.push({ body, headers: request.headers });
      arrivals.emit('webhook');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const next = async (isWanted: (event: WebhookEvent) => boolean): Promise<Received> => {
    for (;;) {
      const index = received.findIndex(({ body }) => isWanted(JSON.parse(body) as WebhookEvent));
      const [found] = index === -1 ? [] : received.splice(index, 1);
      if (found !== undefined) return found;
      await once(arrivals, 'webhook');
    }
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, next, close: () => server.close() };
}

const OVERLAY = { width: 64, height: 32, text: 'Announce me' };
const isTest = ({ type }: WebhookEvent): boolean => type === 'webhook.test';

test('verifies the webhook of a render with webhook_url, before and after the secret of the account is rotated', async () => {
  const storybar = service();
  const { url, next, close } = await startReceiver();
  const announce = async (): Promise<Received & { id: string }> => {
    const { id } = await storybar.startRender({ ...OVERLAY, webhook_url: url });
    return { ...(await next(({ type, data }) => type === 'render.succeeded' && data.id === id)), id };
  };
  const secret = await storybar.webhookSecret.get();
  const { id, ...first } = await announce();
  const event = await verifyWebhook({ ...first, secret });
  assert.ok(event.type === 'render.succeeded' && event.data.id === id);
  const { url: link } = event.data.output;
  assert.ok(link !== null);
  const file = await fetch(link);
  assert.equal((await file.arrayBuffer()).byteLength, event.data.output.bytes);

  const newer = await storybar.webhookSecret.rotate({ overlapSeconds: 60 });
  assert.equal(await storybar.webhookSecret.get(), newer);
  const during = await announce();
  for (const each of [secret, newer]) assert.ok(await verifyWebhook({ ...during, secret: each }));

  const newest = await storybar.webhookSecret.rotate({ overlapSeconds: 0 });
  const afterwards = await announce();
  close();
  assert.ok(await verifyWebhook({ ...afterwards, secret: newest }));
  await rejection(verifyWebhook({ ...afterwards, secret: newer }), StorybarWebhookError);
});

test('registers an endpoint that gets signed events of renders and batches, until it is deleted', async () => {
  const storybar = service();
  const { webhookEndpoints } = storybar;
  const { url, next, close } = await startReceiver();
  const events = ['render.failed', 'render.canceled', 'batch.completed'] as const;
  const { id, secret, ...created } = await webhookEndpoints.create({ url, events });
  assert.deepEqual([created.url, new Set(created.events), created.status], [url, new Set(events), 'enabled']);
  const listed = (await webhookEndpoints.list()).find((endpoint) => endpoint.id === id);
  assert.equal(listed?.url, url);
  assert.equal('secret' in listed, false);

  const batch = await storybar.startBatch([OVERLAY, { text: 'Gone', asset_url: 'http://127.0.0.1:65533/none.jpg' }]);
  const failed = await next(({ type, data }) => type === 'render.failed' && data.id === batch.renders[1]?.id);
  const failure = await verifyWebhook({ ...failed, secret });
  assert.ok(failure.type === 'render.failed' && failure.data.error?.code === 'asset_unreachable');
  const completed = await next(({ type, data }) => type === 'batch.completed' && data.id === batch.id);
  const completion = await verifyWebhook({ ...completed, secret });
  assert.ok(completion.type === 'batch.completed');
  assert.deepEqual([completion.data.succeeded, completion.data.failed], [1, 1]);

  await webhookEndpoints.delete(id);
  assert.equal((await rejection(webhookEndpoints.delete(id), StorybarApiError)).code, 'webhook_not_found');
  close();
});

test('changes, disables and enables an endpoint, lists what was sent to it and sends it again', async () => {
  const { webhookEndpoints, webhookDeliveries } = service();
  const { url, next, close } = await startReceiver();
  const { id } = await webhookEndpoints.create({ url: 'https://old.example/' });
  const changed = await webhookEndpoints.update(id, { url });
  assert.deepEqual([changed.url, changed.events], [url, []]);
  assert.deepEqual((await webhookEndpoints.update(id, { events: ['render.failed'] })).events, ['render.failed']);
  assert.equal((await webhookEndpoints.disable(id)).status, 'disabled');
  assert.equal((await webhookEndpoints.get(id)).disabled_reason, 'user');
  assert.equal((await webhookEndpoints.enable(id)).status, 'enabled');
  const sent = await webhookEndpoints.test(id);
  await next(isTest);
  const listed = [];
  for await (const delivery of webhookDeliveries.list({ endpointId: id })) listed.push(delivery.id);
  assert.deepEqual(listed, [sent.id]);
  for await (const { id: other } of webhookDeliveries.list({
    endpointId: id,
    type: 'render.failed',
    status: 'failed',
  })) {
    assert.fail(`${other} has another type and status`);
  }
  assert.equal((await webhookDeliveries.get(sent.id)).webhook_id, sent.webhook_id);
  for (;;) {
    // A delivery can be sent again as soon as its first response is recorded.
    if ((await webhookDeliveries.get(sent.id)).status === 'succeeded') break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.equal((await webhookDeliveries.resend(sent.id)).endpoint_id, id);
  await next(isTest);
  await webhookEndpoints.delete(id);
  close();
});

test('tests an endpoint and rotates its secret', async () => {
  const { webhookEndpoints } = service();
  const { url, next, close } = await startReceiver();
  const { id, secret } = await webhookEndpoints.create({ url, events: ['render.canceled'] });
  const testOnce = async (): Promise<Received> => {
    assert.equal((await webhookEndpoints.test(id)).endpoint_id, id);
    return await next(isTest);
  };
  assert.equal((await verifyWebhook({ ...(await testOnce()), secret })).type, 'webhook.test');

  const { secret: newer } = await webhookEndpoints.rotateSecret(id, { overlapSeconds: 60 });
  const during = await testOnce();
  // Until the old secret expires, either is enough.
  for (const each of [secret, newer]) assert.ok(await verifyWebhook({ ...during, secret: each }));

  const { secret: newest } = await webhookEndpoints.rotateSecret(id, { overlapSeconds: 0 });
  const afterwards = await testOnce();
  assert.ok(await verifyWebhook({ ...afterwards, secret: newest }));
  await rejection(verifyWebhook({ ...afterwards, secret: newer }), StorybarWebhookError);
  await webhookEndpoints.delete(id);
  close();
});

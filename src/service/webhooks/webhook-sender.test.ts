// Sends webhooks to real servers on loopback. 127.0.0.2 is allowed and stands for the internet. 127.0.0.1 isn't and
// stands for the operator's own network, so any connection to it is a failure.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type DnsServer, startDnsServer } from '../../../test/dns-server.ts';
import { until } from '../../../test/running-server.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../../test/webhook-receiver.ts';
import { createWebhookSecret } from '../account/webhook-secret.ts';
import type { ClaimedDelivery, WebhookAttempt } from '../store/webhooks/webhook.ts';
import { FetchPolicy } from '../fetch/fetch-policy.ts';
import { WebhookSender, type WebhookSenderOptions } from './webhook-sender.ts';

const ALLOWED = '127.0.0.2';
const FORBIDDEN = '127.0.0.1';
const BODY = JSON.stringify({ type: 'render.succeeded', timestamp: '2026-03-01T00:00:00.000Z', data: { text: 'é🎬' } });
const SECRET = createWebhookSecret();
const NEVER = new AbortController().signal;

let receiver: WebhookReceiver;
let forbidden: Server;
let forbiddenConnections = 0;
let forbiddenUrl: string;
let dns: DnsServer;
let addressesOf: (name: string) => readonly string[] | undefined = () => [];

beforeAll(async () => {
  forbidden = createServer((socket) => {
    forbiddenConnections += 1;
    socket.destroy();
  });
  forbidden.listen(0, FORBIDDEN);
  await once(forbidden, 'listening');
  forbiddenUrl = `http://${FORBIDDEN}:${(forbidden.address() as AddressInfo).port}/`;
  receiver = await startWebhookReceiver(ALLOWED, forbiddenUrl);
  dns = await startDnsServer((name) => addressesOf(name));
});
afterEach(() => {
  receiver.received.length = 0;
  if (forbiddenConnections > 0) throw new Error(`${forbiddenConnections} connections to a forbidden address`);
});
afterAll(async () => {
  dns.stop();
  forbidden.close();
  await receiver.stop();
});

function delivery(url: string, changes: Partial<ClaimedDelivery> = {}): ClaimedDelivery {
  return {
    delivery: {
      id: 'd',
      accountId: 'a',
      messageId: 'msg_1',
      type: 'render.succeeded',
      endpointId: 'e',
      url,
      status: 'pending',
      dueAt: '',
      attempts: 0,
      lastStatus: undefined,
      lastError: undefined,
      createdAt: '',
      finishedAt: undefined,
    },
    body: BODY,
    claim: 1,
    secrets: [SECRET],
    ...changes,
  };
}

async function send(url: string, options: Partial<WebhookSenderOptions> = {}, changes = {}): Promise<WebhookAttempt> {
  const policy = new FetchPolicy('public', [ALLOWED]);
  const sender = new WebhookSender({ policy, userAgent: 'storybar/test', dnsServers: [dns.address], ...options });
  return await sender.send(delivery(url, changes), NEVER);
}

describe('a webhook', () => {
  it('a webhook carries a signature that the official package accepts, and that fails for any change', async () => {
    const attempt = await send(`${receiver.url}/hook?token=1`);
    expect(attempt).toMatchObject({ status: 200, response: 'thanks', contentType: 'text/plain', error: undefined });
    const [{ headers, body, path } = { headers: {}, body: '', path: '' }] = receiver.received;
    expect(path).toBe('/hook?token=1');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'storybar/test',
      'webhook-id': 'msg_1',
    });
    expect(headers).toMatchObject(attempt.requestHeaders);
    const official = new Webhook(SECRET);
    const signed = headers as Record<string, string>;
    expect(official.verify(body, signed)).toEqual(JSON.parse(BODY));
    const forged = [
      () => official.verify(body.replace('succeeded', 'failed'), signed),
      () => official.verify(body, { ...signed, 'webhook-id': 'msg_2' }),
      () => official.verify(body, { ...signed, 'webhook-timestamp': String(Number(signed['webhook-timestamp']) + 1) }),
      () => new Webhook(createWebhookSecret()).verify(body, signed),
    ];
    for (const verify of forged) expect(verify).toThrow(WebhookVerificationError);
  });

  it('a webhook is signed with every secret during a rotation', async () => {
    const next = createWebhookSecret();
    await send(`${receiver.url}/hook`, {}, { secrets: [next, SECRET] });
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.received;
    for (const secret of [SECRET, next]) {
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual(JSON.parse(BODY));
    }
  });
});

describe('an attempt', () => {
  it.each([
    ['500', 500],
    ['410', 410],
    ['404', 404],
    ['304', 304],
  ])('an attempt fails when the receiver responds with %s', async (path, status) => {
    const { error, ...attempt } = await send(`${receiver.url}/${path}`);
    expect(attempt.status).toBe(status);
    expect(error).toContain(`responded with ${status}`);
  });

  it('an attempt fails at a redirect, which it does not follow', async () => {
    const attempt = await send(`${receiver.url}/redirect`);
    expect(attempt).toMatchObject({
      status: 302,
      error: "The receiver responded with 302. Redirects aren't followed.",
    });
    expect(receiver.received).toHaveLength(1);
  });

  it('an attempt fails when no response comes in time, and closes the connection', async () => {
    const attempt = await send(`${receiver.url}/silent`, { timeoutMs: 200 });
    expect(attempt.status).toBeUndefined();
    expect(attempt.error).toMatch(/didn't respond within 0.2 seconds/u);
    await until(() => receiver.connections() === 0);
  });

  it('an attempt fails when the connection is closed or refused', async () => {
    const closed = await send(`${receiver.url}/closed`);
    expect(closed.error).toContain('the connection was closed');
    const gone = await startWebhookReceiver(ALLOWED);
    await gone.stop();
    expect((await send(gone.url)).error).toContain('the connection was refused');
  });

  it('an attempt reads only the beginning of a response that never ends', async () => {
    const attempt = await send(`${receiver.url}/endless`);
    expect(attempt).toMatchObject({ status: 200, error: undefined });
    expect(attempt.response).toHaveLength(2_048);
    await until(() => receiver.connections() === 0);
  });

  it('an attempt succeeds by its status when the rest of the response does not come', async () => {
    const attempt = await send(`${receiver.url}/trickle`, { timeoutMs: 200 });
    expect(attempt).toMatchObject({ status: 200, error: undefined, response: 'the rest never comes' });
    await until(() => receiver.connections() === 0);
  });

  it('an attempt keeps a binary response as text that every database can store', async () => {
    expect((await send(`${receiver.url}/binary`)).response).toBe('a\u{FFFD}\u{FFFD}\u{FFFD}b');
  });

  it('an attempt ends when the server shuts down, without a result', async () => {
    const sender = new WebhookSender({ policy: new FetchPolicy('public', [ALLOWED]), userAgent: 'x' });
    const shutdown = new AbortController();
    const sent = sender.send(delivery(`${receiver.url}/silent`), shutdown.signal);
    await until(() => receiver.received.length === 1);
    shutdown.abort(new Error('stopping'));
    await expect(sent).rejects.toThrow('stopping');
    await until(() => receiver.connections() === 0);
  });
});

describe('a receiver with a private address', () => {
  it.each([
    ['an address', () => forbiddenUrl],
    ['an IPv4-mapped address', () => forbiddenUrl.replace(FORBIDDEN, '[::ffff:127.0.0.1]')],
    ['a cloud metadata service', () => 'http://169.254.169.254/latest'],
  ])('a private address is never connected to: %s', async (_name, url) => {
    const attempt = await send(url());
    expect(attempt).toMatchObject({ status: undefined, response: '' });
    expect(attempt.error).toContain('STORYBAR_FETCH_ALLOW');
  });

  it('a receiver is not connected to when one of its addresses is private', async () => {
    addressesOf = () => [ALLOWED, FORBIDDEN];
    const { port } = new URL(forbiddenUrl);
    const attempt = await send(`http://two.example:${port}/`);
    expect(attempt.error).toContain('two.example has no public address');
  });

  it('a receiver is not connected to when its name gets another address after the check', async () => {
    let lookups = 0;
    addressesOf = () => ((lookups += 1) <= 2 ? [ALLOWED] : [FORBIDDEN]);
    const { port } = new URL(receiver.url);
    expect((await send(`http://rebinding.example:${port}/hook`)).status).toBe(200);
    expect((await send(`http://rebinding.example:${port}/hook`)).error).toContain('no public address');
  });

  it('a private receiver is not connected to when fetching is off', async () => {
    const attempt = await send(`${receiver.url}/hook`, { policy: new FetchPolicy('off', [ALLOWED]) });
    expect(attempt.error).toContain('STORYBAR_FETCH is off');
    expect(receiver.received).toEqual([]);
  });
});

// Webhooks through the API: endpoints, `webhook_url`, deliveries, and who may manage them.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../free-port.ts';
import { grep, LEVELS } from '../log-lines.ts';
import { form, post, problemOf, until } from '../running-server.ts';
import { type SharedServer, sharedServer } from '../shared-server.ts';
import { scrape } from '../scrape.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../webhook-receiver.ts';

interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly status: string;
  readonly disabled_reason: string | null;
  readonly secret: string;
}

interface Delivery {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly webhook_id: string;
  readonly last_status: number | null;
  readonly next_attempt_at: string | null;
  readonly endpoint_id: string | null;
  readonly body: { readonly data: { readonly id: string } };
  readonly attempts: readonly { readonly response: string; readonly request_headers: Record<string, string> }[];
}

let server: SharedServer;
let receiver: WebhookReceiver;
beforeAll(async () => {
  server = await sharedServer();
  receiver = await startWebhookReceiver();
});
afterAll(async () => {
  await receiver.stop();
});

async function call(method: string, address: string, body?: unknown, key = server.key): Promise<Response> {
  return await fetch(new URL(address, server.url), {
    method,
    headers: { 'x-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

async function result<Body>(response: Promise<Response>, status: number): Promise<Body> {
  const { status: actual, ...rest } = { status: (await response).status, text: await (await response).text() };
  expect([actual, rest.text]).toEqual([status, expect.anything()]);
  return JSON.parse(rest.text) as Body;
}

async function createEndpoint(place: string, events?: readonly string[]): Promise<Endpoint> {
  const body = { url: `${receiver.url}${place}`, ...(events && { events }) };
  return await result<Endpoint>(call('POST', '/v1/webhook-endpoints', body), 201);
}

const received = (place: string) => receiver.received.filter((one) => one.path === place);
const delivery = async (id: string): Promise<Delivery> =>
  await result(call('GET', `/v1/webhook-deliveries/${id}`), 200);

async function createKey(...args: string[]): Promise<{ id: string; key: string }> {
  return JSON.parse(await server.cli('keys', 'create', ...args, '--json')) as { id: string; key: string };
}

describe('an endpoint', () => {
  it('an endpoint gets signed webhooks of renders that end, until it is deleted', async () => {
    const endpoint = await createEndpoint('/mine');
    expect(endpoint).toMatchObject({ url: `${receiver.url}/mine`, events: [], status: 'enabled' });
    const accepted = await post(server, form({ text: 'Hello', width: '64', height: '64', async: 'true' }));
    const { id } = (await accepted.json()) as { id: string };
    const [webhook] = await until(() => (received('/mine').length > 0 ? received('/mine') : undefined));
    const event = new Webhook(endpoint.secret).verify(
      webhook?.body ?? '',
      webhook?.headers as Record<string, string>,
    ) as { type: string; data: { id: string; output: { url: string } } };
    expect(event).toMatchObject({ type: 'render.succeeded', data: { id, status: 'succeeded', credits: 1 } });
    // The link works, although no request has told the server its own address.
    expect((await fetch(event.data.output.url)).status).toBe(200);
    expect(webhook?.headers['user-agent']).toMatch(/^storybar\//u);
    const { endpoints } = await result<{ endpoints: object[] }>(call('GET', '/v1/webhook-endpoints'), 200);
    const { secret, ...shown } = endpoint;
    expect(secret).toMatch(/^whsec_/u);
    expect(endpoints).toContainEqual(shown);
    expect(JSON.stringify(endpoints)).not.toContain(secret);
    expect((await call('DELETE', `/v1/webhook-endpoints/${endpoint.id}`)).status).toBe(204);
    const gone = await problemOf(await call('GET', `/v1/webhook-endpoints/${endpoint.id}`));
    expect(gone).toMatchObject({ status: 404, code: 'webhook_not_found' });
  });

  it('an endpoint gets only the events it subscribed to, and one when a batch is complete', async () => {
    const { id } = await createEndpoint('/batch', ['batch.completed']);
    const requests = [1, 2].map(() => ({ text: 'Hi', width: 32, height: 32 }));
    const batch = await result<{ id: string }>(call('POST', '/v1/batches', { requests }), 202);
    await until(() => received('/batch').length === 1);
    const { type, data } = JSON.parse(received('/batch')[0]?.body ?? '') as { type: string; data: object };
    expect(type).toBe('batch.completed');
    expect(data).toEqual(await result(call('GET', `/v1/batches/${batch.id}`), 200));
    expect(received('/batch')).toHaveLength(1);
    await call('DELETE', `/v1/webhook-endpoints/${id}`);
  });

  it('an endpoint gets a test event, shows what happened, and gets it again on request', async () => {
    const endpoint = await createEndpoint('/switch', ['render.failed']);
    const { id } = await result<Delivery>(call('POST', `/v1/webhook-endpoints/${endpoint.id}/test`), 202);
    await until(async () => (await delivery(id)).last_status !== null);
    const failed = await delivery(id);
    expect(failed).toMatchObject({ type: 'webhook.test', status: 'pending', last_status: 500, attempt_count: 1 });
    expect(failed).toMatchObject({ endpoint_id: endpoint.id, last_error: 'The receiver responded with 500.' });
    expect(failed.attempts[0]?.response).toBe('<b>status 500</b>');
    expect(failed.attempts[0]?.request_headers['webhook-id']).toBe(failed.webhook_id);
    expect(Date.parse(failed.next_attempt_at ?? '')).toBeGreaterThan(Date.now());
    receiver.respondWith(200);
    await result(call('POST', `/v1/webhook-deliveries/${id}/resend`), 202);
    const done = await until(async () => {
      const found = await delivery(id);
      return found.status === 'succeeded' ? found : undefined;
    });
    expect(done.attempts.length).toBeGreaterThanOrEqual(2);
    expect(new Set(received('/switch').map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    const list = `/v1/webhook-deliveries?limit=1&endpoint_id=${endpoint.id}`;
    const page = await result<{ deliveries: Delivery[]; next_cursor: string | null }>(call('GET', list), 200);
    expect(page.deliveries.map((one) => one.id)).toEqual([id]);
    expect(page.next_cursor).toBeNull();
    const of = async (filter: string): Promise<string[]> => {
      const found = await result<{ deliveries: Delivery[] }>(call('GET', `${list}&${filter}`), 200);
      return found.deliveries.map((one) => one.id);
    };
    expect(await of('status=succeeded&type=webhook.test')).toEqual([id]);
    expect(await of('status=failed')).toEqual([]);
    expect(await of('type=render.failed')).toEqual([]);
    const wrong = await problemOf(await call('GET', `${list}&status=lost`));
    expect(wrong.errors).toMatchObject([{ pointer: '#/status', code: 'invalid_choice' }]);
  });

  it('an endpoint that responds with 410 is disabled, and works again when it is enabled', async () => {
    const DISABLED = 'storybar_webhook_endpoints_disabled_total{reason="gone"}';
    const before = (await scrape(server.url)).get(DISABLED) ?? 0;
    const endpoint = await createEndpoint('/410');
    const of = `/v1/webhook-endpoints/${endpoint.id}`;
    const { id } = await result<Delivery>(call('POST', `${of}/test`), 202);
    await until(async () => (await result<Endpoint>(call('GET', of), 200)).disabled_reason === 'gone');
    expect(await delivery(id)).toMatchObject({ status: 'failed', last_status: 410 });
    for (const address of [`${of}/test`, `/v1/webhook-deliveries/${id}/resend`]) {
      expect(await problemOf(await call('POST', address))).toMatchObject({ status: 409, code: 'webhook_disabled' });
    }
    expect(await result(call('POST', `${of}/enable`), 200)).toMatchObject({ status: 'enabled', disabled_reason: null });
    expect(await result(call('POST', `${of}/disable`), 200)).toMatchObject({
      status: 'disabled',
      disabled_reason: 'user',
    });
    await expect.poll(async () => (await scrape(server.url)).get(DISABLED)).toBe(before + 1);
    const lines = await grep(() => server.output().stderr, endpoint.id, 'webhook endpoint disabled');
    const expected = { level: LEVELS.warn, msg: 'webhook endpoint disabled', reason: 'gone' };
    expect(lines).toContainEqual(expect.objectContaining(expected));
  });

  it('an endpoint has both secrets in use after a rotation, or only the new one without an overlap', async () => {
    const endpoint = await createEndpoint('/rotated');
    const of = `/v1/webhook-endpoints/${endpoint.id}`;
    const rotated = await result<Endpoint>(call('POST', `${of}/rotate-secret`), 200);
    await result(call('POST', `${of}/test`), 202);
    await until(() => received('/rotated').length === 1);
    const last = await result<Endpoint>(call('POST', `${of}/rotate-secret`, { overlap_seconds: 0 }), 200);
    await result(call('POST', `${of}/test`), 202);
    await until(() => received('/rotated').length === 2);
    const accepted = received('/rotated').map(({ body, headers }) =>
      [endpoint.secret, rotated.secret, last.secret].map((secret) => {
        try {
          new Webhook(secret).verify(body, headers as Record<string, string>);
          return true;
        } catch {
          return false;
        }
      }),
    );
    // The first secret keeps the day that it got at the first rotation.
    expect(accepted).toEqual([
      [true, true, false],
      [true, false, true],
    ]);
    const invalid = await problemOf(await call('POST', `${of}/rotate-secret`, { overlap_seconds: 1e9, x: 1 }));
    expect(invalid).toMatchObject({ status: 400, errors: [{ pointer: '#/x', code: 'unknown_field' }] });
  });
});

describe('PATCH of an endpoint', () => {
  it('PATCH changes the URL or the events of an endpoint, and keeps the rest and its secret', async () => {
    const { secret, ...created } = await createEndpoint('/before', ['render.failed']);
    const of = `/v1/webhook-endpoints/${created.id}`;
    const url = `${receiver.url}/after`;
    expect(await result(call('PATCH', of, { url }), 200)).toEqual({ ...created, url });
    expect(await result(call('PATCH', of, { events: [] }), 200)).toEqual({ ...created, url, events: [] });
    expect(await result(call('PATCH', of, {}), 200)).toEqual({ ...created, url, events: [] });
    await result(call('POST', `${of}/test`), 202);
    const [webhook] = await until(() => (received('/after').length > 0 ? received('/after') : undefined));
    new Webhook(secret).verify(webhook?.body ?? '', webhook?.headers as Record<string, string>);
    expect(received('/before')).toEqual([]);
  });

  it('PATCH reports every fault, and changes nothing then', async () => {
    const { secret, ...created } = await createEndpoint('/kept');
    expect(secret).toMatch(/^whsec_/u);
    const of = `/v1/webhook-endpoints/${created.id}`;
    const faulty = await problemOf(await call('PATCH', of, { url: 'http://10.0.0.1/', events: ['render.failed', 7] }));
    expect(faulty).toMatchObject({
      status: 400,
      errors: [
        { pointer: '#/url', code: 'forbidden_address' },
        { pointer: '#/events/1', code: 'invalid_choice' },
      ],
    });
    const removed = await problemOf(await call('PATCH', of, { url: null }));
    expect(removed.errors).toMatchObject([{ pointer: '#/url', code: 'required' }]);
    const unknown = await problemOf(await call('PATCH', of, { status: 'disabled' }));
    expect(unknown.errors).toMatchObject([{ pointer: '#/status', code: 'unknown_field' }]);
    expect(await result(call('GET', of), 200)).toEqual(created);
  });
});

describe('webhook_url', () => {
  it('webhook_url gets the webhook of its render, signed with the secret of the account', async () => {
    const { secret } = await result<{ secret: string }>(call('GET', '/v1/webhook-secret'), 200);
    const fields = { text: 'Hi', width: 32, height: 32, deliver: 'url', webhook_url: `${receiver.url}/link` };
    const { id } = await result<{ id: string }>(call('POST', '/v1/overlay', fields), 200);
    await until(() => received('/link').length === 1);
    const [{ body, headers } = { body: '', headers: {} }] = received('/link');
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({ data: { id } });
    const next = await result<{ secret: string }>(call('POST', '/v1/webhook-secret/rotate', {}), 200);
    expect(next.secret).not.toBe(secret);
    expect(await result(call('GET', '/v1/webhook-secret'), 200)).toEqual(next);
  });

  it('webhook_url is refused for a request whose result is not stored', async () => {
    const fields = { text: 'Hi', width: 32, height: 32, webhook_url: `${receiver.url}/never` };
    const problem = await problemOf(await call('POST', '/v1/overlay', fields));
    expect(problem.errors).toMatchObject([{ pointer: '#/webhook_url', code: 'conflict' }]);
  });

  it.each([
    ['http://10.0.0.1/', 'forbidden_address'],
    ['http://[::ffff:169.254.169.254]/', 'forbidden_address'],
    ['http://localhost:22/', 'invalid_url'],
    ['https://user:pass@example.com/', 'invalid_url'],
    ['ftp://example.com/', 'invalid_url'],
    ['not a URL', 'invalid_url'],
  ])('webhook_url is checked before the request is accepted: %s', async (url, code) => {
    const fields = { text: 'Hi', width: 32, height: 32, async: true, webhook_url: url };
    expect((await problemOf(await call('POST', '/v1/overlay', fields))).errors).toMatchObject([
      { pointer: '#/webhook_url', code },
    ]);
    const endpoint = await problemOf(
      await call('POST', '/v1/webhook-endpoints', { url, events: ['render.failed', 7] }),
    );
    expect(endpoint.errors).toMatchObject([
      { pointer: '#/url', code },
      { pointer: '#/events/1', code: 'invalid_choice' },
    ]);
  });
});

describe('the API of webhooks', () => {
  it('the API of webhooks refuses keys that do not stay on a server', async () => {
    const inPages = await createKey('--account', server.account);
    await server.cli('keys', 'origins', inPages.id, 'https://shop.example');
    for (const { key } of [await createKey('--account', server.account, '--test'), inPages]) {
      for (const [method, address] of [
        ['GET', '/v1/webhook-endpoints'],
        ['POST', '/v1/webhook-endpoints'],
        ['GET', '/v1/webhook-deliveries'],
        ['GET', '/v1/webhook-secret'],
        ['POST', '/v1/webhook-secret/rotate'],
      ] as const) {
        const response = await fetch(new URL(address, server.url), {
          method,
          headers: { 'x-api-key': key, origin: 'https://shop.example', 'content-type': 'application/json' },
          ...(method === 'POST' && { body: '{}' }),
        });
        expect([address, (await problemOf(response)).code]).toEqual([address, 'server_key_required']);
      }
    }
  });

  it('the webhooks API does not show or change the data of another account', async () => {
    const endpoint = await createEndpoint('/foreign');
    const of = `/v1/webhook-endpoints/${endpoint.id}`;
    const { id } = await result<Delivery>(call('POST', `${of}/test`), 202);
    const other = await createKey('--name', 'other', '--plan', 'free');
    const attempts = [
      ['GET', of],
      ['DELETE', of],
      ['PATCH', of],
      ['POST', `${of}/test`],
      ['POST', `${of}/enable`],
      ['POST', `${of}/rotate-secret`],
      ['GET', `/v1/webhook-deliveries/${id}`],
      ['POST', `/v1/webhook-deliveries/${id}/resend`],
    ] as const;
    for (const [method, address] of attempts) {
      const problem = await problemOf(await call(method, address, method === 'PATCH' ? {} : undefined, other.key));
      expect([address, problem.status, problem.code]).toEqual([address, 404, 'webhook_not_found']);
    }
    const empty = { deliveries: [], next_cursor: null };
    expect(await result(call('GET', '/v1/webhook-deliveries', undefined, other.key), 200)).toEqual(empty);
    const cursor = await problemOf(await call('GET', `/v1/webhook-deliveries?cursor=${id}`, undefined, other.key));
    expect(cursor).toMatchObject({ status: 400, errors: [{ pointer: '#/cursor' }] });
  });

  it('the API of webhooks refuses more endpoints than an account can have', async () => {
    const { key } = await createKey('--name', 'many', '--plan', 'pro');
    const statuses: number[] = [];
    for (let index = 0; index < 21; index += 1) {
      statuses.push((await call('POST', '/v1/webhook-endpoints', { url: 'https://a.example/' }, key)).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 201), 409]);
  });
});

describe('the code in the guide', () => {
  const root = path.resolve(import.meta.dirname, '../..');
  const guide = readFileSync(path.join(root, 'docs/guides/webhooks.md'), 'utf8');
  const receivers = [...guide.matchAll(/^```(?<language>js|ts|python)\n(?<code>[\s\S]*?)^```$/gmu)]
    .map(({ groups }) => ({ language: groups?.['language'] ?? '', code: groups?.['code'] ?? '' }))
    .filter(({ code }) => /listen\(|serve_forever\(/u.test(code));
  const hasHttpx = spawnSync('python3', ['-c', 'import httpx']).status === 0;
  const isRunnable = ({ language, code }: { language: string; code: string }): boolean =>
    language !== 'python' || hasHttpx || !code.includes('from storybar import');

  it('receives webhooks in both languages, with our clients and without them', () => {
    expect(receivers.map(({ language }) => language)).toEqual(['ts', 'python', 'js', 'python']);
  });

  it.each(receivers.filter(isRunnable))(
    'accepts genuine webhooks and refuses forged ones: $language, $code',
    async ({ language, code }) => {
      const [program, args] =
        language === 'python' ? ['python3', ['-c', code]] : [process.execPath, ['--input-type=module', '-e', code]];
      // The package of the client finds itself by its name, and the packages of the root.
      const cwd = path.join(root, 'clients/typescript');
      const pythonPath = [path.join(root, 'clients/python/src'), process.env['PYTHONPATH'] ?? ''].join(path.delimiter);
      const port = await freePort();
      const url = `http://127.0.0.1:${port}/`;
      const endpoint = await result<Endpoint>(call('POST', '/v1/webhook-endpoints', { url }), 201);
      const env = {
        PATH: process.env['PATH'] ?? '',
        PYTHONPATH: pythonPath,
        PYTHONDONTWRITEBYTECODE: '1',
        PORT: String(port),
        STORYBAR_WEBHOOK_SECRET: endpoint.secret,
      };
      const child = spawn(program, args, { env, cwd, stdio: 'ignore' });
      try {
        await until(async () => (await fetch(url).catch(() => undefined)) !== undefined);
        const { id } = await result<Delivery>(call('POST', `/v1/webhook-endpoints/${endpoint.id}/test`), 202);
        await until(async () => (await delivery(id)).attempts.length > 0);
        const found = await delivery(id);
        expect(found).toMatchObject({ status: 'succeeded', last_status: 204 });
        const { request_headers: headers } = found.attempts[0] ?? { request_headers: {} };
        const forged = { ...headers, 'webhook-id': 'msg_forged' };
        const refused = await fetch(url, { method: 'POST', headers: forged, body: JSON.stringify(found.body) });
        expect(refused.status).toBe(400);
      } finally {
        child.kill();
        await once(child, 'exit');
        await call('DELETE', `/v1/webhook-endpoints/${endpoint.id}`);
      }
    },
  );
});

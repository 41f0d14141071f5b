// Asynchronous renders through the API: acceptance, polling, links, cancellation and the limits around them.

import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { noisyJpeg } from '../pictures.ts';
import { form, post, problemOf, until } from '../running-server.ts';
import { type SharedServer, sharedServer } from '../shared-server.ts';

interface Render {
  readonly id: string;
  readonly status: string;
  readonly progress: number;
  readonly source_type: string | null;
  readonly credits: number | null;
  readonly test: boolean;
  readonly batch_id: string | null;
  readonly expires_at: string | null;
  readonly output: {
    url: string;
    content_type: string;
    bytes: number;
    width: number;
    height: number;
    duration: number | null;
  } | null;
  readonly error: { code: string; status: number; instance: string } | null;
}

const ASYNC = { prefer: 'respond-async' };
const CANVAS = { text: 'Hello', width: '320', height: '240' };

let server: SharedServer;
let photo: Buffer;
let testKey: string;
beforeAll(async () => {
  server = await sharedServer();
  photo = await noisyJpeg(400, 300);
  testKey = await createKey('--test');
});

async function createKey(...args: string[]): Promise<string> {
  const created = await server.cli('keys', 'create', '--account', server.account, ...args, '--json');
  return (JSON.parse(created) as { key: string }).key;
}

async function call(
  method: string,
  address: string,
  key = server.key,
  body?: unknown,
  headers = {},
): Promise<Response> {
  return await fetch(new URL(address, server.url), {
    method,
    headers: { 'x-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

async function accept(fields: Parameters<typeof form>[0], headers = {}): Promise<Render> {
  const response = await post(server, form(fields), { headers: { ...ASYNC, ...headers } });
  expect(response.status).toBe(202);
  return (await response.json()) as Render;
}

async function ended(id: string, key = server.key): Promise<Render> {
  const response = await call('GET', `/v1/renders/${id}?wait=30`, key);
  expect(response.status).toBe(200);
  return (await response.json()) as Render;
}

async function usedCredits(): Promise<{ used: number; reserved: number }> {
  const { credits } = (await (await call('GET', '/v1/usage')).json()) as {
    credits: { used: number; reserved: number };
  };
  return { used: credits.used, reserved: credits.reserved };
}

describe('an asynchronous request', () => {
  it('an asynchronous request gets 202 and its location at once, and later a link to the same bytes that a waiting request gets', async () => {
    const before = await usedCredits();
    const response = await post(server, form({ asset: photo, text: 'Hello' }), { headers: ASYNC });
    expect(response.status).toBe(202);
    const accepted = (await response.json()) as Render;
    expect(accepted).toMatchObject({ source_type: 'image', credits: null, output: null, test: false });
    expect(['queued', 'rendering']).toContain(accepted.status);
    expect(response.headers.get('location')).toBe(`/v1/renders/${accepted.id}`);
    expect(response.headers.get('preference-applied')).toBe('respond-async');
    expect(response.headers.get('x-credits-charged')).toBe('0');
    const done = await ended(accepted.id);
    expect(done).toMatchObject({ id: accepted.id, status: 'succeeded', progress: 1, credits: 1, error: null });
    expect(done.output).toMatchObject({ content_type: 'image/png', width: 400, height: 300, duration: null });
    const file = await fetch(done.output?.url ?? '');
    const bytes = Buffer.from(await file.arrayBuffer());
    const waiting = await post(server, form({ asset: photo, text: 'Hello' }));
    expect(bytes.equals(Buffer.from(await waiting.arrayBuffer()))).toBe(true);
    expect(bytes.length).toBe(done.output?.bytes);
    // The request that waited is charged after its last byte.
    await expect.poll(usedCredits).toEqual({ used: before.used + 2, reserved: 0 });
  });

  it('an overlay without an asset can be requested asynchronously with the field async in JSON', async () => {
    const response = await call('POST', '/v1/overlay', server.key, { text: 'Hi', width: 64, height: 64, async: true });
    expect(response.status).toBe(202);
    const done = await ended(((await response.json()) as Render).id);
    expect(done).toMatchObject({ status: 'succeeded', source_type: 'image', output: { width: 64, height: 64 } });
  });

  it('the stored asset of an asynchronous request is deleted when the render has ended', async () => {
    const { id } = await accept({ asset: photo, text: 'Short-lived' });
    expect((await ended(id)).status).toBe('succeeded');
    const assets = path.join(server.dataDirectory, 'objects', 'assets');
    await until(() => !existsSync(assets) || !readdirSync(assets).includes(id));
  });

  it.each([
    ['a missing caption', { width: '64', height: '64' }, 400, 'invalid_fields'],
    ['a file that is not an image or a video', { asset: Buffer.from('text'), text: 'a' }, 415, 'unsupported_asset'],
    ['deliver=bytes', { ...CANVAS, async: 'true', deliver: 'bytes' }, 400, 'invalid_fields'],
    ['an unknown value of deliver', { ...CANVAS, deliver: 'mail' }, 400, 'invalid_fields'],
  ])('an asynchronous request is refused before it is accepted because of %s', async (_name, fields, status, code) => {
    const response = await post(server, form(fields), { headers: ASYNC });
    expect(await problemOf(response)).toMatchObject({ status, code });
  });

  it('an asynchronous request reports a damaged file in the render, with the problem of a waiting request, and charges nothing', async () => {
    const before = await usedCredits();
    const { id } = await accept({ asset: photo.subarray(0, 200), text: 'Broken' });
    const failed = await ended(id);
    expect(failed).toMatchObject({ status: 'failed', credits: 0, output: null });
    expect(failed.error).toMatchObject({ code: 'asset_undecodable', status: 422, instance: id });
    expect(await usedCredits()).toEqual(before);
  });

  it('an asynchronous request fetches asset_url inside the render', async () => {
    const files = createServer((request, response) => {
      if (request.url === '/photo.jpg') response.end(photo);
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => void files.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
    const good = await call('POST', '/v1/overlay', server.key, {
      text: 'a',
      asset_url: `${base}/photo.jpg`,
      async: true,
    });
    const bad = await call('POST', '/v1/overlay', server.key, {
      text: 'a',
      asset_url: `${base}/none.jpg`,
      async: true,
    });
    expect([good.status, bad.status]).toEqual([202, 202]);
    expect(await ended(((await good.json()) as Render).id)).toMatchObject({
      status: 'succeeded',
      output: { width: 400 },
    });
    expect(await ended(((await bad.json()) as Render).id)).toMatchObject({
      status: 'failed',
      error: { code: 'asset_unreachable', upstream_status: 404 },
    });
    files.close();
  });

  it('an asynchronous request returns the same render when it is repeated with the same idempotency key', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const first = await accept({ asset: photo, text: 'Once' }, headers);
    const again = await post(server, form({ asset: photo, text: 'Once' }), { headers: { ...ASYNC, ...headers } });
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([202, 'true']);
    expect(((await again.json()) as Render).id).toBe(first.id);
    const withField = await post(server, form({ asset: photo, text: 'Once', async: 'true' }), { headers });
    expect(((await withField.json()) as Render).id).toBe(first.id);
    const other = await post(server, form({ asset: photo, text: 'Other' }), { headers: { ...ASYNC, ...headers } });
    expect(await problemOf(other)).toMatchObject({ status: 422, code: 'idempotency_mismatch' });
    expect((await ended(first.id)).credits).toBe(1);
  });
});

describe('a link to a result', () => {
  let url: string;
  let bytes: Buffer;
  let id: string;
  beforeAll(async () => {
    ({ id } = await accept({ asset: photo, text: 'Ranges' }));
    url = (await ended(id)).output?.url ?? '';
    bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
  });

  it('a link to a result needs no key, and its response can be read by any page', async () => {
    const response = await fetch(url, { headers: { origin: 'https://elsewhere.example' } });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('image/png');
    expect(response.headers.get('content-disposition')).toBe(`inline; filename="${id}.png"`);
    expect(response.headers.get('content-length')).toBe(String(bytes.length));
    expect(response.headers.get('accept-ranges')).toBe('bytes');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(new URL(url).pathname).toMatch(/^\/v1\/results\/[\w-]{32}\.png$/u);
    await response.body?.cancel();
  });

  it('a link to a result supports ranges', async () => {
    const part = await fetch(url, { headers: { range: 'bytes=100-199' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 100-199/${bytes.length}`]);
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(100, 200))).toBe(true);
    const end = await fetch(url, { headers: { range: 'bytes=-10', 'if-range': `"${id}"` } });
    expect(Buffer.from(await end.arrayBuffer()).equals(bytes.subarray(-10))).toBe(true);
    const whole = await fetch(url, { headers: { range: 'bytes=0-9', 'if-range': '"other"' } });
    expect((await whole.arrayBuffer()).byteLength).toBe(bytes.length);
    const beyond = await fetch(url, { headers: { range: `bytes=${bytes.length}-` } });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${bytes.length}`]);
    expect(await problemOf(beyond)).toMatchObject({ code: 'range_not_satisfiable' });
  });

  it('a link to a result supports HEAD and revalidation', async () => {
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes.length)]);
    expect(await head.text()).toBe('');
    const same = await fetch(url, { headers: { 'if-none-match': head.headers.get('etag') ?? '' } });
    expect(same.status).toBe(304);
  });

  it('a link to a result does not work with another token', async () => {
    const wrong = await fetch(url.replace(/[\w-]{32}\.png$/u, `${'A'.repeat(32)}.png`));
    expect(await problemOf(wrong)).toMatchObject({ status: 404, code: 'not_found' });
  });

  it('a link to a result returns 410 when its file is gone', async () => {
    const other = await accept({ asset: photo, text: 'Expires' });
    const link = (await ended(other.id)).output?.url ?? '';
    const outputs = path.join(server.dataDirectory, 'objects', 'outputs');
    for (const name of readdirSync(outputs)) {
      if (name.startsWith(other.id)) rmSync(path.join(outputs, name));
    }
    expect(await problemOf(await fetch(link))).toMatchObject({ status: 410, code: 'result_expired' });
  });
});

describe('deliver=url on a request that waits', () => {
  it('returns the finished render with a link, charged once also when it is repeated', async () => {
    const before = await usedCredits();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await post(server, form({ asset: photo, text: 'Link', deliver: 'url' }), { headers });
    expect([first.status, first.headers.get('x-credits-charged')]).toEqual([200, '1']);
    const render = (await first.json()) as Render;
    expect(render).toMatchObject({ status: 'succeeded', credits: 1, id: first.headers.get('x-render-id') });
    expect((await (await fetch(render.output?.url ?? '')).arrayBuffer()).byteLength).toBe(render.output?.bytes);
    const again = await post(server, form({ asset: photo, text: 'Link', deliver: 'url' }), { headers });
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(((await again.json()) as Render).output).toEqual(render.output);
    await expect.poll(usedCredits).toEqual({ used: before.used + 1, reserved: 0 });
  });

  it('returns a problem when the render fails, and keeps no record', async () => {
    const response = await post(server, form({ asset: photo.subarray(0, 200), text: 'Broken', deliver: 'url' }));
    const problem = await problemOf(response);
    expect(problem).toMatchObject({ status: 422, code: 'asset_undecodable' });
    expect((await call('GET', `/v1/renders/${problem.instance}`)).status).toBe(404);
  });
});

describe('the renders of an account', () => {
  it('renders are listed newest first, in pages', async () => {
    const ids = [];
    for (const text of ['one', 'two', 'three']) ids.push((await accept({ ...CANVAS, text })).id);
    const first = (await (await call('GET', '/v1/renders?limit=2')).json()) as {
      renders: Render[];
      next_cursor: string;
    };
    expect(first.renders.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
    const second = (await (await call('GET', `/v1/renders?limit=2&cursor=${first.next_cursor}`)).json()) as {
      renders: Render[];
    };
    expect(second.renders[0]?.id).toBe(ids[0]);
    expect(await problemOf(await call('GET', '/v1/renders?limit=0'))).toMatchObject({ status: 400 });
    expect(await problemOf(await call('GET', `/v1/renders?cursor=${randomUUID()}`))).toMatchObject({ status: 400 });
    // Wait, so that their charges don't fall into the next tests.
    for (const id of ids) await ended(id);
  });

  it('renders are invisible to other accounts and to test keys', async () => {
    const { id } = await accept(CANVAS);
    const other = (JSON.parse(await server.cli('keys', 'create', '--plan', 'free', '--json')) as { key: string }).key;
    for (const key of [other, testKey]) {
      expect(await problemOf(await call('GET', `/v1/renders/${id}`, key))).toMatchObject({ code: 'render_not_found' });
      expect(await problemOf(await call('DELETE', `/v1/renders/${id}`, key))).toMatchObject({
        code: 'render_not_found',
      });
    }
    expect((await ended(id)).status).toBe('succeeded');
  });

  it('renders of a test key are free and marked', async () => {
    // Renders of earlier tests may still be running.
    const before = await until(async () => {
      const credits = await usedCredits();
      return credits.reserved === 0 && credits;
    });
    const response = await call('POST', '/v1/overlay', testKey, { text: 'Hi', width: 64, height: 64, async: true });
    const { id } = (await response.json()) as Render;
    expect(await ended(id, testKey)).toMatchObject({ status: 'succeeded', test: true, credits: 0 });
    expect((await ended(id)).test).toBe(true);
    expect(await usedCredits()).toEqual(before);
  });

  it('a key with allowed origins sees only its own renders', async () => {
    const key = await createKey('--name', 'page');
    const listed = await server.cli('keys', 'list', '--account', server.account, '--json');
    const keys = JSON.parse(listed) as { id: string; name: string }[];
    await server.cli('keys', 'origins', keys.find(({ name }) => name === 'page')?.id ?? '', 'https://page.example');
    const { id } = await accept(CANVAS);
    expect((await call('GET', `/v1/renders/${id}`, key)).status).toBe(404);
    const own = await call('POST', '/v1/overlay', key, { text: 'Hi', width: 64, height: 64, async: true });
    const { id: ownId } = (await own.json()) as Render;
    const list = (await (await call('GET', '/v1/renders', key)).json()) as { renders: Render[] };
    expect(list.renders.map((render) => render.id)).toEqual([ownId]);
    for (const each of [id, ownId]) await ended(each);
  });
});

describe('DELETE of a render', () => {
  it('deletes a finished one with its file', async () => {
    const { id } = await accept({ asset: photo, text: 'Delete' });
    const { output } = await ended(id);
    expect((await call('DELETE', `/v1/renders/${id}`)).status).toBe(204);
    expect((await call('GET', `/v1/renders/${id}`)).status).toBe(404);
    expect((await fetch(output?.url ?? '')).status).toBe(404);
    expect(readdirSync(path.join(server.dataDirectory, 'objects', 'outputs')).some((name) => name.startsWith(id))).toBe(
      false,
    );
  });
});

describe('a batch', () => {
  it('renders every request, and one that fails does not stop the others', async () => {
    const requests = [
      { text: 'one', width: 64, height: 64 },
      { text: 'two', asset_url: 'http://127.0.0.1:65533/none.jpg' },
      { text: 'three', width: 128, height: 64 },
    ];
    const headers = { 'idempotency-key': randomUUID() };
    const response = await call('POST', '/v1/batches', server.key, { requests }, headers);
    expect(response.status).toBe(202);
    const { id } = (await response.json()) as { id: string };
    expect(response.headers.get('location')).toBe(`/v1/batches/${id}`);
    interface Batch {
      status: string;
      succeeded: number;
      failed: number;
      credits: number;
      renders: Render[];
    }
    const batch = await until(async () => {
      const current = (await (await call('GET', `/v1/batches/${id}`)).json()) as Batch;
      return current.status === 'completed' && current;
    });
    expect(batch).toMatchObject({ succeeded: 2, failed: 1, credits: 2 });
    expect(batch.renders.map(({ output, batch_id }) => [output?.width ?? null, batch_id])).toEqual([
      [64, id],
      [null, id],
      [128, id],
    ]);
    const again = await call('POST', '/v1/batches', server.key, { requests }, headers);
    expect(((await again.json()) as { id: string }).id).toBe(id);
    expect((await call('DELETE', `/v1/batches/${id}`)).status).toBe(204);
    expect((await call('GET', `/v1/batches/${id}`)).status).toBe(404);
  });

  it('a batch is refused as a whole with the faults of all its requests', async () => {
    const requests = [{ text: 'fine', width: 64, height: 64 }, { text: '', width: 64, height: 1 }, 'text'];
    const problem = await problemOf(await call('POST', '/v1/batches', server.key, { requests }));
    expect(problem).toMatchObject({ status: 400, code: 'invalid_fields' });
    expect(problem.errors?.map(({ pointer }) => pointer)).toEqual(
      expect.arrayContaining(['#/requests/1/text', '#/requests/1/height', '#/requests/2']),
    );
    for (const body of [
      { requests: [] },
      { requests: Array.from({ length: 101 }, () => ({})) },
      { requests: [{}], more: 1 },
      {},
    ]) {
      expect((await call('POST', '/v1/batches', server.key, body)).status).toBe(400);
    }
  });
});

it('a batch route responds to a preflight with the methods and headers of asynchronous requests', async () => {
  const response = await fetch(new URL('/v1/renders/some', server.url), {
    method: 'OPTIONS',
    headers: { origin: 'https://page.example', 'access-control-request-method': 'DELETE' },
  });
  expect(response.headers.get('access-control-allow-methods')).toBe('GET, POST, DELETE');
  expect(response.headers.get('access-control-allow-headers')).toContain('prefer');
});

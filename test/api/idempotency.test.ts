// `Idempotency-Key`: a request that is sent again is rendered and charged once.

import { must } from '../../src/shared/must.ts';
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdImages } from '../held-workers.ts';
import { noisyJpeg } from '../pictures.ts';
import { form, post, problemOf, type RunningServer, startServer, until } from '../running-server.ts';

let server: RunningServer;
let photo: Buffer;
beforeAll(async () => {
  server = await startServer({ STORYBAR_REPLAY_MB: '5' });
  photo = await noisyJpeg(300, 300);
});
afterAll(async () => {
  await server.stop();
});

async function send(key: string, fields: Parameters<typeof form>[0]): Promise<Response> {
  return await post(server, form(fields), { headers: { 'idempotency-key': key } });
}

/** This request costs one credit itself. */
async function remainingCredits(): Promise<number> {
  const response = await post(server, form({ text: 'a', width: '16', height: '16' }));
  return Number(response.headers.get('x-credits-remaining'));
}

describe('a repeated request with the same idempotency key', () => {
  it('a repeated request gets the same bytes and render id, free of charge', async () => {
    const key = randomUUID();
    const first = await send(key, { asset: photo, text: 'Hello' });
    const bytes = Buffer.from(await first.arrayBuffer());
    const second = await send(key, { text: 'Hello', asset: photo });
    expect(second.status).toBe(200);
    expect(Buffer.from(await second.arrayBuffer()).equals(bytes)).toBe(true);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    expect([first, second].map(({ headers }) => headers.get('x-credits-charged'))).toEqual(['1', '0']);
    for (const name of ['x-render-id', 'content-disposition', 'content-type', 'x-source-type', 'content-length']) {
      expect(second.headers.get(name)).toBe(first.headers.get(name));
    }
  });

  it('a repeated request is rendered again for free when the replay cache has evicted the bytes', async () => {
    const key = `"${randomUUID()}"`;
    const first = await send(key, { asset: photo, text: 'Gone' });
    const bytes = Buffer.from(await first.arrayBuffer());
    const before = await remainingCredits();
    const replayCache = path.join(server.dataDirectory, 'replays');
    // Larger renders evict the first one.
    for (let count = 0; count < 3; count += 1) {
      await (await send(randomUUID(), { asset: await noisyJpeg(900, 900), text: String(count) })).arrayBuffer();
    }
    await until(() => !readdirSync(replayCache).includes(first.headers.get('x-render-id') ?? ''));
    const repeated = await send(key.replaceAll('"', ''), { asset: photo, text: 'Gone' });
    expect([repeated.status, repeated.headers.get('x-credits-charged')]).toEqual([200, '0']);
    expect(repeated.headers.get('idempotency-replayed')).toBe('true');
    expect(repeated.headers.get('x-render-id')).toBe(first.headers.get('x-render-id'));
    expect(Buffer.from(await repeated.arrayBuffer()).equals(bytes)).toBe(true);
    // The charges are those of three large renders, and of the request that reads the remaining credits.
    expect(await remainingCredits()).toBe(before - 4);
  });

  it('a repeated request gets 409 while the first request is in flight', async () => {
    const key = randomUUID();
    const release = holdImages(server);
    let conflicts = 0;
    const requests = Array.from({ length: 4 }, async () => {
      const response = await send(key, { asset: photo, text: 'Hello' });
      if (response.status === 409) conflicts += 1;
      return response;
    });
    await until(() => conflicts === 3);
    release();
    const responses = await Promise.all(requests);
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409]);
    const conflict = responses.find(({ status }) => status === 409);
    expect(conflict && (await problemOf(conflict))).toMatchObject({ code: 'idempotency_in_flight' });
    expect(Number(conflict?.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('a repeated request starts over after a failure', async () => {
    const key = randomUUID();
    expect((await send(key, { asset: photo.subarray(0, 200), text: 'Hello' })).status).toBe(422);
    const second = await send(key, { asset: photo.subarray(0, 200), text: 'Hello' });
    expect([second.status, second.headers.get('idempotency-replayed')]).toEqual([422, null]);
    expect((await send(key, { asset: photo, text: 'Hello' })).status).toBe(200);
  });
});

describe('a request that is repeated asynchronously', () => {
  const sendAsync = async (key: string, fields: Parameters<typeof form>[0]): Promise<Response> =>
    await post(server, form(fields), { headers: { 'idempotency-key': key, prefer: 'respond-async' } });
  const ended = async (response: Response): Promise<Record<string, unknown>> => {
    expect(response.status).toBe(202);
    const { id } = (await response.json()) as { id: string };
    const render = await fetch(`${server.url}/v1/renders/${id}?wait=60`, { headers: { 'x-api-key': server.key } });
    return (await render.json()) as Record<string, unknown>;
  };

  it('a repeated asynchronous request waits for the first request, and is free after its delivery', async () => {
    const key = randomUUID();
    const release = holdImages(server);
    const both = [send(key, { asset: photo, text: 'Both' }), send(key, { asset: photo, text: 'Both' })];
    // One of them is refused while the other waits for its render.
    const refused = await Promise.race(both.map(async (sent, index) => [index, (await sent).status]));
    expect(refused[1]).toBe(409);
    const first = must(both[1 - must(refused[0], 'the refused one')], 'the other one');
    let isAccepted = false;
    const repeated = sendAsync(key, { asset: photo, text: 'Both' }).finally(() => (isAccepted = true));
    await until(async () => (await send(key, { asset: photo, text: 'Both' })).status === 409);
    expect(isAccepted).toBe(false);
    release();
    const delivered = await first;
    expect([delivered.status, delivered.headers.get('x-credits-charged')]).toEqual([200, '1']);
    const bytes = Buffer.from(await delivered.arrayBuffer());
    const render = await ended(await repeated);
    expect(render).toMatchObject({ status: 'succeeded', credits: 0 });
    const result = await fetch((render as { output: { url: string } }).output.url);
    expect(Buffer.from(await result.arrayBuffer()).equals(bytes)).toBe(true);
    // Both ways of repeating it still find the same render, and other content is refused.
    expect(await ended(await sendAsync(key, { asset: photo, text: 'Both' }))).toMatchObject({ id: render['id'] });
    expect((await send(key, { asset: photo, text: 'Both' })).headers.get('x-credits-charged')).toBe('0');
    const other = await sendAsync(key, { asset: photo, text: 'Other' });
    expect(await problemOf(other)).toMatchObject({ status: 422, code: 'idempotency_mismatch' });
  });

  it('a repeated asynchronous request is rendered and charged when the first request failed', async () => {
    const key = randomUUID();
    expect((await send(key, { asset: photo.subarray(0, 200), text: 'Broken' })).status).toBe(422);
    const render = await ended(await sendAsync(key, { asset: photo.subarray(0, 200), text: 'Broken' }));
    expect(render).toMatchObject({ status: 'failed', credits: 0 });
    expect(await ended(await sendAsync(randomUUID(), { asset: photo, text: 'Good' }))).toMatchObject({ credits: 1 });
  });
});

describe('an asynchronous request that is repeated by one that waits', () => {
  const accept = async (key: string, fields: Parameters<typeof form>[0]): Promise<string> => {
    const headers = { 'idempotency-key': key, prefer: 'respond-async' };
    const response = await post(server, form(fields), { headers });
    expect(response.status).toBe(202);
    return ((await response.json()) as { id: string }).id;
  };
  const renderOf = async (id: string, query = ''): Promise<{ credits: number; output: { url: string } }> => {
    const response = await fetch(`${server.url}/v1/renders/${id}${query}`, { headers: { 'x-api-key': server.key } });
    return (await response.json()) as { credits: number; output: { url: string } };
  };

  it('a request that waits gets the file of an asynchronous one with its key when that has ended, free of charge', async () => {
    const key = randomUUID();
    const release = holdImages(server);
    const id = await accept(key, { asset: photo, text: 'Later' });
    let isDelivered = false;
    const waiting = send(key, { asset: photo, text: 'Later' }).finally(() => (isDelivered = true));
    // Another request goes through meanwhile, so the repeated one has arrived.
    expect(await problemOf(await send(key, { asset: photo, text: 'Other' }))).toMatchObject({
      status: 422,
      code: 'idempotency_mismatch',
    });
    expect(isDelivered).toBe(false);
    release();
    const repeated = await waiting;
    const shown = ['x-render-id', 'idempotency-replayed', 'x-credits-charged', 'content-type', 'content-disposition'];
    expect([repeated.status, ...shown.map((name) => repeated.headers.get(name))]).toEqual([
      200,
      id,
      'true',
      '0',
      'image/png',
      `inline; filename="${id}.png"`,
    ]);
    const { credits, output } = await renderOf(id);
    expect(credits).toBe(1);
    const stored = Buffer.from(await (await fetch(output.url)).arrayBuffer());
    expect(Buffer.from(await repeated.arrayBuffer()).equals(stored)).toBe(true);
  });

  it('a request with deliver=url gets the render of an asynchronous one with its key', async () => {
    const key = randomUUID();
    const fields = { asset: photo, text: 'Link', deliver: 'url' };
    const id = await accept(key, fields);
    const repeated = await send(key, fields);
    expect([repeated.status, repeated.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(await repeated.json()).toMatchObject({ id, status: 'succeeded', credits: 1 });
  });

  it('a request that waits is rendered and charged when the asynchronous one with its key was canceled', async () => {
    const key = randomUUID();
    const release = holdImages(server);
    const id = await accept(key, { asset: photo, text: 'Canceled' });
    const headers = { 'x-api-key': server.key };
    expect((await fetch(`${server.url}/v1/renders/${id}`, { method: 'DELETE', headers })).status).toBe(200);
    release();
    const repeated = await send(key, { asset: photo, text: 'Canceled' });
    expect([repeated.status, repeated.headers.get('x-credits-charged')]).toEqual([200, '1']);
    expect(repeated.headers.get('x-render-id')).not.toBe(id);
    // From now on, the key stands for the request that was delivered.
    const again = await send(key, { asset: photo, text: 'Canceled' });
    expect(again.headers.get('x-render-id')).toBe(repeated.headers.get('x-render-id'));
  });
});

describe('an idempotency key', () => {
  it.each([
    ['a different caption', { text: 'Other' }],
    ['a different image', { text: 'Hello', asset: 'other' }],
  ])('an idempotency key is refused with 422 when it is sent again with %s', async (_name, change) => {
    const key = randomUUID();
    expect((await send(key, { asset: photo, text: 'Hello' })).status).toBe(200);
    const asset = 'asset' in change ? await noisyJpeg(300, 300) : photo;
    const refused = await send(key, { asset, text: change.text });
    expect(await problemOf(refused)).toMatchObject({ status: 422, code: 'idempotency_mismatch' });
  });

  it('an idempotency key of another account starts a new render', async () => {
    const key = randomUUID();
    await send(key, { asset: photo, text: 'Hello' });
    const created = await server.cli('keys', 'create', '--plan', 'free', '--json');
    const other = { url: server.url, key: (JSON.parse(created) as { key: string }).key };
    const response = await post(other, form({ asset: photo, text: 'Hello' }), { headers: { 'idempotency-key': key } });
    expect(response.headers.get('x-credits-charged')).toBe('1');
  });

  it.each([[' '], ['x'.repeat(256)], ['""']])('the idempotency key %j is refused with 400', async (key) => {
    const refused = await send(key, { asset: photo, text: 'Hello' });
    expect(await problemOf(refused)).toMatchObject({ status: 400, code: 'invalid_idempotency_key' });
  });
});

// This is the last test, because it ends the server of the others.
it('a request with the same idempotency key is replayed after a restart', async () => {
  const key = randomUUID();
  const response = await send(key, { asset: photo, text: 'Hello' });
  const bytes = Buffer.from(await response.arrayBuffer());
  server.signal('SIGTERM');
  await server.exited;
  const second = await startServer({ STORYBAR_DATA_DIR: server.dataDirectory });
  const options = { headers: { 'idempotency-key': key } };
  const repeated = await post({ url: second.url, key: server.key }, form({ asset: photo, text: 'Hello' }), options);
  expect(repeated.headers.get('idempotency-replayed')).toBe('true');
  expect(Buffer.from(await repeated.arrayBuffer()).equals(bytes)).toBe(true);
  await second.stop();
});

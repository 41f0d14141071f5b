// What a server refuses: asynchronous requests beyond the limits of a plan, through a marketplace, or at all.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noisyJpeg } from '../pictures.ts';
import { form, post, problemOf, type RunningServer, startServer, until } from '../running-server.ts';
import { plainClip } from '../video/plain-clip.ts';

const ASYNC = { prefer: 'respond-async' };
const CANVAS = { text: 'Hello', width: '320', height: '240' };

describe('a server with limits', () => {
  let limited: RunningServer;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'storybar-plans-'));
    const plans = path.join(folder, 'plans.json');
    const plan = { name: 'small', monthlyPriceCents: 0, credits: 100, requestsPerMinute: 600, concurrentRenders: 1 };
    writeFileSync(plans, JSON.stringify({ plans: [{ ...plan, limits: { queuedRenders: 2, storedBytes: 200_000 } }] }));
    limited = await startServer({ STORYBAR_PLANS: plans, STORYBAR_MARKETPLACE_SECRETS: 'secret-of-the-gateway' });
  });
  afterAll(async () => {
    await limited.stop();
    rmSync(folder, { recursive: true });
  });

  it('refuses more queued renders and more stored bytes than the plan allows, with 429', async () => {
    const large = await noisyJpeg(1_000, 1_000);
    expect(large.length).toBeGreaterThan(200_000);
    const tooLarge = await post(limited, form({ asset: large, text: 'a' }), { headers: ASYNC });
    expect(await problemOf(tooLarge)).toMatchObject({ status: 429, code: 'stored_bytes_exceeded', limit: 200_000 });
    const requests = Array.from({ length: 3 }, () => ({ text: 'a', width: 64, height: 64 }));
    const tooMany = await fetch(`${limited.url}/v1/batches`, {
      method: 'POST',
      headers: { 'x-api-key': limited.key, 'content-type': 'application/json' },
      body: JSON.stringify({ requests }),
    });
    expect(await problemOf(tooMany)).toMatchObject({ status: 429, code: 'too_many_queued', limit: 2, actual: 3 });
    expect(readdirSync(path.join(limited.dataDirectory, 'objects', 'assets'))).toEqual([]);
  });

  it('refuses asynchronous requests through a marketplace, but not links', async () => {
    const gateway = {
      'x-rapidapi-proxy-secret': 'secret-of-the-gateway',
      'x-rapidapi-user': 'ann',
      'x-rapidapi-subscription': 'BASIC',
    };
    const send = async (headers: Record<string, string>, fields: Record<string, string>): Promise<Response> =>
      await fetch(`${limited.url}/v1/overlay`, {
        method: 'POST',
        headers: { ...gateway, ...headers },
        body: form(fields),
      });
    expect(await problemOf(await send(ASYNC, CANVAS))).toMatchObject({ status: 403, code: 'async_not_allowed' });
    expect(await problemOf(await send({}, { ...CANVAS, async: 'true' }))).toMatchObject({ code: 'async_not_allowed' });
    const link = await send({}, { ...CANVAS, deliver: 'url' });
    expect([link.status, link.headers.get('x-rapidapi-billing')]).toEqual([200, 'Credits=1']);
  });
});

describe('a running server', () => {
  let server: RunningServer;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'storybar-clip-'));
    const plans = path.join(folder, 'plans.json');
    const plan = { name: 'small', monthlyPriceCents: 0, credits: 100, requestsPerMinute: 600, concurrentRenders: 1 };
    const limits = { videoSeconds: 1, asyncVideoSeconds: 20 };
    writeFileSync(plans, JSON.stringify({ plans: [{ ...plan, limits }] }));
    server = await startServer({ STORYBAR_PLANS: plans, STORYBAR_FETCH_ALLOW: '127.0.0.1' });
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  const get = async (id: string, query = ''): Promise<Record<string, unknown>> => {
    const response = await fetch(`${server.url}/v1/renders/${id}${query}`, { headers: { 'x-api-key': server.key } });
    return (await response.json()) as Record<string, unknown>;
  };

  it('renders a video asynchronously that is too long for a request that waits', async () => {
    const clip = readFileSync(plainClip(path.join(folder, 'clip.mp4'), { frames: 60, timeBase: { num: 1, den: 10 } }));
    const waiting = await post(server, form({ asset: clip, text: 'Hello' }));
    expect(await problemOf(waiting)).toMatchObject({ status: 413, code: 'asset_too_long' });
    const accepted = await post(server, form({ asset: clip, text: 'Hello' }), { headers: ASYNC });
    const { id } = (await accepted.json()) as { id: string };
    const render = await get(id, '?wait=60');
    expect(render).toMatchObject({ status: 'succeeded', source_type: 'video', credits: 2 });
    expect(render['output']).toMatchObject({ content_type: 'video/mp4', width: 96, height: 64 });
    expect((render['output'] as { duration: number }).duration).toBeCloseTo(6, 0);
  });

  it('cancels a render while its file is fetched, stops the transfer and charges nothing', async () => {
    const opened: ServerResponse[] = [];
    const slow = createServer((_request, response) => {
      response.write('half of a file');
      opened.push(response);
    });
    await new Promise<void>((resolve) => void slow.listen(0, '127.0.0.1', resolve));
    const asset_url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/slow.jpg`;
    const accepted = await post(server, form({ asset_url, text: 'Hello' }), { headers: ASYNC });
    const { id } = (await accepted.json()) as { id: string };
    const transfer = await until(() => opened[0]);
    expect(await get(id)).toMatchObject({ status: 'rendering' });
    const headers = { 'x-api-key': server.key };
    const canceled = await fetch(`${server.url}/v1/renders/${id}`, { method: 'DELETE', headers });
    expect([canceled.status, await canceled.json()]).toMatchObject([200, { status: 'canceled', credits: 0 }]);
    await until(() => transfer.destroyed);
    expect((await fetch(`${server.url}/v1/renders/${id}`, { method: 'DELETE', headers })).status).toBe(204);
    slow.close();
  });
});

it('refuses asynchronous requests and links when they are off', async () => {
  const off = await startServer({ STORYBAR_ASYNC: 'off' });
  const disabled = { status: 400, code: 'async_disabled' };
  expect(await problemOf(await post(off, form(CANVAS), { headers: ASYNC }))).toMatchObject(disabled);
  expect(await problemOf(await post(off, form({ ...CANVAS, async: 'true' })))).toMatchObject(disabled);
  expect(await problemOf(await post(off, form({ ...CANVAS, deliver: 'url' })))).toMatchObject(disabled);
  expect((await post(off, form(CANVAS))).status).toBe(200);
  await off.stop();
});

// A server whose storage is a bucket: results through its own links, and a storage service that becomes unavailable and
// comes back.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noisyJpeg } from '../pictures.ts';
import { type RunningS3, startS3rver } from '../running-s3.ts';
import { form, post, problemOf, type RunningServer, startServer, until } from '../running-server.ts';

interface Render {
  readonly id: string;
  readonly status: string;
  readonly credits: number;
  readonly output: { readonly url: string; readonly bytes: number } | null;
}

const ASYNC = { headers: { prefer: 'respond-async' } };
const CANVAS = { text: 'Hello', width: '320', height: '240' };

let s3: RunningS3;
let server: RunningServer;
let photo: Buffer;
beforeAll(async () => {
  [s3, photo] = await Promise.all([startS3rver(), noisyJpeg(400, 300)]);
  server = await startServer(s3.env);
});
afterAll(async () => {
  await server.stop();
  await s3.stop();
});

async function accepted(fields: Parameters<typeof form>[0]): Promise<Render> {
  const response = await post(server, form(fields), ASYNC);
  expect(response.status).toBe(202);
  return (await response.json()) as Render;
}

async function ended(id: string): Promise<Render> {
  return await until(async () => {
    const headers = { 'x-api-key': server.key };
    const render = (await (await fetch(`${server.url}/v1/renders/${id}?wait=30`, { headers })).json()) as Render;
    return ['succeeded', 'failed', 'canceled'].includes(render.status) && render;
  });
}

async function usedCredits(): Promise<{ used: number; reserved: number }> {
  const usage = await fetch(`${server.url}/v1/usage`, { headers: { 'x-api-key': server.key } });
  const { credits } = (await usage.json()) as { credits: { used: number; reserved: number } };
  return { used: credits.used, reserved: credits.reserved };
}

describe('a server with a bucket as its storage', () => {
  it('a server with a bucket as its storage serves results from the bucket through its own links, with ranges and HEAD', async () => {
    const done = await ended((await accepted({ asset: photo, text: 'Hello' })).id);
    expect(done).toMatchObject({ status: 'succeeded', credits: 1 });
    const url = done.output?.url ?? '';
    expect(new URL(url).origin).toBe(server.url);
    const whole = Buffer.from(await (await fetch(url)).arrayBuffer());
    const waiting = await post(server, form({ asset: photo, text: 'Hello' }));
    expect(whole.equals(Buffer.from(await waiting.arrayBuffer()))).toBe(true);
    const part = await fetch(url, { headers: { range: 'bytes=100-199' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 100-199/${whole.length}`]);
    expect(Buffer.from(await part.arrayBuffer()).equals(whole.subarray(100, 200))).toBe(true);
    const head = await fetch(url, { method: 'HEAD', headers: { range: 'bytes=-5' } });
    expect([head.status, head.headers.get('content-length')]).toEqual([206, '5']);
    const beyond = await fetch(url, { headers: { range: `bytes=${whole.length}-` } });
    expect(await problemOf(beyond)).toMatchObject({ status: 416, code: 'range_not_satisfiable' });
  });

  it('a server with a bucket as its storage deletes the object of a deleted render, so that its link no longer works', async () => {
    const done = await ended((await accepted(CANVAS)).id);
    const headers = { 'x-api-key': server.key };
    const deleted = await fetch(`${server.url}/v1/renders/${done.id}`, { method: 'DELETE', headers });
    expect(deleted.status).toBe(204);
    expect((await fetch(done.output?.url ?? '')).status).toBe(404);
  });

  it('a server with a bucket as its storage returns 503 with retry-after while the storage service is unavailable, and loses and charges nothing twice', async () => {
    const earlier = await ended((await accepted(CANVAS)).id);
    const before = await usedCredits();
    await s3.kill();
    const link = await fetch(earlier.output?.url ?? '', { headers: { range: 'bytes=0-9' } });
    expect(link.headers.get('content-range')).toBeNull();
    const upload = await post(server, form({ asset: photo, text: 'Hello' }), ASYNC);
    const linked = await post(server, form({ ...CANVAS, deliver: 'url' }));
    for (const refused of [link, upload, linked]) {
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await problemOf(refused)).toMatchObject({ status: 503, code: 'storage_unavailable' });
    }
    // Without an asset, a render can be accepted. Its result waits for the service.
    const { id } = await accepted(CANVAS);
    await until(() => server.output().stderr.includes('asynchronous render postponed'));
    expect((await post(server, form(CANVAS))).status).toBe(200);
    await s3.restart();
    expect(await ended(id)).toMatchObject({ status: 'succeeded', credits: 1 });
    // Two renders are charged: the one that waited, and the one of the request that needed no storage.
    await until(async () => (await usedCredits()).reserved === 0);
    expect(await usedCredits()).toEqual({ used: before.used + 2, reserved: 0 });
    expect((await fetch(earlier.output?.url ?? '')).status).toBe(200);
  });
});

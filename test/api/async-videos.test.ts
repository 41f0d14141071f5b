// Asynchronous renders of videos of very different lengths.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { form, post, type RunningServer, startServer, until } from '../running-server.ts';
import { plainClip } from '../video/plain-clip.ts';

let server: RunningServer;
let directory: string;
beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'storybar-lengths-'));
  // One worker for videos of any length, and the one that is left to short ones.
  server = await startServer({ STORYBAR_VIDEO_WORKERS: '1' });
});
afterAll(async () => {
  await server.stop();
  rmSync(directory, { recursive: true });
});

interface ShownRender {
  readonly status: string;
  readonly started_at: string | null;
}

async function accept(clip: Buffer): Promise<string> {
  const response = await post(server, form({ asset: clip, text: 'Hello' }), { headers: { prefer: 'respond-async' } });
  expect(response.status).toBe(202);
  return ((await response.json()) as { id: string }).id;
}

async function show(id: string, query = ''): Promise<ShownRender> {
  const response = await fetch(`${server.url}/v1/renders/${id}${query}`, { headers: { 'x-api-key': server.key } });
  return (await response.json()) as ShownRender;
}

describe('a short clip that is sent asynchronously', () => {
  it('a short asynchronous clip is rendered next to long ones, and waiting renders say that they wait', async () => {
    const long = readFileSync(
      plainClip(path.join(directory, 'long.mp4'), { frames: 1_200, width: 1_280, height: 720, isStill: true }),
    );
    const short = readFileSync(plainClip(path.join(directory, 'short.mp4'), { frames: 10 }));
    const first = await accept(long);
    await until(async () => (await show(first)).status === 'rendering');
    const second = await accept(long);
    const clip = await accept(short);
    expect(await show(clip, '?wait=60')).toMatchObject({ status: 'succeeded' });
    expect(await show(second)).toMatchObject({ status: 'queued', started_at: null });
    expect((await show(first)).status).toBe('rendering');
    for (const id of [first, second]) {
      const headers = { 'x-api-key': server.key };
      expect((await fetch(`${server.url}/v1/renders/${id}`, { method: 'DELETE', headers })).status).toBe(200);
    }
  });
});

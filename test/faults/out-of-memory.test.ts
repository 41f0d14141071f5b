// A worker for which the kernel refuses to allocate what a good file needs, before the server notices that the worker grows.

import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainPng } from '../pictures.ts';
import { form, health, post, problemOf, type RunningServer, startServer, until } from '../running-server.ts';
import { scrape } from '../scrape.ts';

const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;
const KILOBYTE = 1024;
const MEGABYTE = 1024 ** 2;
/** Enough for a small image. A WebP of 36 megapixels with alpha needs more than twice as much. */
const LEFT_BYTES = 256 * MEGABYTE;

describe.skipIf(!hasPrlimit)('a worker with too little memory for a good file', () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer({ STORYBAR_WORKERS: '1', STORYBAR_VIDEO_WORKERS: '1', STORYBAR_SANDBOX: 'off' });
    await until(() => health(server).then(({ renderer }) => renderer.images.ready === 1));
  });
  afterAll(async () => await server.stop());

  function limitWorkers(): void {
    for (const pid of server.workerPids()) {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      const used = Number(/^VmData:\s+(?<kilobytes>\d+)/mu.exec(status)?.groups?.['kilobytes']) * KILOBYTE;
      execFileSync('prlimit', [`--pid=${pid}`, `--data=${used + LEFT_BYTES}`]);
    }
  }

  it("gets 503 out_of_memory, which isn't a fault of the file, and the next render has a new worker", async () => {
    const transparent = { width: 6_000, height: 6_000, channels: 4, background: '#ff00007f' } as const;
    const large = await sharp({ create: transparent }).webp({ effort: 0 }).toBuffer();
    limitWorkers();
    const damaged = await post(server, form({ asset: (await plainPng(64, 64, '#123')).subarray(0, 50), text: 'a' }));
    expect(await problemOf(damaged)).toMatchObject({ status: 422, code: 'asset_undecodable' });
    const [before] = server.workerPids();
    const refused = await post(server, form({ asset: large, text: 'a' }));
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(await problemOf(refused)).toMatchObject({ status: 503, code: 'out_of_memory' });
    const next = await post(server, form({ asset: await plainPng(64, 64, '#123'), text: 'a' }));
    expect([next.status, (await next.arrayBuffer()).byteLength]).toEqual([200, expect.any(Number)]);
    expect(server.workerPids()).not.toContain(before);
    const counted = 'storybar_requests_total{type="image",outcome="out_of_memory"}';
    await until(async () => (await scrape(server.url)).get(counted) === 1);
  });
});

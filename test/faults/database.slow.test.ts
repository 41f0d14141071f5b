// The database becomes unavailable while a server runs, and comes back. These tests take longer than those in
// database.test.ts.

import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { noisyJpeg } from '../pictures.ts';
import { createDatabase, createPostgres, NO_POSTGRES } from '../postgres-server.ts';
import { health, form, post, problemOf, startServer, until } from '../running-server.ts';
import { startStallingProxy } from '../stalling-proxy.ts';
import { heldIn, usedIn } from './credits-in.ts';

const database = await createPostgres(true);
afterAll(async () => await database?.remove());

describe.skipIf(!database)(`a server whose database is unavailable${database ? '' : `: ${NO_POSTGRES}`}`, () => {
  it('a server whose database is unavailable returns 503 in time when the database stops responding, and settles what it delivered', async () => {
    const place = await createDatabase(database?.url ?? '');
    const line = await startStallingProxy(Number(new URL(place).port));
    const throughLine = new URL(place);
    throughLine.port = String(line.port);
    const server = await startServer({ STORYBAR_DATABASE_URL: throughLine.href, STORYBAR_WORKERS: '1' });
    // Far longer than a response may take, so that a request without a response fails the test.
    const ask = async (): Promise<Response> =>
      await post(server, form({ width: '64', height: '64', text: 'Hello' }), { signal: AbortSignal.timeout(60_000) });
    expect((await ask()).status).toBe(200);
    const rendering = post(server, form({ asset: await noisyJpeg(6000, 4000), text: 'Hello' }));
    // The credits are reserved and the render is in progress.
    await until(() => health(server).then(({ renderer }) => renderer.images.busy > 0));
    await until(async () => (await heldIn(place)) === 1);

    line.cut();
    const refused = await Promise.all(Array.from({ length: 15 }, ask));
    for (const response of refused) {
      expect(response.headers.get('retry-after')).toBe('2');
      expect(await problemOf(response)).toMatchObject({ status: 503, code: 'storage_unavailable' });
    }
    expect((await fetch(`${server.url}/ready`)).status).toBe(200);
    expect(await health(server)).toMatchObject({ status: 'ok' });
    const delivered = await rendering;
    const { byteLength } = await delivered.arrayBuffer();
    expect([delivered.status, byteLength]).toEqual([200, Number(delivered.headers.get('content-length'))]);

    line.heal();
    const again = await until(async () => {
      const response = await ask();
      await response.arrayBuffer();
      return response.status === 200 && response;
    });
    expect(again.headers.get('x-credits-charged')).toBe('1');
    expect(await usedIn(place)).toBe(3);
    await server.stop();
    await line.stop();
  });

  it('a server whose database is unavailable frees the idempotency key of a render that failed meanwhile, within seconds', async () => {
    const place = await createDatabase(database?.url ?? '');
    const server = await startServer({ STORYBAR_DATABASE_URL: place, STORYBAR_WORKERS: '1' });
    const photo = await noisyJpeg(6000, 4000);
    const headers = { 'idempotency-key': randomUUID() };
    const ask = async (signal?: AbortSignal): Promise<Response> =>
      await post(server, form({ asset: photo, text: 'Hello' }), { headers, ...(signal && { signal }) });
    const client = new AbortController();
    const first = ask(client.signal).catch(() => undefined);
    await until(async () => (await heldIn(place)) === 1);

    await database?.stop('SIGQUIT');
    client.abort();
    await first;
    await until(() => health(server).then(({ renderer }) => renderer.images.busy === 0));

    await database?.start();
    const again = await until(async () => {
      const response = await ask();
      await response.arrayBuffer();
      return response.status === 200 && response;
    });
    expect(again.headers.get('idempotency-replayed')).toBeNull();
    expect(await usedIn(place)).toBe(1);
    await server.stop();
  });
});

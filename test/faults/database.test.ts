// The database becomes unavailable while a server runs, and comes back.

import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { readSettings } from '../../src/config/settings.ts';
import { serve } from '../../src/main/serve.ts';
import { createStore } from '../../src/store/sql-store.ts';
import { noisyJpeg } from '../pictures.ts';
import { createDatabase, createPostgres, NO_POSTGRES } from '../postgres-server.ts';
import { health, form, post, problemOf, startServer, until } from '../running-server.ts';
import { startStallingProxy } from '../stalling-proxy.ts';
import { openAt } from '../store/databases.ts';

const database = await createPostgres(true);
afterAll(async () => await database?.remove());

describe.skipIf(!database)(`a server whose database is unavailable${database ? '' : `: ${NO_POSTGRES}`}`, () => {
  it('returns 503, stays alive and charges exactly what it delivered', { timeout: 180_000 }, async () => {
    const place = await createDatabase(database?.url ?? '');
    const server = await startServer({ STORYBAR_DATABASE_URL: place });
    const ask = async (): Promise<Response> => await post(server, form({ width: '64', height: '64', text: 'Hello' }));
    const first = await ask();
    expect(first.status).toBe(200);
    await first.arrayBuffer();

    await database?.stop('SIGQUIT');
    const refused = await Promise.all(Array.from({ length: 5 }, ask));
    for (const response of refused) {
      expect(response.headers.get('retry-after')).toBe('2');
      expect(await problemOf(response)).toMatchObject({ status: 503, code: 'storage_unavailable' });
    }
    expect(await health(server)).toMatchObject({ status: 'ok' });

    await database?.start();
    const again = await until(async () => {
      const response = await ask();
      await response.arrayBuffer();
      return response.status === 200 && response;
    });
    expect(again.headers.get('x-credits-charged')).toBe('1');
    expect(await usedIn(place)).toBe(2);
    await server.stop();
  });

  it('returns 503 in time when the database stops responding, and settles what it delivered', {
    timeout: 240_000,
  }, async () => {
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
    }, 60_000);
    expect(again.headers.get('x-credits-charged')).toBe('1');
    expect(await usedIn(place)).toBe(3);
    await server.stop();
    await line.stop();
  });

  it('frees the idempotency key of a render that failed meanwhile, within seconds', { timeout: 180_000 }, async () => {
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

describe.skipIf(!database)(`a server that fails to start on PostgreSQL${database ? '' : `: ${NO_POSTGRES}`}`, () => {
  it('names the plan that accounts have and the plans file lacks', async () => {
    const url = await createDatabase(database?.url ?? '');
    const engine = await openAt(url);
    const { accounts } = createStore(engine);
    await accounts.create({ id: 'a', name: 'Ann' }, 'cli:test');
    await accounts.subscribe('a', 'gold', 'now', 'cli:test');
    await engine.close();
    await expect(serve(readSettings({ STORYBAR_DATABASE_URL: url }))).rejects.toThrow('the plan "gold" is missing');
  });
});

/** The credits used by the only account, once none are held. */
async function usedIn(place: string): Promise<number> {
  return await withBalance(place, async (balance) => {
    const settled = await until(async () => {
      const now = await balance();
      return now.reserved === 0 && now;
    }, 60_000);
    return settled.used;
  });
}

async function heldIn(place: string): Promise<number> {
  return await withBalance(place, async (balance) => (await balance()).reserved);
}

async function withBalance(
  place: string,
  read: (balance: () => Promise<{ readonly used: number; readonly reserved: number }>) => Promise<number>,
): Promise<number> {
  const engine = await openAt(place);
  try {
    const { accounts, ledger } = createStore(engine);
    const [account] = await accounts.list();
    if (account?.subscription === undefined) throw new Error('there is no account with a subscription');
    const { id, subscription } = account;
    return await read(async () => await ledger.balance(id, subscription.period, 0));
  } finally {
    await engine.close();
  }
}

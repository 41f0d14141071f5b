// Several servers on one database or one data directory, and a database that becomes unavailable.

import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { plansFile } from '../plans-file.ts';
import { createPostgres, NO_POSTGRES, type PostgresServer } from '../postgres-server.ts';
import { type RunningDatabase, serverDatabase } from '../running-database.ts';
import { form, post, problemOf, type RunningServer, startServer, until } from '../running-server.ts';
import { scrape } from '../scrape.ts';

const OVERLAY = { text: 'Hello', width: '64', height: '64' };
const postgresUrl = inject('postgresUrl');
if (postgresUrl === '') console.warn(`skipped: ${NO_POSTGRES}`);

async function newKey(server: RunningServer, plan: string): Promise<{ id: string; key: string; account: string }> {
  return JSON.parse(await server.cli('keys', 'create', '--plan', plan, '--json')) as {
    id: string;
    key: string;
    account: string;
  };
}

describe.skipIf(postgresUrl === '')('two servers on one PostgreSQL', () => {
  let database: RunningDatabase;
  let first: RunningServer;
  let second: RunningServer;
  beforeAll(async () => {
    database = await serverDatabase(postgresUrl);
    const plans = plansFile({ hundred: { credits: 100 }, slow: { requestsPerMinute: 20 }, wide: {} });
    const env = { ...database.env, STORYBAR_PLANS: plans, STORYBAR_WORKERS: '1', STORYBAR_QUEUE: '1000' };
    // They start together on an empty database, so both create the schema.
    [first, second] = await Promise.all([startServer(env), startServer(env)]);
  });
  afterAll(async () => {
    await Promise.all([first.stop(), second.stop()]);
    await database.remove();
  });
  const ask = async (key: string, index: number, headers: Record<string, string> = {}): Promise<Response> =>
    await post({ url: index % 2 === 0 ? first.url : second.url, key }, form(OVERLAY), { headers });

  it('two servers on one PostgreSQL never exceed the credits of a plan together', async () => {
    const { key, account } = await newKey(first, 'hundred');
    const responses = await Promise.all(Array.from({ length: 300 }, async (_, index) => await ask(key, index)));
    const delivered = responses.filter(({ status }) => status === 200).length;
    expect(delivered).toBeLessThanOrEqual(100);
    const sums = `select used, reserved from periods where account_id = '${account}'`;
    await until(async () => (await database.read(sums))[0]?.['reserved'] === 0);
    expect(await database.read(sums)).toEqual([{ used: delivered, reserved: 0 }]);
    // Credits that were held and released are available again.
    for (let left = 100 - delivered; left > 0; left -= 1) expect((await ask(key, left)).status).toBe(200);
    expect(await problemOf(await ask(key, 1))).toMatchObject({ code: 'quota_exceeded' });
  });

  it('share the requests per minute of a plan', async () => {
    const { key } = await newKey(first, 'slow');
    const began = Date.now();
    let allowed = 0;
    while ((await ask(key, allowed)).status === 200) allowed += 1;
    expect(allowed).toBeGreaterThanOrEqual(20);
    // The bucket refills by one every three seconds. Two buckets would allow 40.
    expect(allowed).toBeLessThanOrEqual(21 + (Date.now() - began) / 3_000);
  });

  it('both refuse a revoked key within a second', async () => {
    const { id, key } = await newKey(second, 'wide');
    expect([(await ask(key, 0)).status, (await ask(key, 1)).status]).toEqual([200, 200]);
    await first.cli('keys', 'revoke', id);
    expect([(await ask(key, 0)).status, (await ask(key, 1)).status]).toEqual([401, 401]);
  });

  it('two servers on one PostgreSQL render and charge once for one idempotency key', async () => {
    const { key } = await newKey(first, 'wide');
    const headers = { 'idempotency-key': randomUUID() };
    const responses: Response[] = [];
    for (let index = 0; index < 4; index += 1) {
      const response = await ask(key, index, headers);
      // The other server sees the delivery once it is settled, shortly after its last byte.
      if (response.status === 409) index -= 1;
      else responses.push(response);
    }
    expect(responses.map((response) => response.headers.get('x-credits-charged'))).toEqual(['1', '0', '0', '0']);
    expect(new Set(responses.map((response) => response.headers.get('x-render-id'))).size).toBe(1);
    const bodies = await Promise.all(responses.map(async (response) => Buffer.from(await response.arrayBuffer())));
    expect(bodies.every((body) => body.equals(bodies[0] ?? Buffer.of()))).toBe(true);
  });
});

describe('two servers with one data directory', () => {
  it('a server renders again, free of charge, what another one has evicted from the replay cache', async () => {
    const first = await startServer({ STORYBAR_WORKERS: '1' });
    const second = await startServer({ STORYBAR_WORKERS: '1', STORYBAR_DATA_DIR: first.dataDirectory });
    const headers = { 'idempotency-key': randomUUID() };
    const ask = async (url: string): Promise<Response> =>
      await post({ url, key: first.key }, form(OVERLAY), { headers });
    const original = await ask(first.url);
    const bytes = await original.arrayBuffer();
    const renderId = original.headers.get('x-render-id') ?? '';
    // The other server replays it, and evicts it as the oldest file.
    const replayed = await until(async () => {
      const response = await ask(second.url);
      return response.status === 200 && response;
    });
    expect(await replayed.arrayBuffer()).toEqual(bytes);
    rmSync(path.join(first.dataDirectory, 'replays', renderId));
    const again = await ask(first.url);
    expect([again.status, again.headers.get('x-credits-charged')]).toEqual([200, '0']);
    expect([again.headers.get('idempotency-replayed'), again.headers.get('x-render-id')]).toEqual(['true', renderId]);
    expect(await again.arrayBuffer()).toEqual(bytes);
    await second.stop();
    await first.stop();
  });
});

describe.skipIf(postgresUrl === '')('a server whose PostgreSQL stops', () => {
  let postgres: PostgresServer | undefined;
  let server: RunningServer;
  beforeAll(async () => {
    postgres = await createPostgres();
    const url = postgres?.url ?? '';
    server = await startServer({ STORYBAR_DATABASE_URL: url, STORYBAR_DATABASE_POOL: '4' });
  });
  afterAll(async () => {
    await server.stop();
    await postgres?.remove();
  });

  it('a server whose PostgreSQL stops returns 503 with retry-after, counts errors, and works again when PostgreSQL is back', async () => {
    expect((await post(server, form(OVERLAY))).status).toBe(200);
    // A background job may be waiting for a connection right now.
    const before = await until(async () => {
      const samples = await scrape(server.url);
      const idle = samples.get('storybar_store_connections{state="idle"}') ?? 0;
      return idle > 0 && samples.get('storybar_store_waiting') === 0 && samples;
    });
    expect(before.get('storybar_store_errors_total')).toBe(0);
    await postgres?.stop('SIGQUIT');
    const refused = await post(server, form(OVERLAY));
    expect(await problemOf(refused)).toMatchObject({ status: 503, code: 'storage_unavailable' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await scrape(server.url)).get('storybar_store_errors_total')).toBeGreaterThan(0);
    expect((await fetch(`${server.url}/ready`)).status).toBe(200);
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
    await postgres?.start();
    const refusals: string[] = [];
    const back = await until(async () => {
      const response = await post(server, form(OVERLAY));
      if (response.status === 200) return response;
      refusals.push(await response.text());
      // Requests are sent slowly, because each counts toward the plan's rate limit.
      await sleep(500);
      return undefined;
    }, 60_000).catch((error: unknown) => {
      throw new Error(`still refused after the restart: ${refusals.at(-1)}`, { cause: error });
    });
    expect(back.headers.get('x-credits-charged')).toBe('1');
    expect((await fetch(`${server.url}/ready`)).status).toBe(200);
  });
});

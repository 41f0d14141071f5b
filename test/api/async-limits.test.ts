// Refusals: asynchronous requests beyond the limits of a plan, through a marketplace, or when results are disabled. And
// races: requests about stored renders when something else happens between their steps. Those have stubs for the store
// and the storage, because a real server can't be stopped at the right moment.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_PLANS } from '../../src/service/account/plans.ts';
import { AppError } from '../../src/shared/errors.ts';
import { createKeyRoutes, type KeyRouteDependencies } from '../../src/service/http/key-routes.ts';
import { batchRoutes } from '../../src/service/http/renders/batch-routes.ts';
import { type ResultOfRequest, StoredResults } from '../../src/service/renders/stored-results.ts';
import { OutcomeUnknown } from '../../src/service/store/engine.ts';
import type { RenderRecord } from '../../src/service/store/renders/render.ts';
import { noisyJpeg } from '../pictures.ts';
import { form, post, problemOf, type RunningServer, startServer, until } from '../running-server.ts';
import { plainClip } from '../video/plain-clip.ts';

const ASYNC = { prefer: 'respond-async' };
const CANVAS = { text: 'Hello', width: '320', height: '240' };

let server: RunningServer;
let directory: string;
beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'storybar-plans-'));
  const plans = path.join(directory, 'plans.json');
  const plan = { name: 'small', monthlyPriceCents: 0, credits: 100, requestsPerMinute: 600, concurrentRenders: 1 };
  const limits = { queuedRenders: 2, storedBytes: 200_000, videoSeconds: 1, asyncVideoSeconds: 20 };
  writeFileSync(plans, JSON.stringify({ plans: [{ ...plan, limits }] }));
  server = await startServer({
    STORYBAR_PLANS: plans,
    STORYBAR_MARKETPLACE_SECRETS: 'secret-of-the-gateway',
    STORYBAR_FETCH_ALLOW: '127.0.0.1',
  });
});
afterAll(async () => {
  await server.stop();
  rmSync(directory, { recursive: true });
});

describe('a server with limits', () => {
  it('a server with limits refuses more queued renders and more stored bytes than the plan allows, with 429', async () => {
    const large = await noisyJpeg(1_000, 1_000);
    expect(large.length).toBeGreaterThan(200_000);
    const tooLarge = await post(server, form({ asset: large, text: 'a' }), { headers: ASYNC });
    expect(await problemOf(tooLarge)).toMatchObject({ status: 429, code: 'stored_bytes_exceeded', limit: 200_000 });
    const requests = Array.from({ length: 3 }, () => ({ text: 'a', width: 64, height: 64 }));
    const tooMany = await fetch(`${server.url}/v1/batches`, {
      method: 'POST',
      headers: { 'x-api-key': server.key, 'content-type': 'application/json' },
      body: JSON.stringify({ requests }),
    });
    expect(await problemOf(tooMany)).toMatchObject({ status: 429, code: 'too_many_queued', limit: 2, actual: 3 });
    expect(readdirSync(path.join(server.dataDirectory, 'objects', 'assets'))).toEqual([]);
  });

  it('a server with limits refuses a link to a result that is larger than the free storage, keeps no file and charges nothing', async () => {
    const large = await noisyJpeg(1_000, 1_000);
    const response = await post(server, form({ asset: large, text: 'a', deliver: 'url' }));
    expect(await problemOf(response)).toMatchObject({ status: 429, code: 'stored_bytes_exceeded', limit: 200_000 });
    const objects = readdirSync(path.join(server.dataDirectory, 'objects'), { recursive: true }).map(String);
    expect(objects.filter((name) => name.startsWith('outputs/'))).toEqual([]);
    const usage = await fetch(`${server.url}/v1/usage`, { headers: { 'x-api-key': server.key } });
    expect(await usage.json()).toMatchObject({ credits: { used: 0, reserved: 0 } });
  });

  it('a server with limits fails an asynchronous render whose result is larger than the free storage, free of charge', async () => {
    const headers = { 'x-api-key': server.key };
    const large = await noisyJpeg(1_000, 1_000);
    const origin = createServer((_request, response) => void response.end(large));
    await new Promise<void>((resolve) => void origin.listen(0, '127.0.0.1', resolve));
    const asset_url = `http://127.0.0.1:${(origin.address() as AddressInfo).port}/large.jpg`;
    const accepted = await post(server, form({ asset_url, text: 'a' }), { headers: ASYNC });
    const { id } = (await accepted.json()) as { id: string };
    const render = await fetch(`${server.url}/v1/renders/${id}?wait=60`, { headers });
    const error = { status: 429, code: 'stored_bytes_exceeded', limit: 200_000 };
    expect(await render.json()).toMatchObject({ status: 'failed', credits: 0, output: null, error });
    const usage = await fetch(`${server.url}/v1/usage`, { headers });
    expect(await usage.json()).toMatchObject({ credits: { used: 0, reserved: 0 } });
    origin.close();
  });

  it('a server with limits refuses asynchronous requests through a marketplace, but not links', async () => {
    const gateway = {
      'x-rapidapi-proxy-secret': 'secret-of-the-gateway',
      'x-rapidapi-user': 'ann',
      'x-rapidapi-subscription': 'BASIC',
    };
    const send = async (headers: Record<string, string>, fields: Record<string, string>): Promise<Response> =>
      await fetch(`${server.url}/v1/overlay`, {
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
  const get = async (id: string, query = ''): Promise<Record<string, unknown>> => {
    const response = await fetch(`${server.url}/v1/renders/${id}${query}`, { headers: { 'x-api-key': server.key } });
    return (await response.json()) as Record<string, unknown>;
  };

  it('renders a video asynchronously that is too long for a request that waits', async () => {
    const clip = readFileSync(
      plainClip(path.join(directory, 'clip.mp4'), { frames: 60, timeBase: { num: 1, den: 10 } }),
    );
    const waiting = await post(server, form({ asset: clip, text: 'Hello' }));
    expect(await problemOf(waiting)).toMatchObject({ status: 413, code: 'asset_too_long' });
    const accepted = await post(server, form({ asset: clip, text: 'Hello' }), { headers: ASYNC });
    const { id } = (await accepted.json()) as { id: string };
    const render = await get(id, '?wait=60');
    expect(render).toMatchObject({ status: 'succeeded', source_type: 'video', credits: 2 });
    expect(render['output']).toMatchObject({ content_type: 'video/mp4', width: 96, height: 64 });
    expect((render['output'] as { duration: number }).duration).toBeCloseTo(6, 0);
  });

  it('a running server cancels a render while its file is fetched, stops the transfer and charges nothing', async () => {
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
    // The render has no worker yet.
    expect(await get(id)).toMatchObject({ status: 'queued' });
    const headers = { 'x-api-key': server.key };
    const canceled = await fetch(`${server.url}/v1/renders/${id}`, { method: 'DELETE', headers });
    expect([canceled.status, await canceled.json()]).toMatchObject([200, { status: 'canceled', credits: 0 }]);
    await until(() => transfer.destroyed);
    expect((await fetch(`${server.url}/v1/renders/${id}`, { method: 'DELETE', headers })).status).toBe(204);
    slow.close();
  });
});

const CALLER = {
  accountId: 'a',
  keyId: undefined,
  mode: 'live',
  plan: DEFAULT_PLANS.lowest,
  subscription: { period: { startsAt: new Date(0), endsAt: new Date(1) }, renews: true },
};

describe('DELETE of a batch', () => {
  const record = (id: string, isOpen: boolean): RenderRecord =>
    ({
      id,
      accountId: 'a',
      mode: 'live',
      batchId: 'b',
      createdAt: new Date(0),
      progress: 0,
      ...(isOpen ? { status: 'queued' } : { status: 'succeeded', finishedAt: new Date(1), credits: 1 }),
    }) as unknown as RenderRecord;

  /** `onCancel` may change the rows before a render is canceled. */
  async function deleteBatch(rows: Map<string, RenderRecord>, onCancel: (id: string) => void) {
    const renders = {
      list: async () => await Promise.resolve([...rows.values()]),
      find: async (_scope: object, id: string) => await Promise.resolve(rows.get(id)),
      cancel: async (_scope: object, id: string) => {
        onCancel(id);
        const row = rows.get(id);
        if (row !== undefined && row.finishedAt === undefined) {
          rows.set(id, { ...row, status: 'canceled', finishedAt: new Date(1) });
        }
        return await Promise.resolve(rows.get(id));
      },
      remove: async (_scope: object, id: string) => {
        rows.delete(id);
        await Promise.resolve();
      },
    };
    const app = Fastify();
    batchRoutes({
      renders,
      runner: { cancel: () => undefined },
      links: { baseUrlFor: () => 'http://localhost' },
      keyRoutes: createKeyRoutes({
        authenticator: { authenticate: () => CALLER },
        marketplace: { isClaimed: () => false },
        admission: { countFreeRequest: () => undefined },
      } as unknown as KeyRouteDependencies),
    } as unknown as Parameters<typeof batchRoutes>[0]).register(app);
    const response = await app.inject({ method: 'DELETE', url: '/v1/batches/b' });
    await app.close();
    return response;
  }

  it('keeps the result of a render that succeeds while the others are canceled', async () => {
    const rows = new Map(['1', '2', '3'].map((id) => [id, record(id, id !== '1')]));
    const response = await deleteBatch(rows, (id) => {
      if (id === '2') for (const paid of ['2', '3']) rows.set(paid, record(paid, false));
    });
    expect(response.statusCode).toBe(200);
    expect([...rows.values()].map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  });

  it('succeeds when another request deletes one of its renders at the same time', async () => {
    const rows = new Map(['1', '2', '3'].map((id) => [id, record(id, true)]));
    const response = await deleteBatch(rows, (id) => void (id === '2' && rows.delete('3')));
    expect([response.statusCode, response.json()]).toMatchObject([200, { status: 'completed', canceled: 2 }]);
  });

  it('deletes all renders when none is open', async () => {
    const rows = new Map(['1', '2'].map((id) => [id, record(id, false)]));
    expect((await deleteBatch(rows, () => undefined)).statusCode).toBe(204);
    expect(rows.size).toBe(0);
  });
});

describe('a link to a finished render', () => {
  interface Trouble {
    readonly signal?: AbortSignal;
    readonly addFinished?: () => Promise<unknown>;
    readonly exceeded?: object;
  }

  async function deliver({ signal, addFinished, exceeded }: Trouble) {
    const folder = mkdtempSync(path.join(tmpdir(), 'storybar-link-'));
    const output = path.join(folder, 'output');
    writeFileSync(output, 'result');
    const objects = new Set<string>();
    const storage = {
      put: async (name: string) => await Promise.resolve(void objects.add(name)),
      delete: async (name: string) => await Promise.resolve(void objects.delete(name)),
    };
    const renders = { addFinished, storageExceeded: async () => await Promise.resolve(exceeded) };
    const options = { renders, storage, resultHours: 1, serviceBytes: 1e12 };
    const results = new StoredResults(options as unknown as ConstructorParameters<typeof StoredResults>[0]);
    const result = {
      renderId: 'r',
      caller: CALLER,
      parsed: { asset: undefined, delivery: {}, request: { delivery: {} } },
      credits: 1,
      remembered: undefined,
      finished: {
        file: output,
        bytes: 6,
        recipe: { kind: 'image' },
        asset: undefined,
        headers: {},
        durationMs: 1,
        facts: { width: 1, height: 1, warnings: [], missingGlyphs: 0 },
      },
    } as unknown as ResultOfRequest;
    const stored = results.add(result, signal ?? new AbortController().signal);
    const error: unknown = await stored.catch((thrown: unknown) => thrown);
    rmSync(folder, { recursive: true });
    return { error, objects: objects.size };
  }

  it('a link to a finished render leaves no object behind when the client disconnects', async () => {
    const { error, objects } = await deliver({ signal: AbortSignal.abort(new Error('client left')) });
    expect([error, objects]).toMatchObject([{ message: 'client left' }, 0]);
  });

  it('a link to a finished render leaves no object behind when the render could not be added', async () => {
    const down = new AppError('storage_unavailable', 'The database is down.');
    const { error, objects } = await deliver({ addFinished: async () => await Promise.reject(down) });
    expect([error, objects]).toEqual([down, 0]);
  });

  it('a link to a finished render keeps the object when it is unknown whether the render was added', async () => {
    const unknown = new OutcomeUnknown(new Error('connection lost'));
    const { error, objects } = await deliver({ addFinished: async () => await Promise.reject(unknown) });
    expect([error, objects]).toEqual([unknown, 1]);
  });

  it('a new link to a finished render is refused with 429 when the account has stored too much', async () => {
    const over = { kind: 'over limit', what: 'storedBytes', actual: 5_000_000_001 };
    const refused = await deliver({ exceeded: over });
    expect(refused).toMatchObject({ error: { code: 'stored_bytes_exceeded' }, objects: 0 });
    const late = await deliver({ addFinished: async () => await Promise.resolve(over) });
    expect(late).toMatchObject({ error: { code: 'stored_bytes_exceeded' }, objects: 0 });
  });
});

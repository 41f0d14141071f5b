// Responses about stored renders when something happens between the commit and the response: the database becomes
// unavailable, or a render ends while it is being canceled.

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fastify, { type FastifyInstance } from 'fastify';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { DEFAULT_PLANS } from '../../src/service/account/plans.ts';
import { AppError } from '../../src/shared/errors.ts';
import type { Caller } from '../../src/service/account/caller.ts';
import { FetchPolicy } from '../../src/service/fetch/fetch-policy.ts';
import { type DeliverDependencies, deliverLink, type RequestDelivery } from '../../src/service/http/overlay/deliver.ts';
import type { OverlayContext } from '../../src/service/http/overlay/overlay-context.ts';
import { parseRequest, readForm } from '../../src/service/renders/parse.ts';
import type { Upload } from '../../src/service/http/overlay/receive.ts';
import { RenderAcceptor } from '../../src/service/renders/accept.ts';
import { createKeyRoutes } from '../../src/service/http/key-routes.ts';
import { type BatchDependencies, batchRoutes } from '../../src/service/http/renders/batch-routes.ts';
import { ResultLinks } from '../../src/service/http/renders/result-links.ts';
import { sendAccepted } from '../../src/service/http/renders/render-replies.ts';
import type { PutTargets } from '../../src/service/renders/put-targets.ts';
import { StoredResults } from '../../src/service/renders/stored-results.ts';
import { renderRoutes } from '../../src/service/http/renders/render-routes.ts';
import { renderToJson } from '../../src/service/renders/render-view.ts';
import { must } from '../../src/shared/must.ts';
import { FileStorage } from '../../src/service/storage/file-storage.ts';
import type { Renders } from '../../src/service/store/renders/renders.ts';
import { NO_POSTGRES } from '../postgres-server.ts';
import { postgresDatabase, sqliteDatabase, type TestDatabase } from '../store/databases.ts';
import { renderSetup } from '../store/render-setup.ts';
import { World } from '../store/world.ts';

const url = inject('postgresUrl');
const FIELDS = { text: 'Hello', width: 64, height: 64 };
const BASE = 'https://captions.example';
const marketplace = { isClaimed: () => false, billingHeader: 'x-billing' };
const links = new ResultLinks({
  isAsync: true,
  lacksSharedStorage: false,
  publicUrl: BASE,
  host: '127.0.0.1',
  marketplace,
});

let world: World;
let folder: string;
let storage: FileStorage;
let caller: Caller;
let app: FastifyInstance;
/** Overrides of the store that the routes see. */
let changes: Partial<Renders>;

const { accepted, claimed, reserve, success } = renderSetup(() => world);

/** The database fails every query after the commit. */
const AWAY = async (): Promise<never> => {
  throw new AppError('storage_unavailable', 'The service cannot reach its database right now. Try again.');
};

async function begin(database: TestDatabase): Promise<void> {
  world = await World.begin(database);
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-commit-'));
  storage = await FileStorage.open(path.join(folder, 'objects'));
  const accountId = await world.account();
  const subscription = await world.subscription(accountId);
  caller = { accountId, keyId: undefined, mode: 'live', plan: DEFAULT_PLANS.lowest, subscription };
  changes = {};
  // Methods of the store are on its prototype, hence the proxy instead of a copy.
  const renders = new Proxy(world.store.renders, {
    get: (target, name: keyof Renders) => {
      const value = changes[name] ?? target[name];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  app = fastify({ genReqId: () => randomUUID() });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  const logger = pino({ level: 'silent' });
  const targets = {} as PutTargets;
  const acceptor = new RenderAcceptor({
    renders,
    storage,
    targets,
    logger,
    wake: () => undefined,
    serviceBytes: 1e12,
  });
  const admission = { countFreeRequest: async () => undefined, countRequest: async () => undefined };
  const dependencies = {
    renders,
    storage,
    links,
    acceptor,
    keys: world.store.keys,
    keyRoutes: createKeyRoutes({
      authenticator: { authenticate: async () => caller },
      marketplace,
      admission,
    } as never),
    runner: { cancel: () => undefined },
    styles: { resolveAll: async (_accountId: string, forms: unknown) => forms },
    speechCaptions: { assertAvailable: () => undefined },
    outputBytes: 1e9,
    fetcher: { policy: new FetchPolicy('off', []) },
    shutdown: new AbortController().signal,
  } as unknown as BatchDependencies;
  renderRoutes(dependencies).register(app);
  batchRoutes(dependencies).register(app);
  const fields = Object.entries(FIELDS).map(([name, value]) => ({ name, value }));
  const upload = { fields, isJson: true, faults: [], hasAsset: false, asset: undefined } as unknown as Upload;
  app.post('/accept', async (request, reply) => {
    const read = readForm(upload);
    const parsed = await parseRequest(read, new FetchPolicy('off', []));
    const { signal } = new AbortController();
    const asked = { renderId: request.id, caller, idempotencyKey: undefined, read, parsed, signal };
    sendAccepted(reply, { ...(await acceptor.accept(asked)), baseUrl: BASE });
    return reply;
  });
  const results = new StoredResults({ renders, storage, targets, resultHours: 24, serviceBytes: 1e12 });
  const forLinks = { results, links, marketplace, metrics: { charged: () => undefined } };
  app.post('/link', async (request, reply) => {
    await world.store.ledger.reserve(await world.hold(caller.accountId, { renderId: request.id, credits: 3 }));
    const lifetime = { signal: new AbortController().signal };
    const context = { caller, request, reply, lifetime } as unknown as OverlayContext;
    await deliverLink(forLinks as unknown as DeliverDependencies, context, await finishedRequest(request.id, upload));
    return reply;
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
}

async function finishedRequest(id: string, upload: Upload): Promise<RequestDelivery> {
  const file = path.join(folder, 'output');
  writeFileSync(file, 'rendered');
  const facts = { width: 64, height: 64, warnings: [], missingGlyphs: 0 };
  const headers = { 'content-type': 'image/png', 'content-disposition': `inline; filename="${id}.png"` };
  const finished = { file, bytes: 8, recipe: { kind: 'overlay' }, asset: undefined, facts, headers, durationMs: 5 };
  const parsed = await parseRequest(readForm(upload), new FetchPolicy('off', []));
  return {
    upload,
    parsed,
    finished,
    reservation: { credits: 3, remaining: 97, endWithResult: async () => undefined },
  } as unknown as RequestDelivery;
}

interface Shown {
  readonly id: string;
  readonly status: string;
  readonly credits: number | null;
}

async function send(method: 'POST' | 'DELETE', address: string, body?: object): Promise<[number, Shown]> {
  const response = await fetch(new URL(address, app.listeningOrigin), {
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  const text = await response.text();
  return [response.status, (text === '' ? {} : JSON.parse(text)) as Shown];
}

async function stored(id: string): Promise<object> {
  const record = await world.store.renders.find({ accountId: caller.accountId }, id);
  return renderToJson(must(record, 'the stored render'), BASE);
}

describe.each([
  ['SQLite', async (): Promise<TestDatabase> => sqliteDatabase(), false],
  [`PostgreSQL${url === '' ? `: ${NO_POSTGRES}` : ''}`, async () => await postgresDatabase(url), url === ''],
])('on %s', (_name, create, skip) => {
  beforeEach(async () => {
    if (!skip) await begin(await create());
  });
  afterEach(async () => {
    if (skip) return;
    await app.close();
    await world.database.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it.skipIf(skip)(
    'a request is accepted with the stored render, although the database then becomes unavailable',
    async () => {
      changes = { find: AWAY, list: AWAY };
      const [status, render] = await send('POST', '/accept');
      expect([status, render.status]).toEqual([202, 'queued']);
      expect(render).toEqual(await stored(render.id));
    },
  );

  it.skipIf(skip)(
    'a batch is accepted in the order of its requests, although the database then becomes unavailable',
    async () => {
      changes = { find: AWAY, list: AWAY };
      const requests = ['one', 'two', 'three'].map((text) => ({ ...FIELDS, text }));
      const [status, batch] = await send('POST', '/v1/batches', { requests });
      expect(status).toBe(202);
      const { renders } = batch as unknown as { renders: Shown[] };
      const listed = await world.store.renders.list({ accountId: caller.accountId }, { limit: 10, batchId: batch.id });
      expect(renders).toEqual(listed.map((record) => renderToJson(record, BASE)));
      expect(listed.map(({ request }) => /one|two|three/u.exec(request)?.[0])).toEqual(['one', 'two', 'three']);
    },
  );

  it.skipIf(skip)('a link is delivered with its charge, although the database then becomes unavailable', async () => {
    changes = { find: AWAY };
    const [status, render] = await send('POST', '/link');
    expect([status, render.status, render.credits]).toEqual([200, 'succeeded', 3]);
    expect(render).toEqual(await stored(render.id));
    expect(await world.balance(caller.accountId)).toEqual({ used: 3, reserved: 0 });
  });

  it.skipIf(skip)(
    'DELETE returns a render that ends at the same moment, and keeps the result that was charged',
    async () => {
      const { id } = await accepted(caller.accountId);
      const claim = await claimed();
      await reserve(claim);
      const result = JSON.stringify({
        headers: { 'content-type': 'image/png', 'content-disposition': `inline; filename="${id}.png"` },
        width: 64,
        height: 64,
        duration: null,
        warnings: [],
        missingGlyphs: 0,
      });
      const done = success(id, { result });
      writeFileSync(path.join(folder, 'output'), 'rendered');
      await storage.put(done.output.name, path.join(folder, 'output'));
      changes = {
        cancel: async (...args) => {
          await world.store.renders.succeed(claim.attempt, done);
          return await world.store.renders.cancel(...args);
        },
      };
      const [status, render] = await send('DELETE', `/v1/renders/${id}`);
      expect([status, render.status, render.credits]).toEqual([200, 'succeeded', 3]);
      expect(await storage.size(done.output.name)).toBe(8);
      expect(await world.balance(caller.accountId)).toEqual({ used: 3, reserved: 0 });
      // The client has seen that it ended, so this request deletes it.
      expect((await send('DELETE', `/v1/renders/${id}`))[0]).toBe(204);
      expect(await storage.size(done.output.name)).toBeUndefined();
    },
  );

  it.skipIf(skip)('DELETE cancels a render without a charge, and its late result is refused', async () => {
    const { id } = await accepted(caller.accountId);
    const claim = await claimed();
    await reserve(claim);
    expect(await send('DELETE', `/v1/renders/${id}`)).toMatchObject([200, { status: 'canceled', credits: 0 }]);
    expect(await world.store.renders.succeed(claim.attempt, success(id))).toBe(false);
    expect(await world.balance(caller.accountId)).toEqual({ used: 0, reserved: 0 });
  });
});

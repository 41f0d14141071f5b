// Deliveries to a `put_url` over an hour of the database's clock, with a real receiver and both databases.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { FetchPolicy } from '../../src/service/fetch/fetch-policy.ts';
import { PutSender } from '../../src/service/fetch/put-sender.ts';
import { must } from '../../src/shared/must.ts';
import { PutJob } from '../../src/service/renders/put-job.ts';
import { PutTargets } from '../../src/service/renders/put-targets.ts';
import type { WorkArea } from '../../src/engine/media/work-area.ts';
import { FileStorage } from '../../src/service/storage/file-storage.ts';
import { date } from '../../src/service/store/rows.ts';
import type { RenderRecord } from '../../src/service/store/renders/render.ts';
import type { Store } from '../../src/service/store/store.ts';
import { Metrics } from '../../src/service/telemetry/metrics.ts';
import { NO_POSTGRES } from '../postgres-server.ts';
import { type PutReceiver, startPutReceiver } from '../put-receiver.ts';
import { postgresDatabase, sqliteDatabase, type TestDatabase } from '../store/databases.ts';
import { LIMITS, renderSetup } from '../store/render-setup.ts';
import { HOUR, World } from '../store/world.ts';

const postgres = inject('postgresUrl');
const FILE = 'the finished file';
const MINUTE = 60_000;

let world: World;
let receiver: PutReceiver;
let folder: string;
let storage: FileStorage;
let metrics: Metrics;
let logged: string[];
/** A second server on the same database. */
let other: Store;
let accountId: string;

const { accepted, claimed, reserve, success, scopeOf } = renderSetup(() => world);

async function begin(database: TestDatabase): Promise<void> {
  world = await World.begin(database);
  other = await world.server('there/2/x');
  accountId = await world.account();
  receiver = await startPutReceiver();
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-put-job-'));
  storage = await FileStorage.open(path.join(folder, 'objects'));
  metrics = new Metrics('1.2.3');
  logged = [];
}

/** A rendered file that is due to be sent to this path of the receiver. Returns the id of its render. */
async function due(receiverPath: string, isAwaited = false): Promise<string> {
  const { id } = await accepted(accountId, { target: 'targets/x', receiver: receiver.url });
  const claim = await claimed();
  await reserve(claim);
  const put = { failures: 0, status: null, isAwaited, renderMs: 5, readyAt: new Date().toISOString() };
  const facts = { width: 8, height: 8, duration: null, warnings: [], missingGlyphs: 0, put };
  const result = JSON.stringify({ headers: { 'content-type': 'image/png' }, ...facts });
  const done = success(id, { result });
  const [file, target] = [path.join(folder, 'output'), path.join(folder, 'target')];
  writeFileSync(file, FILE);
  writeFileSync(target, JSON.stringify({ url: `${receiver.url}${receiverPath}`, headers: {} }));
  await storage.put(done.output.name, file);
  await storage.put('targets/x', target);
  await world.store.renders.deliveries.handOver(claim.attempt, done);
  return id;
}

/** Makes the next try, if one is due. Every try is made as if the server had just started. */
async function tryOnce(store: Store = world.store): Promise<boolean> {
  const claim = await store.renders.claim('put');
  if (claim === undefined) return false;
  const logger = pino({ level: 'info' }, { write: (line: string) => logged.push(line) });
  const targets = new PutTargets({ storage, workArea: {} as WorkArea });
  const putSender = new PutSender({ policy: new FetchPolicy('public', [], ['127.0.0.1']), userAgent: 'storybar/test' });
  const { renders } = store;
  const job = new PutJob({ renders, storage, targets, putSender, logger, metrics, publicUrl: undefined }, claim);
  const { signal } = new AbortController();
  await job.run({ signal, abort: () => undefined, write: async (write) => await write() });
  return true;
}

const find = async (id: string): Promise<RenderRecord> =>
  must(await world.store.renders.find(scopeOf(accountId), id), 'the render');

/** Lets the time pass from one try to the next, until the render has ended. Returns how long that took. */
async function passUntilEnd(id: string, server: (tries: number) => Store = () => world.store): Promise<number> {
  const start = world.clock().getTime();
  for (let tries = 0; (await find(id)).finishedAt === undefined; tries += 1) {
    const [row] = await world.engine.all('select due_at from renders where id = :id', { id });
    const pause = date(must(row, 'the render'), 'due_at').getTime() - world.clock().getTime();
    world.pass(pause - 1);
    expect(pause > 0 && (await tryOnce(server(tries)))).toBe(false);
    world.pass(1);
    expect(await tryOnce(server(tries))).toBe(true);
  }
  return world.clock().getTime() - start;
}

describe.each([
  ['SQLite', async (): Promise<TestDatabase> => sqliteDatabase(), false],
  [
    `PostgreSQL${postgres === '' ? `: ${NO_POSTGRES}` : ''}`,
    async () => await postgresDatabase(postgres),
    postgres === '',
  ],
])('files that are sent, on %s', (_name, create, skip) => {
  beforeEach(async () => {
    if (!skip) await begin(await create());
  });
  afterEach(async () => {
    if (skip) return;
    await receiver.stop();
    await world.database.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it.skipIf(skip)(
    'an asynchronous file survives a receiver that is down for most of an hour, and its own servers',
    async () => {
      const id = await due('/nine-times-503');
      expect(await tryOnce()).toBe(true);
      // It waits without a lease, and its bytes count as those of the account.
      expect(await world.engine.all('select owner from renders')).toEqual([{ owner: null }]);
      const demand = { accountId, bytes: 1 };
      expect(await world.store.renders.storageExceeded(demand, { ...LIMITS, storedBytes: 700 })).toMatchObject({
        actual: 701,
      });
      // Each try is made by the other server.
      const elapsed = await passUntilEnd(id, (tries) => (tries % 2 === 0 ? other : world.store));
      expect(elapsed).toBeGreaterThan(55 * MINUTE);
      expect(elapsed).toBeLessThanOrEqual(HOUR);
      expect(receiver.triesOf('/nine-times-503')).toBe(10);
      expect(receiver.files.get('/nine-times-503')?.toString()).toBe(FILE);
      expect(await find(id)).toMatchObject({ status: 'succeeded', credits: 3 });
      expect(await world.balance(accountId)).toEqual({ used: 3, reserved: 0 });
      expect(await world.store.renders.storageExceeded(demand, { ...LIMITS, storedBytes: 1 })).toBeUndefined();
    },
  );

  it.skipIf(skip)(
    'a receiver that stays down for an hour ends the render, which counts as a broken delivery',
    async () => {
      const id = await due('/refuse-503');
      expect(await passUntilEnd(id)).toBeLessThanOrEqual(HOUR);
      expect(receiver.triesOf('/refuse-503')).toBe(10);
      expect(await find(id)).toMatchObject({ status: 'failed', credits: 0 });
      const { period } = await world.subscription(accountId);
      expect(await world.store.ledger.deliveries(accountId, period)).toMatchObject({ brokenFree: 1 });
      expect(await storage.size(must((await find(id)).output, 'the output').name)).toBeUndefined();
    },
  );

  it.skipIf(skip)('a file that a request waits for gets three tries in a few seconds', async () => {
    const id = await due('/status-503', true);
    expect(await passUntilEnd(id)).toBe(6_000);
    expect(receiver.triesOf('/status-503')).toBe(3);
    expect(await find(id)).toMatchObject({ status: 'failed' });
  });

  it.skipIf(skip)(
    'a status that says the request is wrong ends the delivery, and 408, 425 and 429 do not',
    async () => {
      for (const status of [400, 403, 404, 409, 410, 422]) {
        const id = await due(`/refuse-${status}`);
        await tryOnce();
        expect([status, (await find(id)).status]).toEqual([status, 'failed']);
      }
      for (const status of [408, 425, 429]) {
        const id = await due(`/refuse-${status}`);
        await tryOnce();
        expect([status, (await find(id)).status]).toEqual([status, 'rendering']);
      }
    },
  );

  it.skipIf(skip)('a delivery whose hold is lost is sent once, and is an error in the log and a metric', async () => {
    const id = await due('/lost');
    await world.engine.run("update holds set state = 'released'");
    await tryOnce();
    world.pass(HOUR);
    expect(await tryOnce()).toBe(false);
    expect(receiver.triesOf('/lost')).toBe(1);
    expect(await find(id)).toMatchObject({ status: 'succeeded', credits: 0 });
    expect(await metrics.text()).toMatch(/^storybar_lost_holds_total 1$/mu);
    const errors = logged
      .map((line) => JSON.parse(line) as { level: number; msg: string })
      .filter(({ level }) => level >= 50);
    expect(errors).toMatchObject([{ msg: 'delivery ended without a charge, its hold is lost', renderId: id }]);
  });

  it.skipIf(skip)('a file that this server has lost is free, and does not count as a broken delivery', async () => {
    const id = await due('/never');
    await storage.delete('targets/x');
    await tryOnce();
    expect(await find(id)).toMatchObject({ status: 'failed', credits: 0 });
    expect(receiver.triesOf('/never')).toBe(0);
    const { period } = await world.subscription(accountId);
    expect(await world.store.ledger.deliveries(accountId, period)).toMatchObject({ brokenFree: 0 });
  });
});

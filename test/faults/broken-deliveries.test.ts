// Clients that read a part of a large result and then reset the connection, and their charges, with the real route,
// ledger, replay cache and sockets. Only the renderer is replaced, by one that creates a file as large as the test
// needs.

import { once } from 'node:events';
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fastify, { type FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { DEFAULT_PLANS } from '../../src/service/account/plans.ts';
import type { StoredResults } from '../../src/service/renders/stored-results.ts';
import { IdempotencyKeys } from '../../src/service/renders/idempotency.ts';
import { type OverlayDependencies, overlayRoute } from '../../src/service/http/overlay/overlay-route.ts';
import { ReplayCache } from '../../src/service/renders/replay-cache.ts';
import { CreditReservations } from '../../src/service/renders/reserve.ts';
import { FetchPolicy } from '../../src/service/fetch/fetch-policy.ts';
import { FileSender } from '../../src/service/http/overlay/file-sender.ts';
import { RunningRequests } from '../../src/service/http/transport/running-requests.ts';
import { WorkArea } from '../../src/engine/media/work-area.ts';
import { SqliteEngine } from '../../src/service/store/sqlite-engine.ts';
import { createStore, type Store } from '../../src/service/store/store.ts';
import type { RenderSummary } from '../../src/service/store/ledger/usage.ts';
import { createLogger } from '../../src/service/telemetry/logger.ts';
import { Metrics } from '../../src/service/telemetry/metrics.ts';
import { until } from '../running-server.ts';

/** A client that reads nothing gets less than half of this into socket buffers. It takes no space on disk. */
const RESULT_BYTES = 100_000_000;
const ACCOUNT = 'account';

let folder: string;
let engine: SqliteEngine;
let store: Store;
let app: FastifyInstance;
/** The server's end of the latest connection. */
let connection: Socket;
let metrics: Metrics;
let maxSeconds: number;
let isMarketplace: boolean;

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-broken-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

let servers = 0;
async function start(): Promise<void> {
  servers += 1;
  const data = path.join(folder, String(servers));
  const workArea = await WorkArea.open(path.join(data, 'work'));
  const logger = createLogger('silent', '1.2.3');
  engine = new SqliteEngine(path.join(data, 'storybar.db'));
  store = createStore(engine);
  await store.accounts.create({ id: ACCOUNT, name: 'Ann' }, 'system');
  const subscription = await store.accounts.subscribe(ACCOUNT, 'pro', 'now', 'system');
  const plan = DEFAULT_PLANS.get('pro');
  const caller = { accountId: ACCOUNT, keyId: undefined, mode: 'live', subscription, plan };
  const replayCache = await ReplayCache.open(path.join(data, 'replays'), 10 * RESULT_BYTES);
  metrics = new Metrics('1.2.3');
  const dependencies = {
    authenticator: { authenticate: async () => caller },
    marketplace: { isClaimed: () => isMarketplace, billingHeader: 'x-billing' },
    admission: { countRequest: async () => undefined, enter: async () => () => undefined },
    refusals: { add: () => undefined },
    renderer: {
      open: () => ({ choose: () => undefined, render: renderHugeFile, close: () => undefined }),
    },
    failedDecodes: { count: async () => undefined },
    uploads: {
      maxSeconds: 60,
      reserve: async () => ({ grow: () => undefined, addResult: () => undefined, release: () => undefined }),
    },
    idempotency: new IdempotencyKeys({ store: store.idempotency, replayCache, results: {} as StoredResults, logger }),
    reservations: new CreditReservations(store.ledger, logger),
    sender: new FileSender(new AbortController().signal, maxSeconds),
    links: { isAsyncAvailable: () => true },
    styles: { resolve: async (_accountId: string, form: unknown) => form },
    logos: { load: async () => undefined },
    speechCaptions: { assertAvailable: () => undefined },
    outputBytes: 1e9,
    fetcher: { policy: new FetchPolicy('off', []) },
    logger,
    metrics,
    workArea,
    running: new RunningRequests(),
    deadlineMs: { image: 600_000, video: 600_000 },
    shutdown: new AbortController().signal,
  };
  app = fastify();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.setErrorHandler((_error, _request, reply) => {
    reply.hijack();
    reply.raw.destroy();
  });
  app.post('/', overlayRoute(dependencies as unknown as OverlayDependencies));
  app.server.on('connection', (socket: Socket) => (connection = socket));
  await app.listen({ port: 0, host: '127.0.0.1' });
}

async function renderHugeFile({ output }: { readonly output: string }): Promise<unknown> {
  const descriptor = openSync(output, 'w');
  ftruncateSync(descriptor, RESULT_BYTES);
  closeSync(descriptor);
  return { width: 16, height: 16, bars: [], missingGlyphs: 0, warnings: [], timings: {} };
}

beforeEach(async () => {
  maxSeconds = 3_600;
  isMarketplace = false;
  await start();
});
afterEach(async () => {
  await app.close();
  await store.close();
});

const BODY = ['text=Hello', 'width=16', 'height=16']
  .map((field) => field.split('='))
  .map(([name, value]) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
  .concat('--b--\r\n')
  .join('');

/**
 * Requests a render, reads until this share of the result was sent and resets the connection. Returns how the render
 * ended. The bytes that the client has read say little, because the kernel may hold many megabytes that were sent.
 */
async function readAndReset(share: number, idempotencyKey?: string): Promise<RenderSummary | undefined> {
  const before = await endedRenders();
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  const key = idempotencyKey === undefined ? '' : `idempotency-key: ${idempotencyKey}\r\n`;
  const type = 'content-type: multipart/form-data; boundary=b\r\n';
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\n${type}${key}content-length: ${BODY.length}\r\n\r\n${BODY}`);
  do await once(socket, 'data');
  while (connection.bytesWritten - connection.writableLength < RESULT_BYTES * share);
  socket.resetAndDestroy();
  const [latest] = await until(async () => {
    const ended = await endedRenders();
    return ended.length > before.length && ended;
  });
  return latest;
}

async function endedRenders(): Promise<RenderSummary[]> {
  const renders = await store.usage.latest(ACCOUNT, 100);
  return renders.filter(({ state }) => state !== 'reserved');
}

async function used(): Promise<number> {
  const { period } = must(await store.accounts.find(ACCOUNT)).subscription ?? { period: undefined };
  return (await store.ledger.balance(ACCOUNT, must(period), 100)).used;
}

function must<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('a value is missing');
  return value;
}

/** Sets the broken deliveries of the account in this period. The period exists after its first render. */
async function setBrokenDeliveries(count: number): Promise<void> {
  await engine.run('update periods set broken_free = :count', { count });
}

/** Repeats a request and reads the whole response. */
async function repeat(idempotencyKey: string): Promise<Response> {
  const response = await fetch(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}/`, {
    method: 'POST',
    headers: { 'idempotency-key': idempotencyKey, 'content-type': 'multipart/form-data; boundary=b' },
    body: BODY,
  });
  expect(response.status).toBe(200);
  expect((await response.arrayBuffer()).byteLength).toBe(RESULT_BYTES);
  return response;
}

it('the server charges every broken delivery once the allowance is used up, however little was sent, and none before', async () => {
  expect(await readAndReset(0.97)).toMatchObject({ state: 'released', outcome: 'delivery_broken' });
  await setBrokenDeliveries(18);
  for (const share of [0.1, 0.97]) {
    expect(await readAndReset(share)).toMatchObject({ state: 'released', outcome: 'delivery_broken' });
  }
  expect(await used()).toBe(0);
  for (const share of [0.94, 0.5, 0.1, 0]) {
    expect(await readAndReset(share)).toMatchObject({ state: 'settled', outcome: 'aborted', credits: 1 });
  }
  expect(await used()).toBe(4);
  const text = await metrics.text();
  expect(text).toContain('storybar_broken_deliveries_total{charged="true"} 4');
  expect(text).toContain('storybar_broken_deliveries_total{charged="false"} 3');
  expect(text).toContain('storybar_credits_charged_total 4');
});

it.each([
  ['an account', false],
  ['a marketplace account', true],
])(
  'sends the result of a charged broken delivery again, free of charge, to %s with the same idempotency key',
  async (_name, isThroughMarketplace) => {
    isMarketplace = isThroughMarketplace;
    await readAndReset(0.5);
    await setBrokenDeliveries(20);
    expect(await readAndReset(0.3, 'k')).toMatchObject({ state: 'settled', outcome: 'aborted', credits: 1 });
    for (let count = 0; count < 2; count += 1) {
      const { headers } = await repeat('k');
      expect([headers.get('idempotency-replayed'), headers.get('x-billing')]).toEqual([
        'true',
        isThroughMarketplace ? 'Credits=0' : null,
      ]);
    }
    expect(await used()).toBe(1);
  },
);

it('the server charges once for a broken delivery that was free and is repeated with its idempotency key', async () => {
  expect(await readAndReset(0.3, 'k')).toMatchObject({ state: 'released', outcome: 'delivery_broken' });
  expect(await used()).toBe(0);
  for (const replayed of [null, 'true']) {
    expect((await repeat('k')).headers.get('idempotency-replayed')).toBe(replayed);
    await until(async () => (await used()) === 1);
  }
  expect(await endedRenders()).toHaveLength(2);
});

it('the server closes the connection of a client that stops reading, and releases its credits', async () => {
  await app.close();
  await store.close();
  maxSeconds = 1;
  await start();
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  const closed = once(socket, 'close');
  socket.on('error', () => undefined);
  const head = `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=b\r\n`;
  socket.write(`${head}content-length: ${BODY.length}\r\n\r\n${BODY}`);
  await once(socket, 'data');
  socket.pause();
  const [ended] = await until(async () => {
    const renders = await endedRenders();
    return renders.length > 0 && renders;
  });
  expect(ended).toMatchObject({ state: 'released', outcome: 'delivery_broken' });
  expect(await used()).toBe(0);
  socket.resume();
  await closed;
});

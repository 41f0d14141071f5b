// Requests with an idempotency key, on a real store and replay cache.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migratedSqlite } from '../../../test/store/databases.ts';
import { DELIVERED, World } from '../../../test/store/world.ts';
import type { Caller } from '../account/caller.ts';
import { AppError } from '../../shared/errors.ts';
import type { RenderRecord } from '../store/renders/render.ts';
import type { Logger } from '../telemetry/logger.ts';
import { IdempotencyKeys, type IdempotentRequest, type KeyedRequest } from './idempotency.ts';
import { ReplayCache } from './replay-cache.ts';
import type { StoredResults } from './stored-results.ts';

const HEADERS = { 'content-type': 'image/png', 'x-render-id': 'first' };
const READ = { values: { text: 'a' }, asset: undefined };

let folder: string;
let world: World;
let accountId: string;
let cache: ReplayCache;
let keys: IdempotencyKeys;
let stored: Partial<RenderRecord> | undefined;
let logged: object[];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'storybar-idempotency-'));
  world = await World.begin(await migratedSqlite());
  accountId = await world.account();
  cache = await ReplayCache.open(path.join(folder, 'cache'), 1_000);
  logged = [];
  stored = undefined;
  keys = keysWith({});
});

afterEach(async () => {
  await world.database.remove();
  await rm(folder, { recursive: true, force: true });
});

function keysWith(changes: Partial<ConstructorParameters<typeof IdempotencyKeys>[0]>): IdempotencyKeys {
  const logger = { warn: (facts: object) => logged.push(facts) } as unknown as Logger;
  const results = {
    find: async () => stored,
    restore: async (_render: unknown, file: string) => await writeFile(file, 'stored'),
  } as unknown as StoredResults;
  return new IdempotencyKeys({ store: world.store.idempotency, replayCache: cache, results, logger, ...changes });
}

function request(
  renderId: string,
  changes: Partial<KeyedRequest> & { readonly mode?: 'live' | 'test' } = {},
): KeyedRequest {
  const directory = path.join(folder, renderId);
  return {
    key: 'k',
    caller: { accountId, mode: changes.mode ?? 'live' } as Caller,
    read: READ,
    renderId,
    directory: {
      make: async () => void (await mkdir(directory, { recursive: true })),
      file: (name: string) => path.join(directory, name),
    } as KeyedRequest['directory'],
    signal: new AbortController().signal,
    ...changes,
  };
}

async function fileOf(text: string): Promise<string> {
  const file = path.join(folder, `file-${text}`);
  await writeFile(file, text);
  return file;
}

/** Delivers the first request, and charges it. */
async function deliver(first: IdempotentRequest, renderId: string, sha256?: string): Promise<void> {
  await world.store.ledger.reserve(await world.hold(accountId, { renderId }));
  await first.keep(await fileOf('bytes'));
  await world.store.ledger.settle(renderId, DELIVERED, first.remember(HEADERS, sha256));
}

const codeOf = async (claim: Promise<unknown>): Promise<unknown> =>
  await claim.then(
    () => undefined,
    (error: unknown) => (error as AppError).code,
  );

describe('a request without a key', () => {
  it('a request without a key is always the first one, and leaves nothing behind', async () => {
    const first = await keys.claim(request('first', { key: undefined }));
    expect(first.replay).toBeUndefined();
    expect(first.remember(HEADERS, undefined)).toBeUndefined();
    expect(first.rememberRefusal(new AppError('cannot_fit', 'too large'))).toBeUndefined();
    await first.keep('/does/not/exist');
    first.startDelivery()();
    await first.abandon();
    expect((await keys.claim(request('second', { key: undefined }))).replay).toBeUndefined();
    expect(logged).toEqual([]);
    expect(await world.engine.all('select key from idempotency')).toEqual([]);
  });
});

describe('a repeated request', () => {
  it('a repeated request is refused while the first one runs', async () => {
    await keys.claim(request('first'));
    expect(await codeOf(keys.claim(request('second')))).toBe('idempotency_in_flight');
  });

  it('a different request with the same key is refused', async () => {
    await keys.claim(request('first'));
    const read = { ...READ, values: { text: 'b' } };
    expect(await codeOf(keys.claim(request('second', { read })))).toBe('idempotency_mismatch');
  });

  it('a test key and a live key never share an idempotency key', async () => {
    await keys.claim(request('first'));
    expect((await keys.claim(request('second', { mode: 'test' }))).replay).toBeUndefined();
  });

  it('a repeated request gets the file and the headers of the first one', async () => {
    await deliver(await keys.claim(request('first')), 'first', 'hash');
    const again = await keys.claim(request('second'));
    expect(again.refusal).toBeUndefined();
    expect(again.replay).toMatchObject({ renderId: 'first', headers: HEADERS, sha256: 'hash' });
    expect(again.replay?.headers).toEqual(HEADERS);
    const file = await again.replay?.restore();
    expect(file).toBe(path.join(folder, 'second', 'replay'));
    expect(await readFile(file ?? '', 'utf8')).toBe('bytes');
    expect(again.remember(HEADERS, undefined)).toBeUndefined();
  });

  it('a repeated request renders again when the file is gone, and keeps it for the next one', async () => {
    await deliver(await keys.claim(request('first')), 'first');
    await rm(path.join(folder, 'cache', 'first'));
    const again = await keys.claim(request('second'));
    expect(again.replay).not.toHaveProperty('sha256');
    expect(await again.replay?.restore()).toBeUndefined();
    await again.keep(await fileOf('rendered again'));
    const file = await (await keys.claim(request('third'))).replay?.restore();
    expect(await readFile(file ?? '', 'utf8')).toBe('rendered again');
  });

  it('a refusal that was charged is repeated, and is free', async () => {
    const first = await keys.claim(request('first'));
    await world.store.ledger.reserve(await world.hold(accountId, { renderId: 'first' }));
    const refusal = new AppError('cannot_fit', 'too large', { limit: { limit: 1, actual: 2 } });
    await world.store.ledger.settle('first', DELIVERED, first.rememberRefusal(refusal));
    const again = await keys.claim(request('second'));
    expect(again.refusal).toMatchObject({ code: 'cannot_fit', limit: { limit: 1, actual: 2 } });
    expect(again.replay).toBeUndefined();
  });

  it('a request that failed leaves its key to the next one', async () => {
    const first = await keys.claim(request('first'));
    await first.abandon();
    expect((await keys.claim(request('second'))).replay).toBeUndefined();
  });
});

describe('a repeated request right after the last byte', () => {
  it('a repeated request waits for the charge of the first one', async () => {
    let isCharged = false;
    const claims = [{ kind: 'new' }];
    const done = { kind: 'done', renderId: 'first', facts: JSON.stringify(HEADERS) };
    const claim = async () => claims.shift() ?? (isCharged ? done : { kind: 'in flight' });
    keys = keysWith({ store: { claim } as unknown as typeof world.store.idempotency });
    const end = (await keys.claim(request('first'))).startDelivery();
    const again = keys.claim(request('second'));
    await setImmediate();
    isCharged = true;
    end();
    expect((await again).replay).toMatchObject({ renderId: 'first' });
  });

  it('a request with another key does not wait', async () => {
    const first = await keys.claim(request('first'));
    first.startDelivery();
    expect((await keys.claim(request('second', { key: 'other' }))).replay).toBeUndefined();
    const other = { accountId: await world.account(), mode: 'live' } as Caller;
    expect((await keys.claim(request('third', { caller: other }))).replay).toBeUndefined();
  });

  it('a repeated request is refused when the delivery takes longer, and when it has failed', async () => {
    const first = await keys.claim(request('first'));
    const end = first.startDelivery();
    expect(await codeOf(keys.claim(request('second')))).toBe('idempotency_in_flight');
    end();
    expect(await codeOf(keys.claim(request('third')))).toBe('idempotency_in_flight');
  });
});

describe('a repeated request after an asynchronous one', () => {
  const storedStore = (claims: readonly object[]) => {
    const waiting = [...claims];
    return { claim: async () => waiting.shift() } as unknown as typeof world.store.idempotency;
  };
  const CLAIMED = { kind: 'stored', renderId: 'first' };
  const RESULT = { headers: HEADERS, width: 1, height: 1, duration: null, warnings: [], missingGlyphs: 0 };

  it('a repeated request waits for the render, and gets its file', async () => {
    stored = { result: JSON.stringify(RESULT) };
    keys = keysWith({ store: storedStore([{ kind: 'rendering' }, CLAIMED]) });
    const again = await keys.claim(request('second'));
    expect(again.replay).toMatchObject({ renderId: 'first', headers: HEADERS });
    const file = await again.replay?.restore();
    expect(await readFile(file ?? '', 'utf8')).toBe('stored');
  });

  it('a repeated request gets the refusal of a render that was charged', async () => {
    stored = { error: JSON.stringify({ code: 'cannot_fit', detail: 'too large' }) };
    keys = keysWith({ store: storedStore([CLAIMED]) });
    const again = await keys.claim(request('second'));
    expect(again.refusal).toMatchObject({ code: 'cannot_fit' });
    expect(again.replay).toBeUndefined();
  });

  it('a repeated request stops waiting when its client leaves', async () => {
    keys = keysWith({ store: storedStore([{ kind: 'rendering' }]) });
    const signal = AbortSignal.abort(new AppError('client_closed', 'left'));
    expect(await codeOf(keys.claim(request('second', { signal })))).toBe('client_closed');
  });
});

describe('failures beside the request', () => {
  it('a file that cannot be kept does not fail the delivery, and is logged', async () => {
    const first = await keys.claim(request('first'));
    await first.keep(path.join(folder, 'missing'));
    expect(logged).toMatchObject([{ renderId: 'first', err: { code: 'ENOENT' } }]);
  });

  it('a key that cannot be freed does not hide the error of the request, and is logged', async () => {
    const { idempotency } = world.store;
    const store = {
      claim: idempotency.claim.bind(idempotency),
      abandon: async () => {
        throw new Error('the disk is full');
      },
    } as unknown as typeof idempotency;
    const first = await keysWith({ store }).claim(request('first'));
    await first.abandon();
    expect(logged).toMatchObject([{ renderId: 'first', accountId, err: { message: 'the disk is full' } }]);
  });
});

// The sweep's deletions, with a real database, a real bucket, a clock that moves and two servers.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deleteExpiredObjects, deleteOldRecords, type RetentionOptions } from '../../src/service/renders/retention.ts';
import type { ObjectStorage } from '../../src/service/storage/object-storage.ts';
import { createLogger } from '../../src/service/telemetry/logger.ts';
import { FileStorage } from '../../src/service/storage/file-storage.ts';
import { S3Storage } from '../../src/service/storage/s3/s3-storage.ts';
import { type RunningS3, startS3rver } from '../running-s3.ts';
import { sqliteDatabase } from '../store/databases.ts';
import { LIMITS, renderSetup } from '../store/render-setup.ts';
import { DAY, HOUR, World } from '../store/world.ts';

let world: World;
let folder: string;
let service: RunningS3;
const { accepted, claimed, reserve, success } = renderSetup(() => world);
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-retention-'));
  writeFileSync(path.join(folder, 'file'), 'bytes');
  service = await startS3rver();
});
beforeEach(async () => {
  world = await World.begin(sqliteDatabase());
  return async () => await world.database.remove();
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

const optionsWith = (storage: ObjectStorage): RetentionOptions => ({
  renders: world.store.renders,
  brandFiles: world.store.brandFiles,
  storage,
  logger: createLogger('silent', 'test'),
});

/** Returns a storage that refuses to delete objects whose names contain `part`. */
function refusing(storage: ObjectStorage, part: string): RetentionOptions['storage'] & { readonly tried: string[] } {
  const tried: string[] = [];
  return {
    tried,
    list: (kind) => storage.list(kind),
    delete: async (name) => {
      tried.push(name);
      if (name.includes(part)) throw new Error(`${name} can't be deleted`);
      await storage.delete(name);
    },
  };
}

async function names(storage: ObjectStorage): Promise<string[]> {
  const found: string[] = [];
  for (const kind of ['assets', 'outputs', 'brand']) for await (const { name } of storage.list(kind)) found.push(name);
  return found.toSorted();
}

/** A render with an asset that has succeeded, with both objects still in storage. */
async function finished(storage: ObjectStorage): Promise<{ accountId: string; asset: string; output: string }> {
  const accountId = await world.account();
  const id = randomUUID();
  const asset = `assets/${id}`;
  await storage.put(asset, path.join(folder, 'file'));
  await accepted(accountId, { id, asset: { name: asset, format: 'jpeg', bytes: 5, sha256: undefined } });
  const claim = await claimed();
  await reserve(claim);
  const result = success(id);
  await storage.put(result.output.name, path.join(folder, 'file'));
  expect(await world.store.renders.succeed(claim.attempt, result)).toBe(true);
  return { accountId, asset, output: result.output.name };
}

describe.each([
  ['files', async () => await FileStorage.open(path.join(folder, randomUUID()))],
  ['a bucket', async () => new S3Storage({ ...service.options, prefix: `${randomUUID()}/` })],
] as const)('the sweep of %s', (_kind, openStorage) => {
  let storage: ObjectStorage;
  beforeEach(async () => {
    storage = await openStorage();
  });

  it('a sweep deletes the asset of an ended render at once, and the result when its time is over, on two servers at a time', async () => {
    const { accountId, output } = await finished(storage);
    const other = await world.server('there/1/b');
    const sweep = async (): Promise<unknown> =>
      await Promise.all([
        deleteExpiredObjects(optionsWith(storage)),
        deleteExpiredObjects({ ...optionsWith(storage), renders: other.renders }),
      ]);
    const demand = { accountId, mode: 'live', renders: 0, bytes: LIMITS.storedBytes } as const;
    await sweep();
    expect(await names(storage)).toEqual([output]);
    world.pass(DAY - HOUR);
    await sweep();
    expect(await names(storage)).toEqual([output]);
    expect(await other.renders.storageExceeded(demand, LIMITS)).toMatchObject({ what: 'storedBytes' });
    world.pass(2 * HOUR);
    await sweep();
    expect(await names(storage)).toEqual([]);
    // The bytes no longer count for the account.
    expect(await other.renders.storageExceeded(demand, LIMITS)).toBeUndefined();
  });

  it('a sweep keeps everything while the storage is unavailable, and deletes it later', async () => {
    const { output } = await finished(storage);
    world.pass(2 * DAY);
    const away = new S3Storage({ ...service.options, endpoint: 'http://127.0.0.1:9' });
    await expect(deleteExpiredObjects(optionsWith(away))).rejects.toMatchObject({
      code: 'storage_unavailable',
    });
    expect(await names(storage)).toContain(output);
    expect(await deleteExpiredObjects(optionsWith(storage))).toBe(2);
    expect(await names(storage)).toEqual([]);
  });

  it('a sweep deletes the others when one object cannot be deleted, and reports it', async () => {
    const kept = await finished(storage);
    await finished(storage);
    world.pass(2 * DAY);
    const warned: unknown[] = [];
    const logger = { warn: (entry: unknown) => void warned.push(entry) };
    const options = { ...optionsWith(storage), storage: refusing(storage, kept.asset), logger };
    expect(await deleteExpiredObjects(options)).toBe(3);
    expect(await names(storage)).toEqual([kept.asset]);
    expect(warned).toMatchObject([{ object: kept.asset, renderId: kept.asset.slice('assets/'.length) }]);
    // The next time, it is the only one left.
    await expect(deleteExpiredObjects(options)).rejects.toThrow("can't be deleted");
    expect(await deleteExpiredObjects(optionsWith(storage))).toBe(1);
  });

  it('a sweep deletes the other orphans when one cannot be deleted', async () => {
    const orphans = ['assets/a', 'assets/b', 'outputs/c.1'];
    for (const name of orphans) await storage.put(name, path.join(folder, 'file'));
    const options = { ...optionsWith(storage), storage: refusing(storage, 'assets/a') };
    await deleteOldRecords(options, new Date(Date.now() + 2 * DAY));
    expect(await names(storage)).toEqual(['assets/a']);
  });

  it('a sweep deletes the file of a deleted logo after an hour, and a file without a row after a day', async () => {
    const accountId = await world.account();
    const { brandFiles } = world.store;
    for (const id of ['logo_kept', 'logo_deleted']) {
      await storage.put(`brand/${id}`, path.join(folder, 'file'));
      const file = { id, kind: 'logo', bytes: 5, sha256: 'a', facts: '{}' } as const;
      expect(await brandFiles.add(accountId, file, { ...LIMITS, files: 9 }, 'cli:x')).toMatchObject({ kind: 'added' });
    }
    // The server was killed before it could add the row.
    await storage.put('brand/logo_orphan', path.join(folder, 'file'));
    await brandFiles.remove(accountId, 'logo', 'logo_deleted', 'cli:x');
    world.pass(HOUR / 2);
    expect(await deleteExpiredObjects(optionsWith(storage))).toBe(0);
    world.pass(HOUR);
    expect(await deleteExpiredObjects(optionsWith(storage))).toBe(1);
    expect(await names(storage)).toEqual(['brand/logo_kept', 'brand/logo_orphan']);
    await deleteOldRecords(optionsWith(storage), new Date(Date.now() + DAY - HOUR));
    expect(await names(storage)).toHaveLength(2);
    await deleteOldRecords(optionsWith(storage), new Date(Date.now() + DAY + HOUR));
    expect(await names(storage)).toEqual(['brand/logo_kept']);
    // The files of a deleted account lose their rows first.
    await world.store.accountData.erase(accountId, 'cli:x');
    world.pass(HOUR);
    await world.store.accountData.purge((_id, error) => {
      throw error;
    });
    await deleteOldRecords(optionsWith(storage), new Date(Date.now() + DAY + HOUR));
    expect(await names(storage)).toEqual([]);
  });

  it('a sweep deletes objects that no render needs after a day, but not those of a render that is being accepted', async () => {
    const { asset, output } = await finished(storage);
    const waiting = randomUUID();
    await accepted(await world.account(), {
      id: waiting,
      asset: { name: `assets/${waiting}`, format: 'jpeg', bytes: 5, sha256: undefined },
    });
    for (const name of [`assets/${waiting}`, `assets/${randomUUID()}`, `${output}0`]) {
      await storage.put(name, path.join(folder, 'file'));
    }
    // The time of an object comes from the storage.
    await deleteOldRecords(optionsWith(storage), new Date(Date.now() + DAY - HOUR));
    expect(await names(storage)).toHaveLength(5);
    await deleteOldRecords(optionsWith(storage), new Date(Date.now() + DAY + HOUR));
    expect(await names(storage)).toEqual([`assets/${waiting}`, asset, output].toSorted());
  });
});

it('a sweep deletes all other expired objects when more than a page of them cannot be deleted, and stops when a whole page fails', async () => {
  const expired = Array.from({ length: 250 }, (_, index) => `outputs/${index % 2 === 0 ? 'kept' : 'gone'}-${index}`);
  const left = new Set(expired);
  const renders: RetentionOptions['renders'] = {
    orphans: async () => [],
    deleteBefore: async () => 0,
    expiredObjects: async (count) =>
      [...left].slice(0, count).map((name) => ({ renderId: name, kind: 'output' as const, name })),
    markDeleted: async ({ name }) => void left.delete(name),
  };
  const storage = refusing(await FileStorage.open(path.join(folder, 'empty')), 'kept');
  const options = { renders, brandFiles: world.store.brandFiles, storage, logger: createLogger('silent', 'test') };
  expect(await deleteExpiredObjects(options)).toBe(125);
  expect(storage.tried).toEqual(expired);
  storage.tried.length = 0;
  await expect(deleteExpiredObjects(options)).rejects.toThrow("can't be deleted");
  expect(storage.tried).toHaveLength(100);
});

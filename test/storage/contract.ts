// The tests that every storage must pass.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { must } from '../../src/shared/must.ts';
import type { ObjectRange, ObjectStorage } from '../../src/service/storage/object-storage.ts';

const BYTES = Buffer.from(Array.from({ length: 700_000 }, (_, index) => (index * 7 + (index >> 8)) % 256));

export function storageContract(create: (folder: string) => Promise<ObjectStorage>): void {
  let folder: string;
  let storage: ObjectStorage;
  let file: string;
  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'storybar-storage-'));
    storage = await create(path.join(folder, 'objects'));
    file = path.join(folder, 'file');
    writeFileSync(file, BYTES);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function bytesOf(name: string, range?: ObjectRange): Promise<Buffer> {
    return await buffer(must(await storage.get(name, range), 'the object').body);
  }

  async function names(): Promise<string[]> {
    const found: string[] = [];
    for await (const { name } of storage.list('outputs')) found.push(name);
    return found.toSorted();
  }

  it('returns the bytes that were put, as a whole and in ranges', async () => {
    await storage.put('outputs/one', file);
    rmSync(file);
    expect(await storage.size('outputs/one')).toBe(BYTES.length);
    expect((await bytesOf('outputs/one')).equals(BYTES)).toBe(true);
    for (const [start, end] of [
      [0, 1],
      [1, 299_999],
      [BYTES.length - 1, BYTES.length - 1],
    ] as const) {
      expect((await bytesOf('outputs/one', { start, end })).equals(BYTES.subarray(start, end + 1))).toBe(true);
    }
  });

  it('replaces an object that is put again, also with the same file', async () => {
    await storage.put('outputs/one', file);
    await storage.put('outputs/one', file);
    rmSync(file);
    writeFileSync(file, 'second');
    await storage.put('outputs/one', file);
    expect((await bytesOf('outputs/one')).toString()).toBe('second');
    expect(await names()).toEqual(['outputs/one']);
  });

  it('copies an object to a local file that outlives it', async () => {
    await storage.put('assets/one', file);
    const copy = path.join(folder, 'copy');
    const { signal } = new AbortController();
    expect(await storage.copyTo('assets/one', copy, signal)).toBe(true);
    await storage.delete('assets/one');
    expect(readFileSync(copy).equals(BYTES)).toBe(true);
    expect(await storage.copyTo('assets/one', path.join(folder, 'again'), signal)).toBe(false);
  });

  it('knows nothing of an object that was deleted or never put', async () => {
    await storage.put('outputs/one', file);
    await storage.delete('outputs/one');
    await storage.delete('outputs/one');
    expect(await storage.get('outputs/one')).toBeUndefined();
    expect(await storage.size('outputs/other')).toBeUndefined();
    expect(await names()).toEqual([]);
  });

  it('lists the objects of one folder with the time of their last change', async () => {
    await storage.put('outputs/one', file);
    await storage.put('outputs/two', file);
    await storage.put('assets/three', file);
    expect(await names()).toEqual(['outputs/one', 'outputs/two']);
    for await (const { modifiedAt } of storage.list('outputs')) {
      expect(Math.abs(Date.now() - modifiedAt.getTime())).toBeLessThan(3_600_000);
    }
  });

  it.each(['../secret', 'outputs/../../secret', 'outputs', '/etc/passwd', 'outputs/a/b'])(
    'refuses %s as the name of an object',
    async (name) => {
      await expect(storage.get(name)).rejects.toThrow("isn't the name of a stored object");
      await expect(storage.put(name, file)).rejects.toThrow("isn't the name of a stored object");
    },
  );
}

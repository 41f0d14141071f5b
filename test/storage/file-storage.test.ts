import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { FileStorage } from '../../src/service/storage/file-storage.ts';
import { storageContract } from './contract.ts';

describe('file storage', () => {
  storageContract(async (folder) => await FileStorage.open(folder));

  it('reports a file that cannot be stored as a temporary error and leaves no temporary file', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'storybar-storage-'));
    const storage = await FileStorage.open(folder);
    await expect(storage.put('outputs/one', path.join(folder, 'missing'))).rejects.toMatchObject({
      code: 'storage_unavailable',
    });
    expect(readdirSync(path.join(folder, 'outputs'))).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  it('removes temporary files of a crash when it lists a folder, and keeps those of a running put', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'storybar-storage-'));
    const storage = await FileStorage.open(folder);
    const source = path.join(folder, 'source');
    writeFileSync(source, 'bytes');
    await storage.put('outputs/one', source);
    for (const name of ['old.tmp', 'new.tmp']) writeFileSync(path.join(folder, 'outputs', name), 'half');
    utimesSync(path.join(folder, 'outputs', 'old.tmp'), 0, 0);
    const listed: string[] = [];
    for await (const { name } of storage.list('outputs')) listed.push(name);
    expect(listed).toEqual(['outputs/one']);
    expect(readdirSync(path.join(folder, 'outputs')).toSorted()).toEqual(['new.tmp', 'one']);
    rmSync(folder, { recursive: true });
  });
});

// Logos and fonts in a real database and a real storage: limits, damage, and crashes at every step.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/service/account/caller.ts';
import { DEFAULT_PLANS } from '../../src/service/account/plans.ts';
import { SavedFiles, type SavedFilesOptions } from '../../src/service/brand/saved-files.ts';
import { FileStorage } from '../../src/service/storage/file-storage.ts';
import { OutcomeUnknown } from '../../src/service/store/engine.ts';
import type { BrandFiles } from '../../src/service/store/brand/brand-files.ts';
import { sqliteDatabase } from '../store/databases.ts';
import { World } from '../store/world.ts';

let world: World;
let folder: string;
let storage: FileStorage;
let caller: Caller;
const { signal } = new AbortController();
const plan = DEFAULT_PLANS.get('pro');

beforeEach(async () => {
  world = await World.begin(sqliteDatabase());
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-saved-files-'));
  writeFileSync(path.join(folder, 'logo.png'), 'the bytes');
  storage = await FileStorage.open(path.join(folder, 'objects'));
  const accountId = await world.account('pro');
  const subscription = await world.subscription(accountId);
  caller = { accountId, keyId: 'k', mode: 'live', plan, subscription } as unknown as Caller;
});
afterEach(async () => {
  await world.database.remove();
  rmSync(folder, { recursive: true, force: true });
});

const savedFiles = (changes: Partial<SavedFilesOptions> = {}): SavedFiles =>
  new SavedFiles({ files: world.store.brandFiles, storage, serviceBytes: 1e12, lacksSharedStorage: false, ...changes });
const logo = (): Parameters<SavedFiles['add']>[1] => ({
  kind: 'logo',
  path: path.join(folder, 'logo.png'),
  bytes: 9,
  facts: { width: 2 },
});

async function objects(): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of storage.list('brand')) names.push(name);
  return names;
}

describe('the files of a brand', () => {
  it('a file is stored, found, read and deleted', async () => {
    const files = savedFiles();
    const added = await files.add(caller, logo(), 'cli:x', signal);
    expect(added.id).toMatch(/^logo_[0-9a-f]{32}$/u);
    expect(await files.list(caller.accountId, 'logo')).toEqual([added]);
    expect((await files.read(added)).toString()).toBe('the bytes');
    await files.remove(caller.accountId, 'logo', added.id, 'cli:x');
    await expect(files.find(caller.accountId, 'logo', added.id)).rejects.toMatchObject({ code: 'logo_not_found' });
    const kept = await files.findForRender(caller.accountId, 'logo', added.id);
    expect(kept).toEqual(added);
    expect((await files.read(added)).toString()).toBe('the bytes');
    const again = files.remove(caller.accountId, 'logo', added.id, 'cli:x');
    await expect(again).rejects.toMatchObject({ code: 'logo_not_found' });
  });

  it('a file beyond the limits of the plan or of the service is refused and leaves no object', async () => {
    const few = { ...caller, plan: { ...plan, limits: { ...plan.limits, logos: 1, fonts: 0 } } };
    await savedFiles().add(few, logo(), 'cli:x', signal);
    const second = savedFiles().add(few, logo(), 'cli:x', signal);
    await expect(second).rejects.toMatchObject({ code: 'too_many_logos', limit: { limit: 1, actual: 2 } });
    await expect(savedFiles().assertRoom(few, 'font')).rejects.toMatchObject({ code: 'too_many_fonts' });
    const small = { ...caller, plan: { ...plan, limits: { ...plan.limits, storedBytes: 17 } } };
    const tooLarge = savedFiles().add(small, logo(), 'cli:x', signal);
    await expect(tooLarge).rejects.toMatchObject({ code: 'stored_bytes_exceeded' });
    const full = savedFiles({ serviceBytes: 19 }).add(caller, logo(), 'cli:x', signal);
    await expect(full).rejects.toMatchObject({ code: 'storage_full' });
    expect(await objects()).toHaveLength(1);
  });

  it('a file is refused where servers share the database but not the storage', async () => {
    const files = savedFiles({ lacksSharedStorage: true });
    await expect(files.assertRoom(caller, 'logo')).rejects.toMatchObject({ code: 'brand_files_disabled' });
  });

  it('a file whose object was lost or damaged is an error of the storage', async () => {
    const added = await savedFiles().add(caller, logo(), 'cli:x', signal);
    // The stored file is a link to the uploaded one.
    writeFileSync(path.join(folder, 'logo.png'), 'others');
    await expect(savedFiles().read(added)).rejects.toMatchObject({ code: 'storage_unavailable' });
    await storage.delete(`brand/${added.id}`);
    await expect(savedFiles().read(added)).rejects.toMatchObject({ code: 'storage_unavailable' });
  });

  it('a file without a row leaves no object, unless the row may have been written', async () => {
    const { brandFiles } = world.store;
    const failing = (error: Error): BrandFiles =>
      Object.assign(Object.create(brandFiles) as BrandFiles, {
        exceeded: async () => undefined,
        add: async () => {
          throw error;
        },
      });
    const broken = savedFiles({ files: failing(new Error('broken')) });
    await expect(broken.add(caller, logo(), 'cli:x', signal)).rejects.toThrow('broken');
    expect(await objects()).toEqual([]);
    const unknown = savedFiles({ files: failing(new OutcomeUnknown('lost')) });
    await expect(unknown.add(caller, logo(), 'cli:x', signal)).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(await objects()).toHaveLength(1);
  });
});

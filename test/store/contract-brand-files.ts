import { expect, it } from 'vitest';
import type { BrandFileAddition, BrandFileKind } from '../../src/service/store/brand/brand-files.ts';
import type { Store } from '../../src/service/store/store.ts';
import { renderSetup } from './render-setup.ts';
import { DAY, HOUR, type World } from './world.ts';

const ACTOR = 'key:test';
const LIMITS = { files: 3, storedBytes: 1_000, serviceBytes: 1e12 };
const SHA256 = 'a'.repeat(64);

export function brandFilesContract(world: () => World): void {
  const { accepted, scopeOf } = renderSetup(world);
  const add = async (
    accountId: string,
    id: string,
    { kind = 'logo', bytes = 10, store = world().store, limits = LIMITS }: AddOptions = {},
  ): Promise<BrandFileAddition> =>
    await store.brandFiles.add(accountId, { id, kind, bytes, sha256: SHA256, facts: '{"width":2}' }, limits, ACTOR);
  const storedBytes = async (accountId: string): Promise<number | undefined> => {
    const { renders } = world().store;
    return (await renders.storageExceeded({ accountId, bytes: 0 }, { ...LIMITS, storedBytes: -1 }))?.actual;
  };

  it('keeps the files of an account apart from those of others, and logos from fonts', async () => {
    const [mine, other] = [await world().account(), await world().account()];
    expect(await add(mine, 'logo_1')).toMatchObject({ kind: 'added', file: { id: 'logo_1', bytes: 10 } });
    await add(mine, 'font_1', { kind: 'font' });
    const { brandFiles } = world().store;
    const expected = { id: 'logo_1', kind: 'logo', bytes: 10, sha256: SHA256, facts: '{"width":2}' };
    expect(await brandFiles.list(mine, 'logo')).toMatchObject([expected]);
    expect(await brandFiles.list(mine, 'font')).toMatchObject([{ id: 'font_1' }]);
    expect(await brandFiles.find(mine, 'logo', 'logo_1')).toMatchObject(expected);
    expect(await brandFiles.find(mine, 'font', 'logo_1')).toBeUndefined();
    expect(await brandFiles.list(other, 'logo')).toEqual([]);
    expect([...(await brandFiles.ids(mine))].toSorted()).toEqual(['font_1', 'logo_1']);
    expect((await brandFiles.ids(other)).size).toBe(0);
    expect(await brandFiles.find(other, 'logo', 'logo_1')).toBeUndefined();
    expect(await brandFiles.findKept(other, 'logo', 'logo_1')).toBeUndefined();
    expect(await brandFiles.remove(other, 'logo', 'logo_1', ACTOR)).toBe(false);
    expect(await brandFiles.remove(mine, 'font', 'logo_1', ACTOR)).toBe(false);
    expect(await brandFiles.list(mine, 'logo')).toHaveLength(1);
  });

  it('has at most as many files of a kind as allowed, also when two servers add them at the same time', async () => {
    const accountId = await world().account();
    const other = await world().server('there/2/b');
    const additions = await Promise.all(
      [1, 2, 3, 4, 5].map(
        async (n) => await add(accountId, `logo_${n}`, { store: n % 2 === 0 ? other : world().store }),
      ),
    );
    expect(additions.filter(({ kind }) => kind === 'added')).toHaveLength(3);
    expect(additions.filter(({ kind }) => kind !== 'added')).toEqual(
      Array.from({ length: 2 }, () => ({ kind: 'over limit', what: 'files', actual: 4 })),
    );
    expect(await add(accountId, 'font_1', { kind: 'font' })).toMatchObject({ kind: 'added' });
  });

  it('counts the bytes of files as stored bytes until their objects are gone', async () => {
    const accountId = await world().account();
    await add(accountId, 'logo_1', { bytes: 700 });
    expect(await storedBytes(accountId)).toBe(700);
    const { brandFiles } = world().store;
    const big = { kind: 'font', bytes: 301 } as const;
    const over = { kind: 'over limit', what: 'storedBytes', actual: 1_001 };
    expect(await brandFiles.exceeded(accountId, big, LIMITS)).toEqual(over);
    expect(await add(accountId, 'font_1', big)).toEqual(over);
    await brandFiles.remove(accountId, 'logo', 'logo_1', ACTOR);
    expect(await storedBytes(accountId)).toBe(700);
    await brandFiles.markDeleted({ id: 'logo_1', name: 'brand/logo_1' });
    await brandFiles.markDeleted({ id: 'logo_1', name: 'brand/logo_1' });
    expect(await storedBytes(accountId)).toBe(0);
    expect(await add(accountId, 'font_1', big)).toMatchObject({ kind: 'added' });
  });

  it('keeps a deleted file for renders that were accepted before, and no longer', async () => {
    const [accountId, other] = [await world().account(), await world().account()];
    const { brandFiles, renders } = world().store;
    await add(accountId, 'logo_1');
    const before = await accepted(accountId);
    await accepted(other);
    world().pass(1_000);
    expect(await brandFiles.remove(accountId, 'logo', 'logo_1', ACTOR)).toBe(true);
    expect(await brandFiles.remove(accountId, 'logo', 'logo_1', ACTOR)).toBe(false);
    expect(await brandFiles.find(accountId, 'logo', 'logo_1')).toBeUndefined();
    expect((await brandFiles.ids(accountId)).size).toBe(0);
    expect(await brandFiles.list(accountId, 'logo')).toEqual([]);
    expect(await brandFiles.findKept(accountId, 'logo', 'logo_1')).toMatchObject({ id: 'logo_1' });
    world().pass(DAY);
    await accepted(accountId);
    expect(await brandFiles.expiredObjects(10)).toEqual([]);
    await renders.cancel(scopeOf(accountId), before.id);
    expect(await brandFiles.expiredObjects(10)).toEqual([{ id: 'logo_1', name: 'brand/logo_1' }]);
    // Requests that wait for their render have no row.
    await add(accountId, 'logo_2');
    await brandFiles.remove(accountId, 'logo', 'logo_2', ACTOR);
    world().pass(HOUR / 2);
    expect(await brandFiles.expiredObjects(10)).toHaveLength(1);
    await brandFiles.markDeleted({ id: 'logo_1', name: 'brand/logo_1' });
    expect(await brandFiles.findKept(accountId, 'logo', 'logo_1')).toBeUndefined();
    expect((await world().actions(accountId)).filter((action) => action.includes('logo'))).toEqual(
      ['added', 'deleted', 'added', 'deleted'].map((action) => `${ACTOR} logo.${action}`),
    );
  });

  it('never removes the row of a file that is in use, and finds objects without a row', async () => {
    const accountId = await world().account();
    await add(accountId, 'logo_1');
    const { brandFiles } = world().store;
    await brandFiles.markDeleted({ id: 'logo_1', name: 'brand/logo_1' });
    expect(await brandFiles.find(accountId, 'logo', 'logo_1')).toBeDefined();
    expect(await brandFiles.orphans(['brand/logo_1', 'brand/logo_2'])).toEqual(['brand/logo_2']);
    await brandFiles.remove(accountId, 'logo', 'logo_1', ACTOR);
    expect(await brandFiles.orphans(['brand/logo_1'])).toEqual([]);
  });
}

interface AddOptions {
  readonly kind?: BrandFileKind;
  readonly bytes?: number;
  readonly store?: Store;
  readonly limits?: typeof LIMITS;
}

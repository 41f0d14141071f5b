import { expect, it } from 'vitest';
import type { Store } from '../../src/service/store/store.ts';
import type { StyleVersion } from '../../src/service/store/brand/styles.ts';
import { DAY, type World } from './world.ts';

const ACTOR = 'key:test';
const LIMITS = { names: 3, versions: 5 };

export function stylesContract(world: () => World): void {
  const put = async (
    accountId: string,
    name: string,
    style: string,
    store: Store = world().store,
  ): Promise<number | undefined> => (await store.styles.put(accountId, { name, style }, LIMITS, ACTOR))?.version;
  const use = async (accountId: string, ...references: readonly (readonly [string, number?])[]): Promise<string[]> => {
    const wanted = references.map(([name, version]) => ({ name, version }));
    const found = await world().store.styles.use(accountId, wanted);
    return [...found].map(([reference, { style }]) => `${reference} ${style}`).toSorted();
  };

  it('makes a new version of a style only when it changes', async () => {
    const [mine, other] = [await world().account(), await world().account()];
    expect(await put(mine, 'acme', '{"size":1}')).toBe(1);
    expect(await put(mine, 'acme', '{"size":1}')).toBe(1);
    world().pass(1);
    expect(await put(mine, 'acme', '{"size":2}')).toBe(2);
    expect(await put(mine, 'acme', '{"size":1}')).toBe(3);
    expect(await put(other, 'acme', '{}')).toBe(1);
    const { styles } = world().store;
    expect(await styles.list(mine)).toMatchObject([{ name: 'acme', version: 3, style: '{"size":1}' }]);
    expect(await styles.find(mine, { name: 'acme', version: 2 })).toMatchObject({ style: '{"size":2}' });
    expect(await styles.find(other, { name: 'acme', version: 2 })).toBeUndefined();
    expect(await styles.find(mine, { name: 'acme', version: undefined })).toMatchObject({ version: 3 });
    expect((await world().actions(mine)).filter((action) => action.includes('style'))).toEqual(
      Array.from({ length: 3 }, () => `${ACTOR} style.saved`),
    );
  });

  it('finds the latest version and named ones for a request, of one account only', async () => {
    const [mine, other] = [await world().account(), await world().account()];
    await put(mine, 'acme', '{"size":1}');
    await put(mine, 'acme', '{"size":2}');
    await put(mine, 'second', '{}');
    expect(await use(mine, ['acme'])).toEqual(['acme {"size":2}']);
    expect(await use(mine, ['acme', 1], ['second'], ['missing'], ['acme', 9])).toEqual([
      'acme {"size":2}',
      'acme@1 {"size":1}',
      'second {}',
    ]);
    expect(await use(other, ['acme'])).toEqual([]);
  });

  it('goes on with the numbers of versions after a style was deleted', async () => {
    const accountId = await world().account();
    await put(accountId, 'acme', '{"size":1}');
    await put(accountId, 'acme', '{"size":2}');
    const { styles } = world().store;
    expect(await styles.remove(accountId, 'acme', ACTOR)).toBe(true);
    expect(await styles.remove(accountId, 'acme', ACTOR)).toBe(false);
    expect(await styles.list(accountId)).toEqual([]);
    expect(await use(accountId, ['acme'], ['acme', 1])).toEqual([]);
    expect(await put(accountId, 'acme', '{"size":2}')).toBe(3);
    expect(await use(accountId, ['acme', 2])).toEqual(['acme {"size":2}']);
    expect((await world().actions(accountId)).filter((action) => action.includes('deleted'))).toHaveLength(1);
  });

  it('has at most as many names as allowed, also when two servers add them at the same time', async () => {
    const accountId = await world().account();
    const others = await world().server('there/2/b');
    const added = await Promise.all(
      ['a', 'b', 'c', 'd', 'e', 'f'].map(
        async (name, index) => await put(accountId, name, '{}', index % 2 ? others : world().store),
      ),
    );
    expect(added.filter((version) => version !== undefined)).toHaveLength(3);
    const [first] = await world().store.styles.list(accountId);
    await world().store.styles.remove(accountId, first?.name ?? '', ACTOR);
    expect(await put(accountId, 'another', '{}')).toBe(1);
  });

  it('deletes the versions that were unused for the longest time, and never the latest of a style', async () => {
    const accountId = await world().account();
    for (const size of [1, 2, 3, 4]) {
      await put(accountId, 'acme', `{"size":${size}}`);
      world().pass(DAY);
    }
    await put(accountId, 'still', '{}');
    world().pass(DAY);
    expect(await use(accountId, ['acme', 1])).toContain('acme@1 {"size":1}');
    world().pass(1);
    await put(accountId, 'acme', '{"size":5}');
    world().pass(1);
    await put(accountId, 'acme', '{"size":6}');
    const left = async (): Promise<(number | undefined)[]> => {
      const found: (StyleVersion | undefined)[] = [];
      for (const version of [1, 2, 3, 4, 5, 6]) {
        found.push(await world().store.styles.find(accountId, { name: 'acme', version }));
      }
      return found.map((one) => one?.version);
    };
    expect(await left()).toEqual([1, undefined, undefined, 4, 5, 6]);
    expect(await use(accountId, ['still'])).toEqual(['still {}']);
  });
}

import { describe, expect, it } from 'vitest';
import { RecentKeys } from './recent-keys.ts';

function lookups(answer: () => Promise<undefined> = async () => undefined) {
  let count = 0;
  let now = 0;
  const keys = new RecentKeys(
    async () => {
      count += 1;
      return await answer();
    },
    () => now,
  );
  return {
    count: () => count,
    find: async (key: string, times = 1) =>
      await Promise.allSettled(Array.from({ length: times }, async () => await keys.find(Buffer.from(key)))),
    at: (time: number): void => {
      now = time;
    },
  };
}

describe('RecentKeys', () => {
  it('asks the store every time, but at most every 50 ms for a key that arrives often', async () => {
    const { count, find, at } = lookups();
    await find('a', 20);
    expect(count()).toBe(20);
    at(49);
    await find('a', 100);
    expect(count()).toBe(20);
    at(50);
    await find('a', 100);
    expect(count()).toBe(21);
    await find('b');
    expect(count()).toBe(22);
  });

  it('starts to count anew after a second', async () => {
    const { count, find, at } = lookups();
    await find('a', 100);
    at(1_000);
    await find('a', 20);
    expect(count()).toBe(40);
  });

  it('reports a failed lookup to every waiting request and then asks again', async () => {
    let isBroken = true;
    const { find, at } = lookups(async () => {
      if (isBroken) throw new Error('no database');
      return undefined;
    });
    const statuses = (await find('a', 30)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set(['rejected']));
    isBroken = false;
    at(50);
    expect(await find('a')).toEqual([{ status: 'fulfilled', value: undefined }]);
  });

  it('remembers only the 1,000 keys that were used last', async () => {
    const { count, find } = lookups();
    await find('a', 100);
    for (let index = 0; index < 1_000; index += 1) await find(`other ${index}`);
    await find('a', 20);
    expect(count()).toBe(20 + 1_000 + 20);
  });

  it('does not forget a key in use because many other keys arrive', async () => {
    const { count, find } = lookups();
    await find('a', 20);
    for (let index = 0; index < 3_000; index += 1) {
      await find(`other ${index}`);
      await find('a');
    }
    expect(count()).toBe(20 + 3_000);
  });
});

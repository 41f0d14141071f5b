import { expect, it } from 'vitest';
import { RecentKeys } from './recent-keys.ts';

function asked(answer: () => Promise<undefined> = async () => undefined) {
  let looks = 0;
  let now = 0;
  const find = async (): Promise<undefined> => {
    looks += 1;
    return await answer();
  };
  const keys = new RecentKeys(find, () => now);
  return {
    looks: () => looks,
    find: async (key: string, times = 1) =>
      await Promise.allSettled(Array.from({ length: times }, async () => await keys.find(Buffer.from(key)))),
    at: (time: number): void => {
      now = time;
    },
  };
}

it('looks every time, but once in a moment for a crowd', async () => {
  const { looks, find, at } = asked();
  await find('a', 20);
  expect(looks()).toBe(20);
  at(49);
  await find('a', 100);
  expect(looks()).toBe(20);
  at(50);
  await find('a', 100);
  expect(looks()).toBe(21);
  await find('b');
  expect(looks()).toBe(22);
});

it('forgets a crowd after its second', async () => {
  const { looks, find, at } = asked();
  await find('a', 100);
  at(1_000);
  await find('a', 20);
  expect(looks()).toBe(40);
});

it('tells everybody of a look that failed, and looks again', async () => {
  let broken = true;
  const { find, at } = asked(async () => {
    if (broken) throw new Error('no database');
    return undefined;
  });
  const statuses = (await find('a', 30)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set(['rejected']));
  broken = false;
  at(50);
  expect(await find('a')).toEqual([{ status: 'fulfilled', value: undefined }]);
});

it('keeps no list of strangers', async () => {
  const { looks, find } = asked();
  await find('a', 100);
  for (let index = 0; index < 1_000; index += 1) await find(`stranger ${index}`);
  await find('a', 20);
  expect(looks()).toBe(20 + 1_000 + 20);
});

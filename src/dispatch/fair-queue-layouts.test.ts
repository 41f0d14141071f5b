import { describe, expect, it } from 'vitest';
import { must } from '../primitives/must.ts';
import { FairQueue, type QueueEntry } from './fair-queue.ts';

const never = (): AbortSignal => new AbortController().signal;

describe('layouts in a fair queue', () => {
  function queueWith(slots: number) {
    let free = slots;
    const served: QueueEntry[] = [];
    const take = (entry: QueueEntry): QueueEntry => {
      free -= 1;
      served.push(entry);
      return entry;
    };
    const queue = new FairQueue<QueueEntry>({ total: () => slots, free: () => free, take }, 1_000);
    const add = (account: string, isLayout: boolean, cost = 10): void => {
      void queue.take(never(), { account, cost, budgetMs: 1e9, isLayout });
    };
    const finish = (entry: QueueEntry): void => {
      free += 1;
      queue.release(entry.account, entry);
    };
    const names = () => served.map(({ account, isLayout }) => (isLayout ? `${account} layout` : account));
    return { queue, served, names, add, finish };
  }

  it.each([
    [1, 1],
    [2, 1],
    [3, 1],
    [8, 4],
  ])('of %i slots, hold at most %i', (slots, most) => {
    const { names, add } = queueWith(slots);
    for (let count = 0; count < 20; count += 1) add(`account ${count % 3}`, true);
    expect(names()).toHaveLength(most);
  });

  it('leave the other slots to renders, also to those of their own account', () => {
    const { names, add, finish, served } = queueWith(2);
    for (let count = 0; count < 8; count += 1) add('layouter', true, 1_500);
    add('renderer', false);
    expect(names()).toEqual(['layouter layout', 'renderer']);
    add('layouter', false);
    add('renderer', false);
    finish(must(served[1], 'the render'));
    expect(names().slice(2)).toEqual(['renderer']);
    finish(must(served[2], 'the render'));
    expect(names().slice(3)).toEqual(['layouter']);
    finish(must(served[0], 'the layout'));
    expect(names().slice(4)).toEqual(['layouter layout']);
  });

  it('that wait do not give newcomers an advantage over accounts that were served meanwhile', () => {
    const { names, add, finish, served } = queueWith(2);
    for (let count = 0; count < 8; count += 1) add('layouter', true, 1);
    for (let count = 0; count < 50; count += 1) add('old', false);
    for (let count = 1; count <= 20; count += 1) finish(must(served[count], 'a render'));
    for (let count = 0; count < 50; count += 1) add('new', false);
    for (let count = 21; count <= 30; count += 1) finish(must(served[count], 'a render'));
    expect(
      names()
        .slice(22)
        .filter((name) => name === 'old').length,
    ).toBeGreaterThanOrEqual(4);
  });
});

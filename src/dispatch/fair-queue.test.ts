import { setMaxListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { AppError } from '../errors.ts';
import { FairQueue, type QueueEntry } from './fair-queue.ts';

const FOREVER = new AbortController().signal;
setMaxListeners(0, FOREVER);
const turn = (account: string, cost = 10, changes: Partial<QueueEntry> = {}): QueueEntry => ({
  account,
  cost,
  budgetMs: 1e9,
  ...changes,
});

/** One slot that is taken; serves waiters one by one and notes whose turn it was. */
function busyQueue(maxWaiting = 1_000) {
  const queue = new FairQueue<string>(1, maxWaiting);
  const served: string[] = [];
  const refused: string[] = [];
  const ask = (account: string, cost?: number, changes?: Partial<QueueEntry>): void => {
    queue.take(FOREVER, turn(account, cost, changes)).then(
      () => served.push(account),
      (error: unknown) => refused.push(`${account} ${error instanceof AppError ? error.code : String(error)}`),
    );
  };
  const serve = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) {
      queue.put('slot');
      await Promise.resolve();
      await Promise.resolve();
    }
  };
  return { queue, served, refused, ask, serve };
}

describe('a fair queue', () => {
  it('serves accounts in turn, whoever sent more', async () => {
    const { served, ask, serve } = busyQueue();
    for (let index = 0; index < 20; index += 1) ask('greedy');
    for (let index = 0; index < 3; index += 1) ask('modest');
    await serve(6);
    expect(served.filter((account) => account === 'modest')).toHaveLength(3);
  });

  it('shares by cost: one large render weighs as much as many small ones', async () => {
    const { served, ask, serve } = busyQueue();
    for (let index = 0; index < 10; index += 1) ask('large', 100);
    for (let index = 0; index < 100; index += 1) ask('small', 10);
    await serve(33);
    const large = served.filter((account) => account === 'large').length;
    expect(large).toBeGreaterThanOrEqual(2);
    expect(large).toBeLessThanOrEqual(4);
  });

  it('keeps the order of one account', async () => {
    const queue = new FairQueue<string>(1, 10);
    const order: number[] = [];
    for (let index = 0; index < 5; index += 1) {
      void queue.take(FOREVER, turn('a')).then(() => order.push(index));
    }
    for (let index = 0; index < 5; index += 1) queue.put('slot');
    await Promise.resolve();
    await Promise.resolve();
    expect(order).toEqual([0, 1, 2, 3, 4]);
  });

  it('does not let an account that was idle catch up on the past', async () => {
    const { served, ask, serve } = busyQueue();
    for (let index = 0; index < 50; index += 1) ask('busy');
    await serve(40);
    for (let index = 0; index < 10; index += 1) ask('late');
    await serve(10);
    expect(served.slice(40).filter((account) => account === 'late').length).toBeLessThanOrEqual(6);
  });

  it('serves what is urgent first, in its order, and never turns it away', async () => {
    const { served, refused, ask, serve } = busyQueue(1);
    ask('a');
    ask('retry 1', 10, { isRetry: true });
    ask('retry 2', 10, { isRetry: true });
    await serve(3);
    expect([served, refused]).toEqual([['retry 1', 'retry 2', 'a'], []]);
  });

  it('when full, takes the place of whoever has the most', async () => {
    const { queue, served, refused, ask, serve } = busyQueue(4);
    for (let index = 0; index < 6; index += 1) ask('greedy');
    await serve(0);
    await Promise.resolve();
    expect(() => queue.assertRoom('greedy')).toThrow(AppError);
    expect(() => queue.assertRoom('modest')).not.toThrow();
    ask('modest');
    ask('modest');
    ask('modest');
    await serve(4);
    expect(served.filter((account) => account === 'modest')).toHaveLength(2);
    expect(refused.filter((entry) => entry === 'greedy overloaded')).toHaveLength(4);
    expect(refused.filter((entry) => entry === 'modest overloaded')).toHaveLength(1);
  });

  it('lets in no more than find a place when they have uploaded', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const { queue, ask } = busyQueue(3);
      ask('a');
      queue.expect('a');
      queue.expect('a');
      expect(() => queue.expect('a')).toThrow(AppError);
      // Who comes takes the place that was kept; who was let in and did not come loses it.
      ask('a');
      expect(() => queue.expect('a')).toThrow(AppError);
      vi.advanceTimersByTime(2_001);
      expect(() => queue.expect('a')).not.toThrow();
      expect(() => queue.expect('a')).toThrow(AppError);
      // An account with less than others is let in, and takes the place of one of theirs.
      expect(() => queue.assertRoom('b')).not.toThrow();
    } finally {
      vi.useRealTimers();
    }
  });

  it('keeps places for those it expects beside the free ones', () => {
    const queue = new FairQueue<string>(2, 1);
    queue.put('one');
    queue.put('two');
    for (let count = 0; count < 3; count += 1) queue.expect('a');
    expect(() => queue.expect('a')).toThrow(AppError);
  });

  it('says at once when the wait would be too long, and when to come again', async () => {
    const { queue, ask } = busyQueue();
    for (let index = 0; index < 10; index += 1) ask('a', 1_000);
    const late = queue.take(FOREVER, turn('a', 1_000, { budgetMs: 5_000 }));
    await expect(late).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 10 });
    // Another account does not wait behind all of the first.
    ask('b', 1_000, { budgetMs: 5_000 });
    expect(queue.waiting).toBe(11);
  });

  it('leaves room for a wrong estimate, and counts what is urgent too', async () => {
    const { queue, ask } = busyQueue();
    for (let index = 0; index < 3; index += 1) ask('a', 1_000);
    ask('a', 1_000, { isRetry: true });
    const late = queue.take(FOREVER, turn('a', 1_000, { budgetMs: 6_000 }));
    await expect(late).rejects.toMatchObject({ code: 'overloaded' });
    ask('a', 1_000, { budgetMs: 8_000 });
    expect(queue.waiting).toBe(5);
  });

  it('counts what a render costs beyond the guess it waited with', async () => {
    const { queue, served, ask, serve } = busyQueue();
    for (let index = 0; index < 10; index += 1) ask('heavy');
    for (let index = 0; index < 10; index += 1) ask('light');
    await serve(2);
    queue.adjustCost('heavy', 1_000);
    for (let index = 0; index < 5; index += 1) ask('heavy');
    for (let index = 0; index < 5; index += 1) ask('light');
    await serve(28);
    expect(served.slice(-5)).toEqual(Array.from({ length: 5 }, () => 'heavy'));
  });

  it('lets go of who leaves', async () => {
    const { queue, served, serve } = busyQueue();
    const leaving = new AbortController();
    const gone = queue.take(leaving.signal, turn('a'));
    leaving.abort(new Error('left'));
    await expect(gone).rejects.toThrow('left');
    await serve(1);
    expect([queue.waiting, queue.free, served]).toEqual([0, 1, []]);
  });
});

import { setMaxListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../shared/errors.ts';
import { must } from '../../../shared/must.ts';
import { FairQueue, type QueueEntry } from './fair-queue.ts';

const never = (): AbortSignal => new AbortController().signal;

/** A queue whose slots are released by the test. Entries are recorded in the order they are served. */
class QueueUnderTest {
  readonly served: string[] = [];
  readonly refused: string[] = [];
  readonly queue: FairQueue<void>;
  readonly #inService: QueueEntry[] = [];
  #free: number;

  constructor({ slots = 1, maxWaiting = 1_000 } = {}) {
    this.#free = slots;
    const source = {
      total: () => slots,
      forShort: () => 0,
      free: () => this.#free,
      take: (entry: QueueEntry): void => {
        this.#free -= 1;
        this.served.push(entry.account);
        this.#inService.push(entry);
      },
      giveBack: () => {
        this.#free += 1;
      },
    };
    this.queue = new FairQueue(source, maxWaiting);
  }

  /** A queue whose only slot is busy. */
  static busy(maxWaiting?: number): QueueUnderTest {
    const test = new QueueUnderTest(maxWaiting === undefined ? {} : { maxWaiting });
    test.add('first');
    test.served.length = 0;
    return test;
  }

  add(account: string, cost = 10, { budgetMs = 1e9, isCharged = false, signal = never() } = {}): QueueEntry {
    const entry: QueueEntry = { account, class: 'interactive', cost, budgetMs, isCharged };
    this.enter(entry, signal).catch((error: unknown) => {
      this.refused.push(`${account} ${error instanceof AppError ? error.code : String(error)}`);
    });
    return entry;
  }

  async enter(entry: QueueEntry, signal = never()): Promise<void> {
    await this.queue.enter(entry, signal);
  }

  /** Corrects what the account was charged for the entry that it has in service, or had last. */
  correct(account: string, difference: number): void {
    this.queue.correct({ account, class: 'interactive', cost: 0, budgetMs: 1e9 }, difference);
  }

  addMany(count: number, account: string, cost?: number): void {
    for (let index = 0; index < count; index += 1) this.add(account, cost);
  }

  finish(account: string): void {
    const index = this.#inService.findIndex((entry) => entry.account === account);
    const [entry] = this.#inService.splice(index, 1);
    this.queue.release(must(entry, 'an entry in service'), undefined);
  }

  /** Ends the service of one entry after the other, so that as many others are served. */
  serve(count: number): void {
    for (let index = 0; index < count; index += 1) this.finish(this.served.at(-1) ?? 'first');
  }

  servedTo(account: string): number {
    return this.served.filter((each) => each === account).length;
  }
}

describe('the order of a fair queue', () => {
  it('a fair queue alternates between accounts, no matter which one sent more', () => {
    const test = QueueUnderTest.busy();
    test.addMany(20, 'greedy');
    test.addMany(3, 'modest');
    test.serve(6);
    expect(test.servedTo('modest')).toBe(3);
  });

  it('a fair queue weighs entries by cost: one large render counts as much as ten small ones', () => {
    const test = QueueUnderTest.busy();
    test.addMany(10, 'large', 100);
    test.addMany(100, 'small', 10);
    test.serve(33);
    expect(test.servedTo('large')).toBe(3);
  });

  it('a fair queue serves entries of one account in order of arrival', async () => {
    const test = QueueUnderTest.busy();
    const order: number[] = [];
    for (let index = 0; index < 5; index += 1) {
      void test.enter({ account: 'a', class: 'interactive', cost: 10, budgetMs: 1e9 }).then(() => order.push(index));
    }
    test.serve(5);
    await setImmediate();
    expect(order).toEqual([0, 1, 2, 3, 4]);
  });

  it('an account that was idle does not make up for lost time', () => {
    const test = QueueUnderTest.busy();
    test.addMany(50, 'busy');
    test.serve(40);
    test.addMany(10, 'late');
    test.serve(10);
    expect(test.servedTo('late')).toBe(5);
  });

  it('20,000 renders without competition do not count against an account later', () => {
    const test = new QueueUnderTest({ slots: 2, maxWaiting: 5_000 });
    test.add('a');
    for (let index = 0; index < 20_000; index += 1) {
      test.add('a');
      test.finish('a');
    }
    test.served.length = 0;
    test.addMany(2_001, 'a');
    test.addMany(2_001, 'b');
    for (let index = 0; index < 2_000; index += 1) test.finish(test.served[index - 1] ?? 'a');
    expect(Math.abs(test.servedTo('a') - test.servedTo('b'))).toBeLessThanOrEqual(2);
  });

  it('a fair queue serves charged entries first, in order of arrival, and never refuses them', () => {
    const test = QueueUnderTest.busy(1);
    test.add('a');
    test.add('charged 1', 10, { isCharged: true });
    test.add('charged 2', 10, { isCharged: true, budgetMs: 0 });
    test.serve(3);
    expect([test.served, test.refused]).toEqual([['charged 1', 'charged 2', 'a'], []]);
  });

  it('a fair queue charges nothing for entries that leave the queue before they are served', () => {
    const test = QueueUnderTest.busy();
    const leaving = new AbortController();
    setMaxListeners(0, leaving.signal);
    for (let index = 0; index < 100; index += 1) test.add('a', 1_000, { signal: leaving.signal });
    leaving.abort(new Error('client gone'));
    test.addMany(5, 'b');
    test.addMany(5, 'a');
    test.serve(6);
    expect([test.servedTo('a'), test.servedTo('b')]).toEqual([3, 3]);
  });
});

describe('corrections of the cost', () => {
  it('make an account wait that was charged too little', () => {
    const test = QueueUnderTest.busy();
    test.addMany(10, 'heavy');
    test.addMany(10, 'light');
    test.serve(2);
    test.correct('heavy', 1_000);
    test.serve(9);
    expect(test.served.slice(2)).toEqual(Array.from({ length: 9 }, () => 'light'));
  });

  it('refund an account that was charged too much', () => {
    const test = QueueUnderTest.busy();
    test.addMany(10, 'light', 100);
    test.addMany(10, 'heavy', 100);
    test.serve(2);
    test.correct('light', -90);
    test.serve(1);
    test.correct('light', -90);
    test.serve(1);
    expect(test.served).toEqual(['light', 'heavy', 'light', 'light']);
  });

  it('share by real cost even when they arrive several dispatches late', () => {
    const real = { light: 10, heavy: 60 };
    const test = new QueueUnderTest({ slots: 4 });
    test.addMany(400, 'light', 35);
    test.addMany(100, 'heavy', 35);
    for (let index = 0; index < 300; index += 1) {
      const account = test.served[index] === 'heavy' ? 'heavy' : 'light';
      test.correct(account, real[account] - 35);
      test.finish(account);
    }
    const work = { light: test.servedTo('light') * real.light, heavy: test.servedTo('heavy') * real.heavy };
    expect(Math.abs(work.light - work.heavy)).toBeLessThanOrEqual(4 * 60);
  });

  it('corrections of the cost do not count against an account later when nothing was waiting', () => {
    const test = new QueueUnderTest({ slots: 4 });
    test.addMany(4, 'a');
    for (let index = 0; index < 4; index += 1) test.correct('a', 1_000);
    test.addMany(50, 'a', 100);
    test.addMany(50, 'b', 100);
    test.served.length = 0;
    for (let index = 0; index < 40; index += 1) test.finish(test.served[index - 4] ?? 'a');
    expect(test.servedTo('b') - test.servedTo('a')).toBeLessThanOrEqual(11);
  });

  it('corrections of the cost do not put newcomers behind accounts that are waiting already', () => {
    const test = QueueUnderTest.busy();
    test.addMany(10, 'waiting');
    test.correct('first', 1_000);
    test.correct('first', 1_000);
    test.addMany(10, 'new');
    test.serve(6);
    expect([test.servedTo('waiting'), test.servedTo('new')]).toEqual([3, 3]);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY])(
    'a correction is rejected when the cost is %s, and the order stays fair',
    async (cost) => {
      const test = QueueUnderTest.busy();
      expect(() => test.correct('a', cost)).toThrow(RangeError);
      await expect(test.enter({ account: 'a', class: 'interactive', cost, budgetMs: 1e9 })).rejects.toThrow(RangeError);
      test.addMany(10, 'a');
      test.addMany(10, 'b');
      test.serve(10);
      expect([test.servedTo('a'), test.servedTo('b')]).toEqual([5, 5]);
    },
  );
});

describe('a full queue', () => {
  it('a full queue evicts the newest entry of the account with the most entries', async () => {
    const test = QueueUnderTest.busy(4);
    test.addMany(6, 'greedy');
    expect(test.queue.refusal('greedy')).toMatchObject({ code: 'overloaded' });
    expect(test.queue.refusal('modest')).toBeUndefined();
    test.addMany(3, 'modest');
    await setImmediate();
    test.serve(4);
    expect([test.servedTo('modest'), test.servedTo('greedy')]).toEqual([2, 2]);
    expect(test.refused.filter((entry) => entry === 'greedy overloaded')).toHaveLength(4);
    expect(test.refused.filter((entry) => entry === 'modest overloaded')).toHaveLength(1);
  });

  it('a full queue knows the work that waits after entries were served, evicted and aborted', async () => {
    const test = QueueUnderTest.busy(3);
    const controller = new AbortController();
    test.add('a', 0.1, { signal: controller.signal });
    test.addMany(2, 'a', 100);
    test.add('b', 30);
    expect(test.queue.backlogMs).toBe(130);
    controller.abort(new Error('gone'));
    await setImmediate();
    expect(test.queue.backlogMs).toBe(130);
    test.serve(2);
    expect(test.queue.backlogMs).toBe(0);
  });

  it('a full queue has room as long as a slot is free', () => {
    const { queue } = new QueueUnderTest({ slots: 1, maxWaiting: 0 });
    expect(queue.refusal('a')).toBeUndefined();
  });

  it('a full queue refuses an entry whose expected wait exceeds its budget, with the time to retry after', async () => {
    const test = QueueUnderTest.busy();
    test.addMany(10, 'a', 1_000);
    const late = test.enter({ account: 'a', class: 'interactive', cost: 1_000, budgetMs: 5_000 });
    await expect(late).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 10 });
    // Another account doesn't wait behind all entries of the first one.
    test.add('b', 1_000, { budgetMs: 5_000 });
    expect(test.queue.waiting).toBe(11);
  });

  it('a full queue counts charged entries in the expected wait and leaves a margin for wrong estimates', async () => {
    const test = QueueUnderTest.busy();
    test.addMany(3, 'a', 1_000);
    test.add('a', 1_000, { isCharged: true });
    const late = test.enter({ account: 'a', class: 'interactive', cost: 1_000, budgetMs: 6_000 });
    await expect(late).rejects.toMatchObject({ code: 'overloaded' });
    test.add('a', 1_000, { budgetMs: 8_000 });
    expect(test.queue.waiting).toBe(5);
  });
});

describe('waiting entries', () => {
  it('waiting entries leave the queue when their signal aborts', async () => {
    const test = QueueUnderTest.busy();
    const leaving = new AbortController();
    test.add('a', 10, { signal: leaving.signal });
    leaving.abort(new Error('client gone'));
    await setImmediate();
    test.finish('first');
    expect([test.queue.waiting, test.served, test.refused]).toEqual([0, [], ['a Error: client gone']]);
  });

  it('waiting entries are all rejected on shutdown, charged ones included', async () => {
    const test = QueueUnderTest.busy();
    test.add('a');
    test.add('b', 10, { isCharged: true });
    test.queue.rejectWaiting(new Error('over'));
    await setImmediate();
    expect([test.queue.waiting, test.refused]).toEqual([0, ['b Error: over', 'a Error: over']]);
  });
});

describe('the accounts a queue remembers', () => {
  it('the queue remembers only accounts with entries in service when nothing waits', () => {
    const test = new QueueUnderTest({ slots: 2 });
    test.add('account 0');
    for (let index = 1; index <= 1_000; index += 1) {
      test.add(`account ${index}`);
      test.finish(`account ${index - 1}`);
    }
    expect(test.queue.accounts).toBe(1);
    test.finish('account 1000');
    expect(test.queue.accounts).toBe(0);
  });

  it('the queue forgets accounts that the virtual time has passed', () => {
    const test = QueueUnderTest.busy();
    for (let index = 0; index < 100; index += 1) test.add(`account ${index}`);
    test.addMany(10, 'busy');
    test.serve(105);
    expect(test.queue.waiting).toBe(5);
    expect(test.queue.accounts).toBe(1);
  });
});

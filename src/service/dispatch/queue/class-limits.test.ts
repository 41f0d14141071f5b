// The effect of the class and the length of renders on their order.

import { describe, expect, it } from 'vitest';
import { AppError } from '../../../shared/errors.ts';
import { must } from '../../../shared/must.ts';
import type { LeaseClass } from '../renderer.ts';
import { FairQueue, type QueueEntry } from './fair-queue.ts';

const never = (): AbortSignal => new AbortController().signal;

type Options = Partial<Pick<QueueEntry, 'cost' | 'isLong' | 'isCharged' | 'budgetMs'>>;

/** A queue whose slots are released by the test. */
class ClassQueue {
  readonly served: QueueEntry[] = [];
  readonly refused: string[] = [];
  readonly queue: FairQueue<void>;
  #free: number;

  constructor(slots: number, { forShort = 0, maxWaiting = 1_000 } = {}) {
    this.#free = slots;
    const take = (entry: QueueEntry): void => {
      this.#free -= 1;
      this.served.push(entry);
    };
    const giveBack = (): void => {
      this.#free += 1;
    };
    const source = { total: () => slots, forShort: () => forShort, free: () => this.#free, take, giveBack };
    this.queue = new FairQueue(source, maxWaiting);
  }

  get names(): string[] {
    return this.served.map(({ account }) => account);
  }

  add(account: string, leaseClass: LeaseClass = 'interactive', options: Options = {}): QueueEntry {
    const entry = { account, class: leaseClass, cost: 10, budgetMs: 1e9, ...options };
    const refuse = (error: unknown): void => {
      this.refused.push(`${account} ${error instanceof AppError ? error.code : String(error)}`);
    };
    try {
      this.queue.enter(entry, never()).catch(refuse);
    } catch (error) {
      refuse(error);
    }
    return entry;
  }

  addMany(count: number, account: string, leaseClass?: LeaseClass, options?: Options): void {
    for (let index = 0; index < count; index += 1) this.add(account, leaseClass, options);
  }

  finish(entry = must(this.served.at(-1), 'an entry in service')): void {
    this.queue.release(entry, undefined);
  }

  /** Returns the work that was served to a class. */
  workOf(leaseClass: LeaseClass): number {
    return this.served.filter((entry) => entry.class === leaseClass).reduce((sum, { cost }) => sum + cost, 0);
  }
}

describe.each(['guest', 'layout'] as const)('entries of the class %s', (leaseClass) => {
  it.each([
    [1, 1],
    [2, 1],
    [3, 1],
    [8, 4],
  ])('of %i slots, entries of a limited class hold at most %i', (slots, most) => {
    const test = new ClassQueue(slots);
    for (let count = 0; count < 20; count += 1) test.add(`account ${count % 3}`, leaseClass);
    expect(test.served).toHaveLength(most);
  });

  it('entries of a limited class leave the other slots to renders, also to those of their own account', () => {
    const test = new ClassQueue(2);
    test.addMany(8, 'limited', leaseClass, { cost: 1_500 });
    test.add('renderer');
    expect(test.names).toEqual(['limited', 'renderer']);
    const own = test.add('limited');
    test.add('renderer');
    test.finish(test.served[1]);
    test.finish(test.served[2]);
    expect(test.names.slice(2)).toEqual(['renderer', 'limited']);
    expect(test.served.at(-1)).toBe(own);
    test.finish(test.served[0]);
    expect(test.served.at(-1)?.class).toBe(leaseClass);
  });

  it('waiting entries of a limited class give newcomers no advantage over accounts that were served meanwhile', () => {
    const test = new ClassQueue(2);
    test.addMany(8, 'limited', leaseClass, { cost: 1 });
    test.addMany(50, 'old');
    for (let count = 1; count <= 20; count += 1) test.finish(test.served[count]);
    test.addMany(50, 'new');
    for (let count = 21; count <= 30; count += 1) test.finish(test.served[count]);
    expect(test.names.slice(22).filter((name) => name === 'old').length).toBeGreaterThanOrEqual(4);
  });
});

describe('background entries', () => {
  it('background entries take all slots that are free', () => {
    const test = new ClassQueue(4);
    test.addMany(10, 'batch', 'background');
    expect(test.served).toHaveLength(4);
  });

  it('background entries get a tenth of the work while others wait, however many accounts send them and whatever they cost', () => {
    const test = new ClassQueue(1, { maxWaiting: 5_000 });
    for (let count = 0; count < 50; count += 1) test.add(`batch ${count}`, 'background', { cost: 500 });
    test.addMany(5_000, 'caller', 'interactive', { cost: 20 });
    for (let count = 0; count < 4_000; count += 1) test.finish();
    const share = test.workOf('background') / (test.workOf('background') + test.workOf('interactive'));
    expect(share).toBeGreaterThan(0.09);
    expect(share).toBeLessThan(0.11);
  });

  it('background entries pay nothing later for slots that no one else wanted', () => {
    const test = new ClassQueue(1);
    test.addMany(100, 'batch', 'background', { cost: 1_000 });
    for (let count = 0; count < 50; count += 1) test.finish();
    test.addMany(20, 'caller', 'interactive', { cost: 1_000 });
    for (let count = 0; count < 21; count += 1) test.finish();
    expect(test.served.slice(51).some((entry) => entry.class === 'background')).toBe(true);
  });

  it('background entries are never refused, and take no places from interactive entries', () => {
    const test = new ClassQueue(1, { maxWaiting: 2 });
    test.addMany(50, 'batch', 'background', { budgetMs: 0 });
    test.addMany(3, 'caller');
    expect([test.refused, test.queue.waiting]).toEqual([['caller overloaded'], 51]);
  });
});

describe.each(['interactive', 'background'] as const)('long entries of the class %s', (leaseClass) => {
  const LONG = { isLong: true } as const;

  it('long entries leave a slot to short ones, which overtake them', () => {
    const test = new ClassQueue(2, { forShort: 1 });
    test.add('long 1', leaseClass, LONG);
    test.add('long 2', leaseClass, LONG);
    test.add('short', leaseClass);
    expect(test.names).toEqual(['long 1', 'short']);
    test.finish(test.served[0]);
    expect(test.names).toEqual(['long 1', 'short', 'long 2']);
  });

  it('long entries on a single slot wait until no short one waits', () => {
    const test = new ClassQueue(1);
    test.add('first', leaseClass);
    test.add('long', leaseClass, LONG);
    test.add('short 1', leaseClass);
    test.add('short 2', leaseClass);
    for (let count = 0; count < 3; count += 1) test.finish();
    expect(test.names).toEqual(['first', 'short 1', 'short 2', 'long']);
  });

  it('long entries are taken from their accounts in turn', () => {
    const test = new ClassQueue(2, { forShort: 1 });
    for (const account of ['first', 'greedy', 'greedy', 'greedy', 'modest', 'modest'])
      test.add(account, leaseClass, LONG);
    for (let count = 0; count < 5; count += 1) test.finish();
    expect(test.names).toEqual(['first', 'greedy', 'modest', 'greedy', 'modest', 'greedy']);
  });

  it('an entry that turns out to be long leaves its slot if another long one has one', () => {
    const test = new ClassQueue(3, { forShort: 1 });
    const entries = ['a', 'b', 'c'].map((account) => test.add(account, leaseClass));
    expect(entries.map((entry) => test.queue.becomeLong(entry))).toEqual([true, true, false]);
    test.finish(entries[0]);
    expect(test.queue.becomeLong(must(entries[2], 'the last entry'))).toBe(true);
  });
});

describe('the deadline of long entries', () => {
  it('a long entry is refused when it would wait too long for other long ones, and a short one is not', () => {
    const test = new ClassQueue(2, { forShort: 1 });
    test.add('running', 'interactive', { isLong: true });
    test.add('waiting', 'interactive', { isLong: true, cost: 100_000 });
    test.add('busy');
    test.add('late', 'interactive', { isLong: true, budgetMs: 60_000 });
    test.add('short', 'interactive', { budgetMs: 60_000 });
    expect([test.refused, test.queue.waiting]).toEqual([['late overloaded'], 2]);
  });
});

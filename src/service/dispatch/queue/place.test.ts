import { setMaxListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { must } from '../../../shared/must.ts';
import type { Recipe } from '../../../engine/render/compose.ts';
import type { LeaseRequest } from '../renderer.ts';
import type { QueueEntry } from './fair-queue.ts';
import { type Place, PlaceQueue } from './place.ts';

const { signal } = new AbortController();
setMaxListeners(0, signal);
const imageOf = (megapixels: number) =>
  ({
    kind: 'image',
    canvas: { width: 1_000, height: megapixels * 1_000 },
    output: { format: 'png' },
  }) as unknown as Recipe;
const layoutOf = (bars: number) =>
  ({
    kind: 'layout',
    canvas: { width: 100, height: 100 },
    overlays: Array.from({ length: bars }, () => ({})),
  }) as unknown as Recipe;
const videoOf = (frames: number | undefined, transfer = 'sdr', frameStep = 1) =>
  ({
    kind: 'video',
    canvas: { width: 1_000, height: 1_000 },
    video: { frames, tags: { transfer } },
    frameStep,
  }) as unknown as Recipe;

/** Places in a queue with few slots. Served places are recorded. */
class PlaceTest {
  readonly queue: PlaceQueue<void>;
  readonly served: QueueEntry[] = [];
  readonly heldBack: string[] = [];
  /** The time in milliseconds. */
  now = 0;
  #free: number;

  constructor(kind: 'image' | 'video', { slots = 1, forShort = 0 } = {}) {
    this.#free = slots;
    const take = (entry: QueueEntry): void => {
      this.#free -= 1;
      this.served.push(entry);
    };
    const giveBack = (): void => {
      this.#free += 1;
    };
    const source = { total: () => slots, forShort: () => forShort, free: () => this.#free, take, giveBack };
    this.queue = new PlaceQueue(kind, source, 100, () => this.now);
  }

  get names(): string[] {
    return this.served.map(({ account }) => account);
  }

  place(account: string, budget = 1e9, ended = signal): Place<void> {
    const request: LeaseRequest = {
      account,
      class: 'interactive',
      budgetMs: { image: budget, video: budget },
      signal: ended,
      onHeldBack: () => this.heldBack.push(account),
    };
    return this.queue.place(request);
  }

  /** Returns a place for an unknown file that waits for a slot or has one. */
  entered(account: string): Place<void> {
    const place = this.place(account);
    place.enter();
    return place;
  }

  /** Returns the charge for a recipe. */
  costOf(recipe: Recipe): number {
    return this.queue.costs.estimateMs(recipe);
  }
}

/** A worker takes this long for a place with a slot. */
async function worked(test: PlaceTest, place: Place<void>, milliseconds: number): Promise<void> {
  place.begin();
  test.now += milliseconds;
  await closed(place);
}

/** Promises give slots and return them. */
async function closed(place: Place<void>): Promise<void> {
  place.leave();
  await setImmediate();
}

describe('the cost of a render', () => {
  it('the cost of a layout is that of its bars, and is learned', () => {
    const test = new PlaceTest('image');
    const { usualMs } = test.queue.costs;
    expect(test.costOf(layoutOf(500))).toBeGreaterThan(1_000);
    expect(test.costOf(layoutOf(1))).toBeLessThan(10);
    for (let count = 0; count < 100; count += 1) test.queue.costs.learn(layoutOf(500), 10_000);
    expect(test.costOf(layoutOf(500))).toBeGreaterThan(9_000);
    expect(test.queue.costs.usualMs).toBe(usualMs);
  });

  it('the cost of an unknown file is that of an average render', () => {
    const test = new PlaceTest('video');
    for (let count = 0; count < 100; count += 1) test.queue.costs.learn(videoOf(100), 30_000);
    test.entered('a');
    expect(test.served[0]?.cost).toBeGreaterThan(25_000);
  });

  it('the cost of a render is learned per unit of work', () => {
    const test = new PlaceTest('image');
    for (let count = 0; count < 100; count += 1) test.queue.costs.learn(imageOf(10), 1_003);
    expect(test.costOf(imageOf(2))).toBeCloseTo(203, 0);
  });

  it('many tiny or slow renders never make a normal video too expensive', () => {
    const test = new PlaceTest('video');
    for (let count = 0; count < 100; count += 1) test.queue.costs.learn(videoOf(1), 5_000);
    expect(() => test.place('a', 60_000).assertFeasible(videoOf(1_200))).not.toThrow();
    for (let count = 0; count < 100; count += 1) test.queue.costs.learn(videoOf(1_000), 10_000_000);
    expect(() => test.place('a', 60_000).assertFeasible(videoOf(1_200))).not.toThrow();
  });

  it('a video is too heavy when its estimate exceeds the deadline by more than a quarter', () => {
    const test = new PlaceTest('video');
    for (let count = 0; count < 100; count += 1) test.queue.costs.learn(videoOf(1_000), 10_000);
    const check = (...recipe: Parameters<typeof videoOf>) =>
      test.place('a', 100_000).assertFeasible(videoOf(...recipe));
    expect(() => check(12_400)).not.toThrow();
    expect(() => check(20_000, 'sdr', 4)).not.toThrow();
    const heavy = expect.objectContaining({ code: 'asset_too_heavy', limit: { limit: 100, actual: 130 } });
    expect(() => check(13_000)).toThrow(heavy);
    for (let count = 0; count < 100; count += 1) test.queue.costs.learn(videoOf(1_000, 'hlg'), 20_000);
    expect(() => check(6_500, 'hlg')).toThrow(heavy);
    expect(() => test.place('a', Number.POSITIVE_INFINITY).assertFeasible(videoOf(1e6))).not.toThrow();
  });
});

describe('a place', () => {
  it('a place keeps its slot from the probe to the render', async () => {
    const test = new PlaceTest('image');
    const first = test.entered('a');
    test.entered('b');
    await first.slot();
    first.charge(imageOf(1));
    await first.slot();
    expect(test.names).toEqual(['a']);
    await closed(first);
    expect(test.names).toEqual(['a', 'b']);
  });

  it('a place that is left gives its slot to others, and then goes before everything that waits', async () => {
    const test = new PlaceTest('image');
    const first = test.entered('a');
    await first.slot();
    const second = test.entered('b');
    test.entered('c');
    first.leave();
    await setImmediate();
    void first.slot();
    await closed(second);
    expect(test.names).toEqual(['a', 'b', 'a']);
  });

  it('a place stops waiting when it is closed', async () => {
    const test = new PlaceTest('image');
    const first = test.entered('a');
    const second = test.entered('b');
    await closed(second);
    await closed(first);
    expect([test.names, test.queue.waiting, test.queue.accounts]).toEqual([['a'], 0, 0]);
  });

  it.each([
    ['the probe', 1],
    ['its end, and the estimate was far too low', 100],
  ])('a place pays by the real cost of renders, which is known after %s', async (_when, slowness) => {
    const test = new PlaceTest('image');
    const blocker = test.entered('first');
    const megapixels: Readonly<Record<string, number>> = { small: 1, large: 10 };
    const waiting = new Map(['small', 'large'].map((account) => [account, [] as Place<void>[]]));
    for (const [account, places] of waiting) {
      for (let count = 0; count < 40; count += 1) places.push(test.entered(account));
    }
    await closed(blocker);
    for (let count = 0; count < 40; count += 1) {
      const account = test.names.at(-1) ?? '';
      const place = must(waiting.get(account)?.shift(), 'the place that was served');
      const recipe = imageOf(slowness === 1 ? (megapixels[account] ?? 0) : 1);
      place.charge(recipe);
      await worked(test, place, slowness * test.costOf(imageOf(megapixels[account] ?? 0)));
    }
    const served = (account: string): number => test.names.filter((name) => name === account).length;
    // 10 megapixels cost 253 ms, 1 megapixel 28 ms.
    expect(served('small') / served('large')).toBeGreaterThan(6);
    expect(served('small') / served('large')).toBeLessThan(10);
  });

  it('a place gets back what it paid for a render that does not follow, and nothing that was not paid', async () => {
    const test = new PlaceTest('video');
    const blocker = test.entered('first');
    const damaged = Array.from({ length: 10 }, () => test.entered('damaged'));
    await closed(blocker);
    for (const place of damaged.slice(0, -1)) await closed(place);
    // This place was never served, so it was never charged.
    const never = test.entered('other');
    await closed(never);
    for (const account of ['other', 'damaged', 'other', 'damaged', 'other', 'damaged']) {
      const place = test.entered(account);
      void place.slot().then(() => place.leave());
    }
    await closed(must(damaged.at(-1), 'the last of them'));
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    expect(test.names.slice(-6, -2).toSorted()).toEqual(['damaged', 'damaged', 'other', 'other']);
  });

  it('a place rejects a recipe without a number of frames and stays fair for others', () => {
    const test = new PlaceTest('video');
    const place = test.entered('a');
    expect(() => place.charge(videoOf(undefined))).toThrow(/finite number; got NaN/u);
    expect(test.queue.backlogMs).toBe(0);
  });
});

describe('a place whose render turns out to be long', () => {
  it('a long render keeps its slot while another one is left for short renders', async () => {
    const test = new PlaceTest('video', { slots: 2, forShort: 1 });
    const place = test.entered('a');
    await place.slot();
    place.charge(videoOf(5_000));
    await place.slot();
    expect([test.names, test.heldBack]).toEqual([['a'], []]);
  });

  it('a render that turns out to be long waits for another long one, while short ones go on', async () => {
    const test = new PlaceTest('video', { slots: 2, forShort: 1 });
    const [first, second] = [test.entered('a'), test.entered('b')];
    await Promise.all([first.slot(), second.slot()]);
    first.charge(videoOf(5_000));
    second.charge(videoOf(5_000));
    await setImmediate();
    expect(test.heldBack).toEqual(['b']);
    const short = test.entered('c');
    await short.slot();
    short.charge(videoOf(50));
    await closed(short);
    expect(test.names).toEqual(['a', 'b', 'c']);
    await closed(first);
    await second.slot();
    expect(test.names).toEqual(['a', 'b', 'c', 'b']);
  });

  it('a long render still counts as long after it has lost its worker', async () => {
    const test = new PlaceTest('video', { slots: 2, forShort: 1 });
    const [first, second] = [test.entered('a'), test.entered('b')];
    await Promise.all([first.slot(), second.slot()]);
    first.charge(videoOf(5_000));
    first.leave();
    await setImmediate();
    await first.slot();
    second.charge(videoOf(5_000));
    expect(test.heldBack).toEqual(['b']);
  });

  it('a render that turns out to be long is refused when it would wait past its deadline', async () => {
    const test = new PlaceTest('video', { slots: 3, forShort: 1 });
    const places = [test.entered('a'), test.entered('b'), test.entered('c')];
    await Promise.all(places.map(async (place) => await place.slot()));
    for (const place of places) place.charge(videoOf(20_000));
    await setImmediate();
    const late = test.place('late', 130_000);
    late.enter();
    await late.slot();
    expect(() => late.charge(videoOf(5_000))).toThrow(expect.objectContaining({ code: 'overloaded' }));
  });
});

describe('a place whose render takes much longer than estimated', () => {
  /** An account holds both slots. */
  async function holdingBoth() {
    const test = new PlaceTest('image', { slots: 2 });
    const held = [test.entered('greedy'), test.entered('greedy')] as const;
    for (const place of held) {
      await place.slot();
      place.charge(imageOf(1));
      place.begin();
    }
    return { test, held };
  }

  it('keeps its slot while no other account waits', async () => {
    const { test, held } = await holdingBoth();
    test.entered('greedy');
    test.now = 60_000;
    expect(held.map((place) => place.isTurnOver)).toEqual([false, false]);
  });

  it('gives its slot to another account, and takes the last slot only when its account has left one', async () => {
    const { test, held } = await holdingBoth();
    const other = test.entered('other');
    test.now = 1_900;
    expect(held.map((place) => place.isTurnOver)).toEqual([false, false]);
    test.now = 2_100;
    expect(held.map((place) => place.isTurnOver)).toEqual([true, true]);
    held[0].giveWay();
    await setImmediate();
    expect([test.names, held[1].isTurnOver]).toEqual([['greedy', 'greedy', 'other'], false]);
    await closed(other);
    expect([test.names.length, test.queue.waiting]).toEqual([3, 1]);
    await closed(held[1]);
    expect(test.names).toEqual(['greedy', 'greedy', 'other', 'greedy']);
  });

  it('starts again before other renders of its account, and never gives way again', async () => {
    const { test, held } = await holdingBoth();
    const [later, other] = [test.entered('greedy'), test.entered('other')];
    test.now = 2_100;
    held[0].giveWay();
    await setImmediate();
    await closed(other);
    await closed(held[1]);
    expect(test.served.slice(3)).toMatchObject([{ hasYielded: true }, { account: 'greedy' }]);
    for (const place of [held[0], later]) place.begin();
    test.entered('other');
    test.now = 60_000;
    expect([held[0].isTurnOver, later.isTurnOver]).toEqual([false, true]);
    // Not even after it has lost its worker.
    held[0].leave();
    await held[0].slot();
    held[0].begin();
    test.now = 120_000;
    expect([held[0].isTurnOver, later.isTurnOver]).toEqual([false, true]);
  });

  it('ends instead of giving way when its caller has left', async () => {
    const { test, held } = await holdingBoth();
    const client = new AbortController();
    await closed(held[0]);
    const left = test.place('greedy', 1e9, client.signal);
    left.enter();
    await left.slot();
    left.begin();
    test.entered('other');
    test.now = 60_000;
    expect(left.isTurnOver).toBe(true);
    client.abort();
    expect(left.isTurnOver).toBe(false);
  });

  it('keeps its slot for three times its estimate', async () => {
    const { test, held } = await holdingBoth();
    test.entered('other');
    held[0].charge(imageOf(100));
    test.now = 3 * test.costOf(imageOf(100));
    expect(held.map((place) => place.isTurnOver)).toEqual([false, true]);
  });

  it('keeps the only slot, which its budget frees', async () => {
    const test = new PlaceTest('image');
    const place = test.entered('greedy');
    await place.slot();
    place.begin();
    test.entered('other');
    test.now = 60_000;
    expect(place.isTurnOver).toBe(false);
  });
});

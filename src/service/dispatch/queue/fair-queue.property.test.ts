// The fairness theorem of start-time fair queueing: while two accounts are backlogged, the work they receive in any window
// differs by at most one entry of each, whatever happened before. If the cost is known only when an entry ends, they
// differ by at most one more entry for each slot.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { must } from '../../../shared/must.ts';
import { FairQueue, type QueueEntry } from './fair-queue.ts';

interface Render {
  readonly account: 'a' | 'b' | 'c';
  readonly estimate: number;
  /** The cost is known after dispatch, as after a probe. */
  readonly cost: number;
}

type Step =
  | { readonly type: 'render'; readonly render: Render; readonly budgetMs: number; readonly isCharged: boolean }
  | { readonly type: 'finish' }
  | { readonly type: 'overrun' }
  | { readonly type: 'abort'; readonly index: number };

/** Runs renders one by one and corrects the cost of each right after its dispatch, or at its end. */
class Simulation {
  readonly queue: FairQueue<void>;
  readonly dispatched: Render[] = [];
  readonly waiting = new Set<QueueEntry>();
  readonly #inService: { readonly entry: QueueEntry; readonly owed: number }[] = [];
  readonly #cancel: AbortController[] = [];
  readonly #settlesAtEnd: boolean;
  #free: number;

  constructor(slots: number, { settlesAtEnd = false } = {}) {
    this.#free = slots;
    this.#settlesAtEnd = settlesAtEnd;
    const take = (): void => {
      this.#free -= 1;
    };
    const giveBack = (): void => {
      this.#free += 1;
    };
    this.queue = new FairQueue(
      { total: () => slots, forShort: () => 0, free: () => this.#free, take, giveBack },
      1_000,
    );
  }

  /** The accounts of the entries in service. */
  get holders(): string[] {
    return this.#inService.map(({ entry }) => entry.account);
  }

  async add(render: Render, { budgetMs = 1e9, isCharged = false, hasYielded = false } = {}): Promise<void> {
    const { account, estimate: cost } = render;
    const entry: QueueEntry = { account, class: 'interactive', cost, budgetMs, isCharged, hasYielded };
    const cancel = new AbortController();
    this.#cancel.push(cancel);
    try {
      const slot = this.queue.enter(entry, cancel.signal);
      this.waiting.add(entry);
      slot.then(
        () => {
          this.waiting.delete(entry);
          const difference = isCharged ? 0 : render.cost - render.estimate;
          this.#inService.push({ entry, owed: this.#settlesAtEnd ? difference : 0 });
          if (isCharged) return;
          this.dispatched.push(render);
          if (!this.#settlesAtEnd) this.queue.correct(entry, difference);
        },
        () => this.waiting.delete(entry),
      );
    } catch {
      // The render was refused.
    }
    await settled();
  }

  async finish(): Promise<void> {
    const ended = this.#inService.shift();
    if (ended) this.queue.settle(ended.entry, ended.owed);
    if (ended) this.queue.release(ended.entry, undefined);
    await settled();
  }

  /** All renders in service take much longer than estimated. Those that must give way do. */
  async overrun(): Promise<void> {
    for (const held of this.#inService.slice()) {
      const { entry } = held;
      if (!this.queue.mustYield(entry)) continue;
      this.#inService.splice(this.#inService.indexOf(held), 1);
      const { account, cost } = entry;
      const again = this.add({ account: account as Render['account'], estimate: cost, cost }, { hasYielded: true });
      this.queue.release(entry, undefined);
      await again;
      await settled();
    }
  }

  abort(index: number): void {
    this.#cancel[index % this.#cancel.length]?.abort(new Error('client gone'));
  }

  async play(step: Step): Promise<void> {
    if (step.type === 'render') await this.add(step.render, step);
    else if (step.type === 'finish') await this.finish();
    else if (step.type === 'overrun') await this.overrun();
    else this.abort(step.index);
  }
}

/** Slots are given by promises. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
}

const renderOf = <Account extends Render['account']>(account: Account, maxCost = 1_000) => {
  const cost = fc.integer({ min: 1, max: maxCost });
  return fc.record({ account: fc.constant(account), estimate: cost, cost });
};
/** Account c sends much larger renders, which must not matter for the other two. */
const anyRender = fc.oneof(renderOf('a'), renderOf('b'), renderOf('c', 50_000));
/** Without a budget, a render is refused unless a slot is free. */
const budgetMs = fc.constantFrom(1e9, 1e9, 1e9, 0);
const isCharged = fc.constantFrom(false, false, false, true);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('render'), render: anyRender, budgetMs, isCharged }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('finish') }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('overrun') }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('abort'), index: fc.nat(1_000) }) },
);
const backlog = (account: 'a' | 'b'): fc.Arbitrary<Render[]> =>
  fc.array(renderOf(account), { minLength: 20, maxLength: 40 });

it.each([
  ['right after dispatch', false],
  ['when it ends', true],
])(
  'the queue gives two backlogged accounts equal shares after any history if the cost is known %s',
  async (_when, settlesAtEnd) => {
    const history = fc.array(step, { maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        history,
        backlog('a'),
        backlog('b'),
        async (slots, before, ofA, ofB) => {
          const simulation = new Simulation(slots, { settlesAtEnd });
          for (const each of before) await simulation.play(each);
          for (const each of [...ofA, ...ofB]) await simulation.add(each);
          const start = simulation.dispatched.length;
          for (let count = 0; count < 10_000 && simulation.queue.waiting > 0; count += 1) await simulation.finish();
          const contest = whileBothWait(simulation.dispatched.slice(start), ofA, ofB);
          expect(contest.length).toBeGreaterThanOrEqual(10);
          const entries = settlesAtEnd ? slots + 1 : 1;
          expect(largestLead(contest)).toBeLessThanOrEqual(entries * largestCosts(simulation.dispatched));
        },
      ),
      { numRuns: 200 },
    );
  },
);

it('no account holds all of several slots with renders that overrun while another account waits', async () => {
  const history = fc.array(step, { maxLength: 80 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 2, max: 4 }), history, async (slots, before) => {
      const simulation = new Simulation(slots);
      for (const each of before) await simulation.play(each);
      await simulation.overrun();
      const { holders, queue } = simulation;
      const isHeldByOne = holders.length === slots && new Set(holders).size === 1;
      const doOthersWait = [...simulation.waiting].some(({ account }) => account !== holders[0]);
      expect(isHeldByOne && doOthersWait).toBe(false);
      // What has given way starts when the others have ended.
      for (let count = 0; count < 1_000 && queue.waiting > 0; count += 1) await simulation.finish();
      expect(queue.waiting).toBe(0);
    }),
    { numRuns: 300 },
  );
});

/** Returns the dispatches before the last entry of either account. */
function whileBothWait(dispatched: readonly Render[], ...backlogs: readonly (readonly Render[])[]): readonly Render[] {
  const ends = backlogs.map((renders) => dispatched.indexOf(must(renders.at(-1), 'the last render')));
  return dispatched.slice(0, Math.min(...ends));
}

/** Returns the largest lead of one account over the other in any window, in work received. */
function largestLead(renders: readonly Render[]): number {
  let [lead, highest, lowest] = [0, 0, 0];
  for (const render of renders) {
    if (render.account === 'a') lead += render.cost;
    if (render.account === 'b') lead -= render.cost;
    highest = Math.max(highest, lead);
    lowest = Math.min(lowest, lead);
  }
  return highest - lowest;
}

/** Returns the sum of the largest cost of each account. */
function largestCosts(renders: readonly Render[]): number {
  const largest = { a: 0, b: 0, c: 0 };
  for (const { account, cost } of renders) largest[account] = Math.max(largest[account], cost);
  return largest.a + largest.b;
}

// The place of one lease among the renders of its kind. It waits once, holds its slot between steps, and is charged the
// cost of its steps. A file waits before its probe, when nothing is known about it, so it is charged for an average
// render at first, and for the difference once the recipe is known.

import { AppError } from '../../errors.ts';
import type { AssetKind } from '../../media/sniff.ts';
import { must } from '../../primitives/must.ts';
import type { Recipe } from '../../render/compose.ts';
import { ASYNC_BUDGET_MS, type LeaseRequest } from '../renderer.ts';
import { CostModel } from './cost-model.ts';
import { FairQueue, type QueueEntry, type SlotSource } from './fair-queue.ts';

const PROBE_MS: Readonly<Record<AssetKind, number>> = { image: 2, video: 100 };

/** Estimates can be too high, so a render is refused only when its estimate exceeds the deadline by this factor. */
const MAX_OVER_BUDGET = 1.25;

/** Renders with a higher estimate leave some slots to shorter ones. */
const LONG_RENDER_MS = 10_000;

/** The queue for one kind of worker, and the cost of its renders. */
export class PlaceQueue<Slot> extends FairQueue<Slot> {
  readonly kind: AssetKind;
  readonly costs: CostModel;

  constructor(kind: AssetKind, slots: SlotSource<Slot>, maxWaiting: number) {
    super(slots, maxWaiting);
    this.kind = kind;
    this.costs = new CostModel(kind);
  }

  place(request: LeaseRequest): Place<Slot> {
    return new Place(this, request);
  }
}

export class Place<Slot> {
  readonly #queue: PlaceQueue<Slot>;
  readonly #request: LeaseRequest;
  /** Set while it waits or has a slot. */
  #entry: QueueEntry | undefined;
  #slot: Promise<Slot> | undefined;
  /** The amount charged for a render that hasn't begun. */
  #prepaid = 0;
  #isCharged = false;
  #isLong = false;

  constructor(queue: PlaceQueue<Slot>, request: LeaseRequest) {
    this.#queue = queue;
    this.#request = request;
  }

  /** Returns true while the place waits for a slot or has one. */
  get isEntered(): boolean {
    return this.#entry !== undefined;
  }

  /** Enters the queue for a file that hasn't been probed. Throws `overloaded` if the queue is full. */
  enter(): void {
    const { usualMs } = this.#queue.costs;
    this.#enter({ cost: PROBE_MS[this.#queue.kind] + usualMs });
    this.#prepaid = usualMs;
  }

  /** Charges the cost of the recipe beyond the amount charged before, and enters the queue if it hasn't yet. */
  charge(recipe: Recipe): void {
    const cost = this.#queue.costs.estimateMs(recipe);
    this.#isLong = cost > LONG_RENDER_MS;
    const entry = this.#entry;
    if (entry === undefined) {
      const entered = this.#enter({ cost, isCharged: this.#isCharged });
      if (this.#isCharged) this.#queue.correct(entered, cost - this.#prepaid);
    } else if (this.#isLong && !this.#queue.becomeLong(entry)) {
      this.#refund(entry);
      this.leave();
      this.#request.onHeldBack?.();
      this.#enter({ cost });
    } else {
      this.#queue.correct(entry, cost - this.#prepaid);
    }
    this.#prepaid = 0;
  }

  /** Throws `asset_too_heavy` for a render that one slot can't finish in time. */
  assertFeasible(recipe: Recipe): void {
    const budgetMs = this.#budgetMs;
    const estimateMs = this.#queue.costs.leastMs(recipe);
    if (estimateMs > budgetMs * MAX_OVER_BUDGET) throw tooHeavy(estimateMs, budgetMs);
  }

  /** Waits for a slot, unless it has one. After `leave`, it goes before everything that wasn't charged yet. */
  async slot(): Promise<Slot> {
    if (this.#slot === undefined) this.#enter({ cost: this.#queue.costs.usualMs, isCharged: true });
    return await must(this.#slot, 'the slot of an entry');
  }

  /** Gives the slot back, or stops waiting for one. The next step waits again. */
  leave(): void {
    const [entry, slot] = [this.#entry, this.#slot];
    if (entry === undefined || slot === undefined) return;
    this.#entry = undefined;
    this.#slot = undefined;
    // A waiting entry is rejected, and a served one is released.
    this.#queue.withdraw(entry, this.#request.signal.reason);
    slot.then(
      (held) => this.#queue.release(entry, held),
      () => undefined,
    );
  }

  /** Leaves for good. The charge for a render that didn't begin is refunded. */
  close(): void {
    if (this.#entry && this.#isCharged) this.#refund(this.#entry);
    this.leave();
  }

  get #budgetMs(): number {
    return this.#request.budgetMs[this.#queue.kind];
  }

  #enter(entry: Pick<QueueEntry, 'cost' | 'isCharged'>): QueueEntry {
    const { account, class: leaseClass, signal } = this.#request;
    const entered = { ...entry, isLong: this.#isLong, account, class: leaseClass, budgetMs: this.#budgetMs };
    this.#slot = this.#queue.enter(entered, signal);
    this.#entry = entered;
    this.#slot.then(
      () => {
        this.#isCharged = true;
      },
      // The step that needs the slot sees the error.
      () => undefined,
    );
    return entered;
  }

  #refund(entry: QueueEntry): void {
    if (this.#prepaid > 0) this.#queue.correct(entry, -this.#prepaid);
    this.#prepaid = 0;
  }
}

/** Refusing at once is better than keeping a worker busy, and the caller waiting, until the deadline. */
function tooHeavy(estimateMs: number, budgetMs: number): AppError {
  const actual = Math.round(estimateMs / 1_000);
  const limit = Math.round(budgetMs / 1_000);
  const isHeld = budgetMs < ASYNC_BUDGET_MS;
  const detail = `Rendering would take about ${actual} seconds; the limit is ${limit}. Send a shorter video, or one with a smaller frame or a lower frame rate${isHeld ? ', or send the request with `prefer: respond-async`' : ''}.`;
  return new AppError('asset_too_heavy', detail, { limit: { limit, actual } });
}

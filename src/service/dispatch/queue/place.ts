// The place of one lease among the renders of its kind. It waits once, holds its slot between steps, and is charged the
// cost of its steps. A file waits before its probe, when nothing is known about it, so it is charged for an average
// render at first, and for the difference once the recipe is known. When it gives its slot back, the time that it held a
// worker replaces all estimates, however the render ended.

import { AppError } from '../../../shared/errors.ts';
import type { AssetKind } from '../../../engine/media/sniff.ts';
import { must } from '../../../shared/must.ts';
import type { Recipe } from '../../../engine/render/compose.ts';
import { ASYNC_BUDGET_MS, type LeaseRequest } from '../renderer.ts';
import { CostModel } from './cost-model.ts';
import { FairQueue, type QueueEntry, type SlotSource } from './fair-queue.ts';

const PROBE_MS: Readonly<Record<AssetKind, number>> = { image: 2, video: 100 };

/** Estimates can be too high, so a render is refused only when its estimate exceeds the deadline by this factor. */
const MAX_OVER_BUDGET = 1.25;

/** Renders with a higher estimate leave some slots to shorter ones. */
const LONG_RENDER_MS = 10_000;

/** A render that takes this many times its estimate has had its turn, if others wait. */
const TURN_FACTOR = 3;
const MIN_TURN_MS = 2_000;
const TURN_CHECK_MS = 500;

/** The queue for one kind of worker, and the cost of its renders. */
export class PlaceQueue<Slot> extends FairQueue<Slot> {
  readonly kind: AssetKind;
  readonly costs: CostModel;
  readonly now: () => number;

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(kind: AssetKind, slots: SlotSource<Slot>, maxWaiting: number, now = () => performance.now()) {
    super(slots, maxWaiting);
    this.kind = kind;
    this.now = now;
    this.costs = new CostModel(kind);
  }

  place(request: LeaseRequest): Place<Slot> {
    return new Place(this, request);
  }
}

/** The time from entering the queue to leaving it. */
interface Stay<Slot> {
  readonly entry: QueueEntry;
  readonly slot: Promise<Slot>;
  chargedMs: number;
  /** Set when a worker has begun. */
  begunAt?: number;
}

export class Place<Slot> {
  readonly #queue: PlaceQueue<Slot>;
  readonly #request: LeaseRequest;
  /** Set while it waits or has a slot. */
  #stay: Stay<Slot> | undefined;
  /** The amount charged for a render that hasn't begun. */
  #prepaid = 0;
  #isCharged = false;
  #isLong = false;
  /** A render gives way once at most, however wrong its estimate is and however often it loses its worker. */
  #hasYielded = false;

  constructor(queue: PlaceQueue<Slot>, request: LeaseRequest) {
    this.#queue = queue;
    this.#request = request;
  }

  /** Returns true while the place waits for a slot or has one. */
  get isEntered(): boolean {
    return this.#stay !== undefined;
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
    const stay = this.#stay;
    if (stay === undefined) {
      const entered = this.#enter({ cost, isCharged: this.#isCharged });
      if (this.#isCharged) this.#correct(entered, cost);
    } else if (this.#isLong && !this.#queue.becomeLong(stay.entry)) {
      this.leave();
      this.#request.onHeldBack?.();
      this.#enter({ cost });
    } else {
      this.#correct(stay, cost - this.#prepaid);
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
    const stay = this.#stay ?? this.#enter({ cost: this.#queue.costs.usualMs, isCharged: true });
    return await stay.slot;
  }

  /** Called when a worker begins with a step. From then on, the render is charged for the time. */
  begin(): void {
    if (this.#stay) this.#stay.begunAt ??= this.#queue.now();
  }

  /** Calls `onOver` once, when the render has given way to other accounts. Returns a function that ends the watch. */
  watchTurn(onOver: () => void): () => void {
    const timer = setInterval(() => {
      if (!this.isTurnOver) return;
      clearInterval(timer);
      onOver();
      this.giveWay();
    }, TURN_CHECK_MS);
    return () => clearInterval(timer);
  }

  /** True if the render takes much longer than estimated while its account holds all slots and others wait. */
  get isTurnOver(): boolean {
    const stay = this.#stay;
    if (stay === undefined || this.#hasYielded || this.#request.signal.aborted) return false;
    const turnMs = Math.max(MIN_TURN_MS, stay.chargedMs * TURN_FACTOR);
    return this.#heldMs(stay) >= turnMs && this.#queue.mustYield(stay.entry);
  }

  /** Gives the slot to others and waits for its next turn. From here on, the account doesn't hold all slots. */
  giveWay(): void {
    const { entry, chargedMs } = must(this.#stay, 'the stay of a render that gives way');
    this.#hasYielded = true;
    this.leave();
    this.#enter({ cost: chargedMs || entry.cost, hasYielded: true });
  }

  /** Gives the slot back, or stops waiting for one. The next step waits again. */
  leave(): void {
    const stay = this.#stay;
    if (stay === undefined) return;
    this.#stay = undefined;
    this.#prepaid = 0;
    const { entry, slot } = stay;
    // A waiting entry is rejected, and a served one is released.
    this.#queue.withdraw(entry, this.#request.signal.reason);
    slot.then(
      (held) => {
        this.#settle(stay);
        this.#queue.release(entry, held);
      },
      () => this.#settle(stay),
    );
  }

  get #budgetMs(): number {
    return this.#request.budgetMs[this.#queue.kind];
  }

  #enter(entry: Pick<QueueEntry, 'cost' | 'isCharged' | 'hasYielded'>): Stay<Slot> {
    const { account, class: leaseClass, signal } = this.#request;
    const entered = { ...entry, isLong: this.#isLong, account, class: leaseClass, budgetMs: this.#budgetMs };
    const stay: Stay<Slot> = { entry: entered, slot: this.#queue.enter(entered, signal), chargedMs: 0 };
    this.#stay = stay;
    stay.slot.then(
      () => {
        this.#isCharged = true;
        if (!entered.isCharged) stay.chargedMs += entered.cost;
      },
      // The step that needs the slot sees the error.
      () => undefined,
    );
    return stay;
  }

  #correct(stay: Stay<Slot>, difference: number): void {
    this.#queue.correct(stay.entry, difference);
    stay.chargedMs += difference;
  }

  /** Replaces the estimates by the time that a worker was held. */
  #settle(stay: Stay<Slot>): void {
    this.#queue.settle(stay.entry, this.#heldMs(stay) - stay.chargedMs);
  }

  #heldMs({ begunAt }: Stay<Slot>): number {
    return begunAt === undefined ? 0 : this.#queue.now() - begunAt;
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

// Who may put a ticket on the queue next. Tickets are taken in the order they come, by whoever is free, so fairness between
// accounts is decided before: a front lets only so many be out at once and keeps the others in line here.

import type { AssetKind } from '../../../media/sniff.ts';
import { FairQueue } from '../../fair-queue.ts';
import type { Share } from '../../renderer.ts';

/** Given back when the session is over. */
export type Permit = () => void;

/** Whoever does not say waits with all the others who do not, as long as it takes. */
const ANYBODY: Share = { account: '', budgetMs: Number.POSITIVE_INFINITY };
/** Before anything was learnt. */
const FIRST_GUESS_MS: Readonly<Record<AssetKind, number>> = { image: 100, video: 5_000 };
const LEARNING = 0.1;
/** Beyond two for every slot: so that even with no worker there is something an autoscaler can see. */
const LEAST_OUT = 2;

export class Permits {
  readonly #slots: () => number;
  readonly #queue: FairQueue<symbol>;
  /** Permits there are, given out or free. */
  readonly #all = new Set<symbol>();
  #typicalMs: number;

  /** `slots`: how many renders workers elsewhere can do at once. */
  constructor(kind: AssetKind, slots: () => number, maxWaiting: number) {
    this.#slots = slots;
    this.#typicalMs = FIRST_GUESS_MS[kind];
    this.#queue = new FairQueue(slots, maxWaiting);
    this.adjust();
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  get backlogMs(): number {
    return Math.round(this.#queue.backlogMs);
  }

  /** Workers came or left. */
  adjust(): void {
    while (this.#all.size < this.#wanted()) {
      const permit = Symbol('permit');
      this.#all.add(permit);
      this.#queue.put(permit);
    }
  }

  assertRoom(account: string): void {
    this.#queue.assertRoom(account);
  }

  async take(signal: AbortSignal, share: Share = ANYBODY): Promise<Permit> {
    const permit = await this.#queue.take(signal, { ...share, cost: this.#typicalMs });
    const since = performance.now();
    return () => {
      this.#typicalMs += LEARNING * (performance.now() - since - this.#typicalMs);
      // One for whom there is no worker any more is not given out again.
      if (this.#all.size > this.#wanted()) this.#all.delete(permit);
      else this.#queue.put(permit);
    };
  }

  rejectWaiting(reason: Error): void {
    this.#queue.rejectWaiting(reason);
  }

  /** As many again as can be rendered lie on the broker's queue, where every worker and autoscaler sees them. */
  #wanted(): number {
    return this.#slots() * 2 + LEAST_OUT;
  }
}

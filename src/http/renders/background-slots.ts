// Which asynchronous renders may use a worker now. They take workers that no other request needs. While all are needed, they
// get a tenth of the workers' time: after a render, the next one waits until the others have had nine times as much. One
// video worker stays free, because a video can keep its worker busy for minutes.

import { setTimeout as wait } from 'node:timers/promises';
import type { RendererStatus } from '../../dispatch/renderer.ts';
import type { AssetKind } from '../../media/sniff.ts';

const MIN_SHARE = 0.1;
const KEPT_FREE: Readonly<Record<AssetKind, number>> = { image: 0, video: 1 };
const CHECK_MS = 50;

interface KindState {
  running: number;
  /** Until then, the share is used up. */
  paidAt: number;
}

/** How a render may start: on a worker that is free, or at the expense of other requests. */
type Start = 'free' | 'shared';

export interface BackgroundClock {
  now(): number;
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

const SYSTEM_CLOCK: BackgroundClock = {
  now: () => performance.now(),
  wait: async (milliseconds, signal) => await wait(milliseconds, undefined, { signal }),
};

export class BackgroundSlots {
  readonly #status: () => Pick<RendererStatus, 'images' | 'videos'>;
  readonly #clock: BackgroundClock;
  readonly #states: Readonly<Record<AssetKind, KindState>> = {
    image: { running: 0, paidAt: 0 },
    video: { running: 0, paidAt: 0 },
  };

  constructor(status: () => Pick<RendererStatus, 'images' | 'videos'>, clock = SYSTEM_CLOCK) {
    this.#status = status;
    this.#clock = clock;
  }

  /** Workers of a kind, and at least one, so that a render is claimed even while all of them restart. */
  total(kind: AssetKind): number {
    return Math.max(1, this.#pool(kind).ready);
  }

  async run<Result>(kind: AssetKind, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    signal.throwIfAborted();
    let start = this.#startNow(kind);
    while (start === undefined) {
      await this.#clock.wait(CHECK_MS, signal).catch(() => signal.throwIfAborted());
      start = this.#startNow(kind);
    }
    const state = this.#states[kind];
    const startedAt = this.#clock.now();
    state.running += 1;
    try {
      return await work();
    } finally {
      state.running -= 1;
      if (start === 'shared') this.#pay(kind, startedAt);
    }
  }

  #startNow(kind: AssetKind): Start | undefined {
    const { ready, busy, waiting } = this.#pool(kind);
    const { running, paidAt } = this.#states[kind];
    const others = Math.max(0, busy - running) + waiting;
    if (running < ready - others - KEPT_FREE[kind]) return 'free';
    if (running >= minSlots(ready)) return undefined;
    if (others + running < ready) return 'free';
    return this.#clock.now() >= paidAt ? 'shared' : undefined;
  }

  /** The share of all workers pays for what the render has used. */
  #pay(kind: AssetKind, startedAt: number): void {
    const state = this.#states[kind];
    const usedMs = this.#clock.now() - startedAt;
    state.paidAt = Math.max(state.paidAt, startedAt) + usedMs / (MIN_SHARE * this.total(kind));
  }

  #pool(kind: AssetKind): RendererStatus['images'] {
    const { images, videos } = this.#status();
    return kind === 'image' ? images : videos;
  }
}

function minSlots(ready: number): number {
  return Math.max(1, Math.ceil(ready * MIN_SHARE));
}

// The time of a frame in whole milliseconds since the first frame that is shown. Computed from the timestamps of the
// source, so it is the same in every container and at every frame rate.

import { avRescaleQ } from 'node-av/lib';
import type { Ratio } from './geometry.ts';

/** A timestamp and the unit it is in. */
export interface Timestamp {
  readonly pts: bigint;
  readonly timeBase: Ratio;
}

export class FrameClock {
  #first: Timestamp | undefined;

  /** By default, the first frame it sees is the first that is shown. */
  constructor(first?: Timestamp) {
    this.#first = first;
  }

  millisecondsAt({ pts, timeBase }: Timestamp): number {
    this.#first ??= { pts, timeBase };
    const ticks = pts - avRescaleQ(this.#first.pts, this.#first.timeBase, timeBase);
    return Math.round((Number(ticks) * 1_000 * timeBase.num) / timeBase.den);
  }
}

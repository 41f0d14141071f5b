// Drops frames of a video whose frame rate is over the limit. The kept frames are evenly spaced in time, also when the
// source recorded with a variable rate.

import { AV_NOPTS_VALUE } from 'node-av/constants';
import type { TranscodePlan } from '../transcode-plan.ts';

export class FrameThinning {
  readonly #frameStep: number;
  readonly #ticksPerKept: number;
  readonly #start: number;
  #slot = -1;

  constructor({ frameStep, frameRate, video }: Pick<TranscodePlan, 'frameStep' | 'frameRate' | 'video'>) {
    const ticksPerSecond = video.timeBase.den / video.timeBase.num;
    this.#frameStep = frameStep;
    this.#ticksPerKept = ticksPerSecond / Math.max(frameRate, 1);
    this.#start = video.start * ticksPerSecond;
  }

  /** Keeps the first frame of each slot. Half a source frame of tolerance absorbs timestamps that jitter. */
  keeps(pts: bigint): boolean {
    if (this.#frameStep === 1 || pts === AV_NOPTS_VALUE) return true;
    const slot = Math.floor((Number(pts) - this.#start) / this.#ticksPerKept + 0.5 / this.#frameStep);
    if (slot <= this.#slot) return false;
    this.#slot = slot;
    return true;
  }
}

// Tracks the segments of a video: free ones, finished ones, and those that take suspiciously long. The caller passes
// the current time.

import { must } from '../../../primitives/must.ts';

interface SegmentState {
  readonly frames: number;
  /** The number of workers that render it. */
  workers: number;
  since: number;
  isDone: boolean;
}

/** A segment is slow when it takes more than twice as long as the others. A smaller difference may be chance. */
const SLOW_FACTOR = 2;
/** No segment counts as slow before this time. */
const MIN_SLOW_MS = 2_000;

export class SegmentBoard {
  readonly #segments: readonly SegmentState[];
  /** One entry for each finished segment. */
  readonly #msPerFrame: number[] = [];

  constructor(frames: readonly number[]) {
    this.#segments = frames.map((count) => ({ frames: count, workers: 0, since: 0, isDone: false }));
  }

  get isComplete(): boolean {
    return this.#segments.every(({ isDone }) => isDone);
  }

  /** Returns the next segment without a worker. */
  take(now: number): number | undefined {
    return this.#takeFirst(({ workers }) => workers === 0, now);
  }

  /**
   * Returns a segment whose only worker takes much longer than the finished ones did, because a second worker may be
   * faster.
   */
  takeSlow(now: number): number | undefined {
    if (this.#msPerFrame.length === 0) return undefined;
    const usual = median(this.#msPerFrame);
    const isSlow = ({ frames, workers, since }: SegmentState): boolean =>
      workers === 1 && now - since > Math.max(MIN_SLOW_MS, SLOW_FACTOR * usual * frames);
    return this.#takeFirst(isSlow, now);
  }

  /** Releases a segment that a worker has given up. */
  release(index: number): void {
    const segment = this.#segments[index];
    if (segment && !segment.isDone) segment.workers -= 1;
  }

  /** Returns false when another worker was faster. */
  finish(index: number, tookMs: number): boolean {
    const segment = this.#segments[index];
    if (segment === undefined || segment.isDone) return false;
    segment.isDone = true;
    this.#msPerFrame.push(tookMs / Math.max(1, segment.frames));
    return true;
  }

  #takeFirst(isSuitable: (segment: SegmentState) => boolean, now: number): number | undefined {
    const index = this.#segments.findIndex((segment) => !segment.isDone && isSuitable(segment));
    const segment = this.#segments[index];
    if (segment === undefined) return undefined;
    segment.workers += 1;
    segment.since = now;
    return index;
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return must(sorted[Math.floor(sorted.length / 2)], 'the median of an empty list');
}

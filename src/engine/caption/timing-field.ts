// The `start` and `end` of an overlay in a video.

import type { Overlay } from './overlay.ts';

/** Seconds from the first frame. A bar is shown from `start` on, until just before `end`. */
export type ShownTimes = Pick<Overlay, 'start' | 'end'>;

export function isTimed({ start, end }: ShownTimes): boolean {
  return start !== undefined || end !== undefined;
}

/** Removes the times for still images, where all bars are shown at once. */
export function withoutTimes<Item extends ShownTimes>({
  start: _start,
  end: _end,
  ...rest
}: Item): Omit<Item, keyof ShownTimes> {
  return rest;
}

/** Returns whether a bar is shown in a frame at this time. */
export function isShownAt({ start = 0, end = Number.POSITIVE_INFINITY }: ShownTimes, milliseconds: number): boolean {
  // Dividing gives the number that JSON gives for the same decimal digits. Multiplying might not.
  const seconds = milliseconds / 1_000;
  return start <= seconds && seconds < end;
}

/** Returns whether there is a time at which both bars are shown. */
export function areShownTogether(one: ShownTimes, other: ShownTimes): boolean {
  return (
    (one.start ?? 0) < (other.end ?? Number.POSITIVE_INFINITY) &&
    (other.start ?? 0) < (one.end ?? Number.POSITIVE_INFINITY)
  );
}

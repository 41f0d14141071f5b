// The `start` and `end` of an overlay in a video.

import type { FieldFault } from '../errors.ts';
import { typeName } from './quote.ts';
import type { Overlay } from './overlay.ts';

/** Seconds from the first frame. A bar is shown from `start` on, until just before `end`. */
export type ShownTimes = Pick<Overlay, 'start' | 'end'>;

export function parseTimes(item: object, pointer: string, faults: FieldFault[]): ShownTimes {
  const start = parseTime('start' in item ? item.start : undefined, 'Start', `${pointer}/start`, faults);
  const end = parseTime('end' in item ? item.end : undefined, 'End', `${pointer}/end`, faults);
  if (end !== undefined && end <= (start ?? 0)) {
    const detail = `End must be later than start (${start ?? 0}); got ${end}.`;
    faults.push({ pointer: `${pointer}/end`, code: 'out_of_range', detail });
  }
  return { ...(start !== undefined && { start }), ...(end !== undefined && { end }) };
}

/** Rejects numeric strings, as `position` does. */
function parseTime(value: unknown, label: string, pointer: string, faults: FieldFault[]): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number') {
    faults.push({
      pointer,
      code: 'wrong_type',
      detail: `${label} must be a number of seconds; got ${typeName(value)}.`,
    });
    return undefined;
  }
  // JSON has no Infinity, but 1e999 becomes one.
  if (Number.isFinite(value) && value >= 0) return value;
  faults.push({ pointer, code: 'out_of_range', detail: `${label} must be at least 0 seconds; got ${value}.` });
  return undefined;
}

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

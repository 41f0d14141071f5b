// When the keyframes of a video are shown, so that the work for one of its frames is known in advance.

import type { Ratio } from '../frames/geometry.ts';

/** Metadata of one packet of the video stream. */
export interface PacketInfo {
  readonly pts: number | undefined;
  readonly isKey: boolean;
  /** False for packets that the edit list hides: decoded because later frames depend on them. */
  readonly isShown: boolean;
}

interface ShownSpan {
  /** In seconds. */
  readonly start: number;
  readonly end: number;
  readonly timeBase: Ratio;
}

/** The length of a part, in seconds. */
const MIN_PART_SECONDS = 1;
const MAX_PARTS = 500;

/**
 * Returns times in seconds after the first frame. Of each second, or longer part of a long video, only the first and the
 * last keyframe are listed, so the list is short and the time from a keyframe to a frame is never wrong by more than that.
 */
export function keyframeTimes(packets: readonly PacketInfo[], { start, end, timeBase }: ShownSpan): readonly number[] {
  const times = packets
    .flatMap(({ pts, isKey, isShown }) => (isKey && isShown && pts !== undefined ? [pts] : []))
    .map((pts) => Math.max(0, (pts * timeBase.num) / timeBase.den - start))
    .toSorted((a, b) => a - b);
  const length = Math.max(MIN_PART_SECONDS, (end - start) / MAX_PARTS);
  const partOf = (time: number | undefined): number => (time === undefined ? -1 : Math.floor(time / length));
  return times.filter((time, index) => {
    const part = partOf(time);
    return part !== partOf(times[index - 1]) || part !== partOf(times[index + 1]);
  });
}

// Finds where a video can be cut, so that both sides can be decoded by themselves. Works on packet metadata only: packets are
// numbered in file order, and times are ticks of the source's time base. A frame belongs to the side that contains its
// presentation time. Frames of an open GOP that are shown before their keyframe therefore belong to the side before it.

import { must } from '../../../primitives/must.ts';

/** Metadata of one packet of the video stream. */
export interface PacketInfo {
  readonly pts: number | undefined;
  readonly isKey: boolean;
  /** False for packets that the edit list hides: decoded because later frames depend on them. */
  readonly isShown: boolean;
}

/** A keyframe where the video can be cut. */
export interface Cut {
  /** Frames from this time on come after the cut. */
  readonly pts: number;
  /** The number of frames before the cut. */
  readonly frames: number;
  /** Decoding what comes after the cut starts at this packet, a keyframe before the one of the cut. */
  readonly decodeFrom: number;
  /** Decoding what comes before the cut ends before this packet. */
  readonly decodeTo: number;
}

/** Bounds the size of a probe, and the time it takes to choose cuts from it. */
export const MAX_CUTS = 500;

/**
 * Decoding starts at least this many packets before a cut. A decoder may hold back at most this many frames for
 * reordering, and frames that it can't decode right after its first keyframe are shown before that point.
 */
const PREROLL_PACKETS = 16;

/** Returns up to `MAX_CUTS` cuts in order of time, at least `spacing` ticks apart; none if timestamps are ambiguous. */
export function findCuts(packets: readonly PacketInfo[], spacing: number): readonly Cut[] {
  const shown = shownByTime(packets);
  if (shown === undefined || Number.isNaN(spacing)) return [];
  const lastPacketUpTo = runningMax(shown.map(({ at }) => at));
  const firstPacketFrom = suffixMin(shown.map(({ at }) => at));
  const keyframes = packets.flatMap(({ isKey }, at) => (isKey ? [at] : []));
  const cuts: Cut[] = [];
  let earliest = Number.NEGATIVE_INFINITY;
  let keyframe = 0;
  for (const [frames, { pts, at }] of shown.entries()) {
    // All frames after the cut must follow the keyframe in the file, or a decoder that starts there would miss them.
    if (frames === 0 || packets[at]?.isKey !== true || firstPacketFrom[frames] !== at || pts < earliest) continue;
    while ((keyframes[keyframe + 1] ?? Number.POSITIVE_INFINITY) <= at - PREROLL_PACKETS) keyframe += 1;
    const decodeFrom = must(keyframes[keyframe], 'the keyframe before the cut');
    if (decodeFrom > at - PREROLL_PACKETS) continue;
    cuts.push({ pts, frames, decodeFrom, decodeTo: must(lastPacketUpTo[frames - 1], 'the packet before the cut') + 1 });
    if (cuts.length === MAX_CUTS) break;
    earliest = pts + spacing;
  }
  return cuts;
}

/**
 * Returns shown frames in order of time, each with its packet, or `undefined` when a timestamp is missing or repeated.
 */
function shownByTime(packets: readonly PacketInfo[]): readonly { pts: number; at: number }[] | undefined {
  const shown: { pts: number; at: number }[] = [];
  for (const [at, { pts, isShown }] of packets.entries()) {
    if (!isShown) continue;
    if (pts === undefined) return undefined;
    shown.push({ pts, at });
  }
  shown.sort((a, b) => a.pts - b.pts);
  return shown.some(({ pts }, index) => pts === shown[index + 1]?.pts) ? undefined : shown;
}

/** Returns the maximum up to each index. */
function runningMax(numbers: readonly number[]): readonly number[] {
  let max = Number.NEGATIVE_INFINITY;
  return numbers.map((number) => (max = Math.max(max, number)));
}

/** Returns the minimum from each index on. */
function suffixMin(numbers: readonly number[]): readonly number[] {
  let min = Number.POSITIVE_INFINITY;
  return numbers
    .toReversed()
    .map((number) => (min = Math.min(min, number)))
    .toReversed();
}

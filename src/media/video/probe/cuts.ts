// Finds where a video can be cut into segments that are rendered separately and joined afterwards. Works on packet
// metadata only: packets are numbered in file order, and times are ticks of the source's time base. A frame belongs to
// the segment that contains its presentation time. Frames of an open GOP that are shown before their keyframe therefore
// belong to the segment before it.

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
  /** Frames from this time on belong to the segment after the cut. */
  readonly pts: number;
  /** The number of frames before the cut. */
  readonly frames: number;
  /** Decoding for the segment after the cut starts at this packet, a keyframe before the one of the cut. */
  readonly decodeFrom: number;
  /** Decoding for the segment before the cut ends before this packet. */
  readonly decodeTo: number;
}

/** `null` stands for the start or the end of the file. */
export interface VideoSegment {
  readonly from: number | null;
  readonly to: number | null;
  readonly decodeFrom: number;
  readonly decodeTo: number | null;
  readonly frames: number;
}

/** Bounds the size of a probe, and the time it takes to plan segments from it. */
export const MAX_CUTS = 500;

/**
 * Decoding starts at least this many packets before a cut. That is the most frames a decoder may hold back for
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

/** The whole video. */
export interface VideoSpan {
  /** In ticks. */
  readonly start: number;
  readonly end: number;
  readonly frames: number;
}

/** With a longer segment, the other segments finish early and little time is saved. */
const MAX_SEGMENT_SHARE = 0.75;

/**
 * Plans at least two segments of about `length` ticks. Returns `undefined` when the video is too short, its keyframes
 * are too far apart, or the numbers make no sense. A file or a remote worker supplies them, so no value may make this
 * slow.
 */
export function planSegments(
  cuts: readonly Cut[],
  { start, end, frames }: VideoSpan,
  length: number,
): readonly VideoSegment[] | undefined {
  const duration = end - start;
  const count = Math.min(Math.floor(duration / length), MAX_CUTS + 1);
  if (!Number.isFinite(duration) || !(count >= 2) || cuts.length > MAX_CUTS) return undefined;
  const selected: Cut[] = [];
  for (let index = 1; index < count; index += 1) {
    const nearest = nearestTo(start + (duration * index) / count, cuts);
    const previousFrames = selected.at(-1)?.frames ?? 0;
    if (nearest !== undefined && nearest.frames > previousFrames && nearest.frames < frames) selected.push(nearest);
  }
  const bounds = [start, ...selected.map(({ pts }) => pts), end];
  const longest = Math.max(...bounds.slice(1).map((bound, index) => bound - must(bounds[index], 'the previous bound')));
  // A NaN fails this comparison as well.
  return longest <= duration * MAX_SEGMENT_SHARE ? segmentsBetween(selected, frames) : undefined;
}

export function segmentsBetween(cuts: readonly Cut[], frames: number): readonly VideoSegment[] {
  return [undefined, ...cuts].map((first, index) => {
    const next = cuts[index];
    return {
      from: first?.pts ?? null,
      to: next?.pts ?? null,
      decodeFrom: first?.decodeFrom ?? 0,
      decodeTo: next?.decodeTo ?? null,
      frames: (next?.frames ?? frames) - (first?.frames ?? 0),
    };
  });
}

/** Shown frames in order of time, each with its packet. Returns `undefined` when a timestamp is missing or repeated. */
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

/** At each index, the maximum up to it. */
function runningMax(numbers: readonly number[]): readonly number[] {
  let max = Number.NEGATIVE_INFINITY;
  return numbers.map((number) => (max = Math.max(max, number)));
}

/** At each index, the minimum from it on. */
function suffixMin(numbers: readonly number[]): readonly number[] {
  let min = Number.POSITIVE_INFINITY;
  return numbers
    .toReversed()
    .map((number) => (min = Math.min(min, number)))
    .toReversed();
}

function nearestTo(pts: number, cuts: readonly Cut[]): Cut | undefined {
  let nearest: Cut | undefined;
  for (const cut of cuts) {
    if (nearest === undefined || Math.abs(cut.pts - pts) < Math.abs(nearest.pts - pts)) nearest = cut;
  }
  return nearest;
}

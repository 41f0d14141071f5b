// Plans the segments of a video, which several workers render separately and one of them joins.

import { must } from '../../../primitives/must.ts';
import { type Cut, MAX_CUTS } from '../probe/cuts.ts';
import type { VideoSource } from '../probe/probe.ts';

/** `null` stands for the start or the end of the file. */
export interface VideoSegment {
  readonly from: number | null;
  readonly to: number | null;
  readonly decodeFrom: number;
  readonly decodeTo: number | null;
  readonly frames: number;
}

/** Plans segments of about this many seconds. Returns `undefined` for a video that should be rendered as a whole. */
export function segmentsOf(
  { cuts, video }: { readonly cuts: readonly Cut[]; readonly video: VideoSource },
  seconds: number,
): readonly VideoSegment[] | undefined {
  const ticksPerSecond = video.timeBase.den / video.timeBase.num;
  const span = { start: video.start * ticksPerSecond, end: video.end * ticksPerSecond, frames: video.frames };
  return planSegments(cuts, span, seconds * ticksPerSecond);
}

/** The whole video. */
export interface VideoSpan {
  /** The start in ticks. */
  readonly start: number;
  readonly end: number;
  readonly frames: number;
}

/** With a longer segment, the other segments would finish early and little time would be saved. */
const MAX_SEGMENT_SHARE = 0.75;

/**
 * Plans at least two segments of about `length` ticks. Returns `undefined` when the video is too short, its keyframes
 * are too far apart, or the numbers make no sense. The numbers come from a file or a remote worker, so no value may
 * make this slow.
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

function nearestTo(pts: number, cuts: readonly Cut[]): Cut | undefined {
  let nearest: Cut | undefined;
  for (const cut of cuts) {
    if (nearest === undefined || Math.abs(cut.pts - pts) < Math.abs(nearest.pts - pts)) nearest = cut;
  }
  return nearest;
}

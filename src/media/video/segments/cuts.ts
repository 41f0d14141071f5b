// Where a video can be cut so that its stretches can be rendered apart and laid end to end: pure numbers about packets.
// Packets are counted as they lie in the file; times are ticks of the source's own clock. A frame belongs to the stretch
// its time falls into, wherever its packet lies: frames of an open group that are shown before their keyframe belong to
// the stretch before it.

/** One packet of the video stream, as it was read. */
export interface PacketInfo {
  readonly pts: number | undefined;
  readonly isKey: boolean;
  /** False for what an edit list hides: decoded for the sake of its successors. */
  readonly isShown: boolean;
}

/** A keyframe to cut at. */
export interface Cut {
  /** Frames from this time on come after the cut. */
  readonly pts: number;
  /** Frames before it. */
  readonly frames: number;
  /** Whoever wants what comes after begins to decode with this packet: a keyframe before the cut's own. */
  readonly decodeFrom: number;
  /** Whoever wants what comes before needs no packet from this one on. */
  readonly decodeTo: number;
}

/** One stretch; `null` is the beginning or the end of the file. */
export interface VideoSegment {
  readonly from: number | null;
  readonly to: number | null;
  readonly decodeFrom: number;
  readonly decodeTo: number | null;
  readonly frames: number;
}

/**
 * A decoder needs this many packets to have learnt the order of its frames, the most it may have to hold back; and whatever
 * it cannot decode after its first keyframe is shown before that.
 */
const PREROLL_PACKETS = 16;

/** In order of time, and not closer together than `spacing` ticks. None when the file's times leave any doubt. */
export function findCuts(packets: readonly PacketInfo[], spacing: number): readonly Cut[] {
  const shown = shownByTime(packets);
  if (shown === undefined) return [];
  const lastUpTo = runningMax(shown.map(({ at }) => at));
  const firstFrom = suffixMin(shown.map(({ at }) => at));
  const keys = packets.flatMap(({ isKey }, at) => (isKey ? [at] : []));
  const cuts: Cut[] = [];
  let earliest = Number.NEGATIVE_INFINITY;
  let key = 0;
  for (const [frames, { pts, at }] of shown.entries()) {
    // What comes after must lie behind the keyframe, or whoever begins there would miss it.
    if (frames === 0 || packets[at]?.isKey !== true || firstFrom[frames] !== at || pts < earliest) continue;
    while ((keys[key + 1] ?? Number.POSITIVE_INFINITY) <= at - PREROLL_PACKETS) key += 1;
    const decodeFrom = keys[key] ?? at;
    if (decodeFrom > at - PREROLL_PACKETS) continue;
    cuts.push({ pts, frames, decodeFrom, decodeTo: (lastUpTo[frames - 1] ?? at) + 1 });
    earliest = pts + spacing;
  }
  return cuts;
}

export interface VideoSpan {
  /** Of the whole video, in ticks. */
  readonly start: number;
  readonly end: number;
  readonly frames: number;
}

/** A segment that is much of the whole keeps everybody waiting, whatever the others do. */
const MAX_SEGMENT_SHARE = 0.75;

/** Segments of about `length` ticks, at least two; `undefined` when the video is too short or its keyframes too far apart. */
export function planSegments(
  cuts: readonly Cut[],
  { start, end, frames }: VideoSpan,
  length: number,
): readonly VideoSegment[] | undefined {
  const whole = end - start;
  const wanted = Math.floor(whole / length);
  if (!(wanted >= 2)) return undefined;
  const chosen: Cut[] = [];
  for (let index = 1; index < wanted; index += 1) {
    const nearest = nearestTo(start + (whole * index) / wanted, cuts);
    if (nearest !== undefined && nearest.frames > (chosen.at(-1)?.frames ?? 0)) chosen.push(nearest);
  }
  const bounds = [start, ...chosen.map(({ pts }) => pts), end];
  const longest = Math.max(...bounds.slice(1).map((bound, index) => bound - (bounds[index] ?? start)));
  return longest > whole * MAX_SEGMENT_SHARE ? undefined : segmentsBetween(chosen, frames);
}

export function segmentsBetween(cuts: readonly Cut[], frames: number): readonly VideoSegment[] {
  return [undefined, ...cuts].map((begin, index) => {
    const end = cuts[index];
    return {
      from: begin?.pts ?? null,
      to: end?.pts ?? null,
      decodeFrom: begin?.decodeFrom ?? 0,
      decodeTo: end?.decodeTo ?? null,
      frames: (end?.frames ?? frames) - (begin?.frames ?? 0),
    };
  });
}

/** Shown frames in order of time, each with its packet; `undefined` when one has no time or two have the same. */
function shownByTime(packets: readonly PacketInfo[]): readonly { pts: number; at: number }[] | undefined {
  const shown: { pts: number; at: number }[] = [];
  for (const [at, { pts, isShown }] of packets.entries()) {
    if (!isShown) continue;
    if (pts === undefined) return undefined;
    shown.push({ pts, at });
  }
  shown.sort((one, other) => one.pts - other.pts);
  return shown.some(({ pts }, index) => pts === shown[index + 1]?.pts) ? undefined : shown;
}

/** The largest of the numbers so far, at every place. */
function runningMax(numbers: readonly number[]): readonly number[] {
  let most = Number.NEGATIVE_INFINITY;
  return numbers.map((number) => (most = Math.max(most, number)));
}

/** The smallest of the numbers from here on, at every place. */
function suffixMin(numbers: readonly number[]): readonly number[] {
  let least = Number.POSITIVE_INFINITY;
  return numbers
    .toReversed()
    .map((number) => (least = Math.min(least, number)))
    .toReversed();
}

function nearestTo(pts: number, cuts: readonly Cut[]): Cut | undefined {
  let nearest: Cut | undefined;
  for (const cut of cuts) {
    if (nearest === undefined || Math.abs(cut.pts - pts) < Math.abs(nearest.pts - pts)) nearest = cut;
  }
  return nearest;
}

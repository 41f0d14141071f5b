// Wraps measured segments into as few lines as possible, and among those ways chooses the one with the lowest penalties.
// The lines are then balanced by making them as narrow as that allows, and a single word on the last line is avoided.

import { must } from '../../shared/must.ts';

export interface WrapSegment {
  /** The range in the paragraph, including trailing spaces. */
  readonly start: number;
  readonly end: number;
  readonly width: number;
  /** Additional width when the line continues: that of its spaces, or negative when a soft hyphen disappears. */
  readonly spaceWidth: number;
  /** The cost of ending a line after this segment; see `break-penalties.ts`. */
  readonly penalty: number;
}

/** A line is a range of segments. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

/** A difference in pixels that isn't visible. It ends the bisection after about ten steps. */
const PRECISION = 0.5;
/** A line costs more than the penalties of all breaks in the longest caption. */
const LINE_COST = 10_000;

export function wrapBalanced(segments: readonly WrapSegment[], maxWidth: number): LineRange[] {
  const costs = Array.from({ length: segments.length + 1 }, () => 0);
  const ends = segments.map(() => 0);
  const cheapest = wrapCheapest(segments, maxWidth, costs, ends);
  const lines = linesOf(ends);
  if (lines.length < 2) return lines;
  let tooNarrow = Math.max(...segments.map((segment) => segment.width)) - PRECISION;
  let wide = maxWidth;
  while (wide - tooNarrow > PRECISION) {
    const middle = (wide + tooNarrow) / 2;
    if (wrapCheapest(segments, middle, costs, ends) <= cheapest) wide = middle;
    else tooNarrow = middle;
  }
  wrapCheapest(segments, wide, costs, ends);
  return withoutOrphan(segments, linesOf(ends), maxWidth);
}

/** Moves a word down to a last line that has only one, if both lines then fit and differ less in width. */
function withoutOrphan(segments: readonly WrapSegment[], lines: readonly LineRange[], maxWidth: number): LineRange[] {
  const [before, last] = lines.slice(-2);
  if (!before || !last || last.first < last.last || before.first === before.last) return [...lines];
  const shorter = { ...before, last: before.last - 1 };
  const longer = { ...last, first: before.last };
  const penaltyAfter = ({ last: index }: LineRange): number => must(segments[index], 'the last segment').penalty;
  if (penaltyAfter(shorter) > penaltyAfter(before)) return [...lines];
  const gapBetween = (a: LineRange, b: LineRange): number => Math.abs(widthOf(segments, a) - widthOf(segments, b));
  const isBetter = widthOf(segments, longer) <= maxWidth && gapBetween(shorter, longer) < gapBetween(before, last);
  return isBetter ? [...lines.slice(0, -2), shorter, longer] : [...lines];
}

function widthOf(segments: readonly WrapSegment[], { first, last }: LineRange): number {
  const full = segments.slice(first, last + 1).reduce((sum, { width, spaceWidth }) => sum + width + spaceWidth, 0);
  return full - must(segments[last], 'the last segment').spaceWidth;
}

/**
 * Determines for each segment, from the end to the start, the cost of the rest if a line starts there (`costs`), and
 * where that line ends (`ends`). Equal costs give the fuller line. Returns the total cost.
 */
function wrapCheapest(segments: readonly WrapSegment[], maxWidth: number, costs: number[], ends: number[]): number {
  for (let first = segments.length - 1; first >= 0; first -= 1) {
    let cost = Number.POSITIVE_INFINITY;
    let lineWidth = 0;
    for (let last = first; last < segments.length; last += 1) {
      const { width, spaceWidth, penalty } = segments[last] as WrapSegment;
      if (last > first && lineWidth + width > maxWidth) break;
      const total = LINE_COST + penalty + (costs[last + 1] as number);
      if (total <= cost) {
        cost = total;
        ends[first] = last;
      }
      lineWidth += width + spaceWidth;
    }
    costs[first] = cost;
  }
  return costs[0] ?? 0;
}

function linesOf(ends: readonly number[]): LineRange[] {
  const lines: LineRange[] = [];
  for (let first = 0; first < ends.length; ) {
    const last = must(ends[first], 'the end of the line');
    lines.push({ first, last });
    first = last + 1;
  }
  return lines;
}

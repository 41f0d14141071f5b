// Wraps measured segments into lines. Greedy wrapping determines the number of lines. The lines are then balanced by
// making them as narrow as that number allows, and a single word on the last line is avoided.

import { must } from '../primitives/must.ts';

export interface WrapSegment {
  /** The range in the paragraph, including trailing spaces. */
  readonly start: number;
  readonly end: number;
  readonly width: number;
  /** Additional width when the line continues: that of its spaces, or negative when a soft hyphen disappears. */
  readonly spaceWidth: number;
}

/** A line is a range of segments. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

/** In pixels. Not visible, and ends the bisection after about ten steps. */
const PRECISION = 0.5;

export function wrapBalanced(segments: readonly WrapSegment[], maxWidth: number): LineRange[] {
  const greedy = wrapGreedy(segments, maxWidth);
  if (greedy.length < 2) return greedy;
  let tooNarrow = Math.max(...segments.map((segment) => segment.width)) - PRECISION;
  let wide = maxWidth;
  let best = greedy;
  while (wide - tooNarrow > PRECISION) {
    const middle = (wide + tooNarrow) / 2;
    const lines = wrapGreedy(segments, middle);
    if (lines.length <= greedy.length) {
      best = lines;
      wide = middle;
    } else {
      tooNarrow = middle;
    }
  }
  return withoutOrphan(segments, best, maxWidth);
}

/** Moves a word down to a last line that has only one, if both lines then fit and differ less in width. */
function withoutOrphan(segments: readonly WrapSegment[], lines: readonly LineRange[], maxWidth: number): LineRange[] {
  const [before, last] = lines.slice(-2);
  if (!before || !last || last.first < last.last || before.first === before.last) return [...lines];
  const shorter = { ...before, last: before.last - 1 };
  const longer = { ...last, first: before.last };
  const gapBetween = (a: LineRange, b: LineRange): number => Math.abs(widthOf(segments, a) - widthOf(segments, b));
  const isBetter = widthOf(segments, longer) <= maxWidth && gapBetween(shorter, longer) < gapBetween(before, last);
  return isBetter ? [...lines.slice(0, -2), shorter, longer] : [...lines];
}

function widthOf(segments: readonly WrapSegment[], { first, last }: LineRange): number {
  const full = segments.slice(first, last + 1).reduce((sum, { width, spaceWidth }) => sum + width + spaceWidth, 0);
  return full - must(segments[last], 'the last segment').spaceWidth;
}

function wrapGreedy(segments: readonly WrapSegment[], maxWidth: number): LineRange[] {
  const lines: LineRange[] = [];
  let first = 0;
  let width = 0;
  segments.forEach((segment, index) => {
    if (index > first && width + segment.width > maxWidth) {
      lines.push({ first, last: index - 1 });
      first = index;
      width = 0;
    }
    width += segment.width + segment.spaceWidth;
  });
  if (segments.length > 0) lines.push({ first, last: segments.length - 1 });
  return lines;
}

// Lines from measured segments: greedy first, then as narrow as the same number of lines allows, which balances them, and
// without a lonely last word.

export interface WrapSegment {
  /** Range in the paragraph, trailing spaces included. */
  readonly start: number;
  readonly end: number;
  readonly width: number;
  /** What the segment adds when the line goes on: its spaces; less than nothing when a hyphen disappears. */
  readonly spaceWidth: number;
}

/** A line is a range of segments. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

/** Half a pixel is below what anybody sees and ends the bisection in about ten steps. */
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

/** A word alone on the last line gets company from the line before, if both then fit and are more even. */
function withoutOrphan(segments: readonly WrapSegment[], lines: readonly LineRange[], maxWidth: number): LineRange[] {
  const [before, last] = lines.slice(-2);
  if (!before || !last || last.first < last.last || before.first === before.last) return [...lines];
  const shorter = { ...before, last: before.last - 1 };
  const longer = { ...last, first: before.last };
  const gapBetween = (a: LineRange, b: LineRange): number => Math.abs(widthOf(segments, a) - widthOf(segments, b));
  const better = widthOf(segments, longer) <= maxWidth && gapBetween(shorter, longer) < gapBetween(before, last);
  return better ? [...lines.slice(0, -2), shorter, longer] : [...lines];
}

function widthOf(segments: readonly WrapSegment[], { first, last }: LineRange): number {
  const full = segments.slice(first, last + 1).reduce((sum, { width, spaceWidth }) => sum + width + spaceWidth, 0);
  return full - (segments[last]?.spaceWidth ?? 0);
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

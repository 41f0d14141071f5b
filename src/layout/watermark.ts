// The watermark of free renders, as numbers: thin strokes at 45 degrees over the whole canvas. Their places depend only on pixel
// coordinates, so moving the asset or the text on a larger canvas and cropping it never leaves an area without them. They
// replace what is below them, so nothing below can be computed from the result.

import type { Layout } from './layout.ts';
import { scaleFor } from './style.ts';

/** A pixel is on a stroke if `x + y` modulo `period` is below two tones. */
export interface Strokes {
  readonly period: number;
  /** The width of a tone in pixels. A stroke is light, then dark, so that it stands out from every background. */
  readonly tone: number;
}

/** The longest period, in em. A line of text is crossed if its width and height together reach the period. */
const MAX_PERIOD = 1.5;
/** In pixels. Denser strokes would hide a small image instead of marking it. */
const MIN_PERIOD = 8;
const PERIODS_PER_TONE = 64;

export const LIGHT_TONE = 200;
export const DARK_TONE = 90;

/**
 * The strokes follow the smallest text. Two texts with different sizes never move them: a period is halved until it is short
 * enough, so the strokes for larger text are all among those for smaller text.
 */
export function strokesFor({ canvas, bars }: Layout): Strokes {
  const smallest = Math.min(...bars.map(({ fontSize }) => fontSize));
  let period = periodFor(scaleFor(canvas).fontSize);
  while (period > MAX_PERIOD * smallest && period >= 2 * MIN_PERIOD) period /= 2;
  return { period, tone: Math.max(1, Math.round(period / PERIODS_PER_TONE)) };
}

/** Of all periods that can be halved down to 8 or 12, the longest that is short enough. */
function periodFor(fontSize: number): number {
  const longest = Math.max(MIN_PERIOD, MAX_PERIOD * fontSize);
  const power = 2 ** Math.floor(Math.log2(longest));
  return power * 1.5 <= longest ? power * 1.5 : power;
}

/** Calls `paint` with the columns of each stroke in a row: `[from, middle)` is light, `[middle, to)` is dark. */
export function eachStroke(
  { period, tone }: Strokes,
  row: number,
  width: number,
  paint: (from: number, middle: number, to: number) => void,
): void {
  for (let start = -(row % period); start < width; start += period) {
    const to = Math.min(width, start + 2 * tone);
    if (to > 0) paint(Math.max(0, start), Math.min(to, Math.max(0, start + tone)), to);
  }
}

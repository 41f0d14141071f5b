// The watermark of free renders, as numbers: thin strokes at 45 degrees over the whole canvas, and closer together on the bars.
// Their places depend only on pixel coordinates, so moving the asset or the text on a larger canvas and cropping it never leaves
// an area without them. They replace what is below them, so nothing below can be computed from the result.

import type { Size } from './geometry.ts';
import { scaleFor } from './style.ts';

/** A pixel is on a stroke if `x + y` modulo `period` is below two tones. */
export interface Strokes {
  readonly period: number;
  /** The width of a tone in pixels. A stroke is light, then dark, so that it stands out from every background. */
  readonly tone: number;
}

/** The longest periods, in em. A line of text is crossed if its width and height together reach the period on its bar. */
const CANVAS_PERIOD = 3;
const BAR_PERIOD = 1.5;
/** The minimum in pixels. Denser strokes would hide a small image instead of marking it. */
const MIN_PERIOD = 8;
/** The width in em. */
const TONE = 1 / 48;

export const LIGHT_TONE = 200;
export const DARK_TONE = 90;

export function strokesFor(canvas: Size): Strokes {
  const { fontSize } = scaleFor(canvas);
  return { period: periodFor(CANVAS_PERIOD * fontSize), tone: toneFor(fontSize) };
}

/** A period is halved until it is short enough for the text, so the strokes of the canvas are all among those of a bar. */
export function strokesOn({ fontSize }: { readonly fontSize: number }, canvas: Size): Strokes {
  let { period } = strokesFor(canvas);
  while (period > BAR_PERIOD * fontSize && period >= 2 * MIN_PERIOD) period /= 2;
  return { period, tone: toneFor(fontSize) };
}

/** Returns the longest period within the limit that can be halved down to 8 or 12. */
function periodFor(longest: number): number {
  const power = 2 ** Math.floor(Math.log2(Math.max(MIN_PERIOD, longest)));
  return power * 1.5 <= longest ? power * 1.5 : power;
}

function toneFor(fontSize: number): number {
  return Math.max(1, Math.round(TONE * fontSize));
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

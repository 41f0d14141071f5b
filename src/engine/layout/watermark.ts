// The watermark of free renders, as numbers: thin strokes at 45 degrees over the whole canvas, and strokes along each line of
// text. Those on the canvas depend only on pixel coordinates, so moving the asset on a larger canvas and cropping it never leaves
// an area without them. Those on text depend only on the baseline and the font size, so all copies of a letter have them at the
// same place, and a copy never shows what they hide in another one. All replace what is below them, so nothing below can be
// computed from the result.

import type { Size } from './geometry.ts';
import type { Bar } from './layout.ts';
import { scaleFor } from './style.ts';

/** A pixel is on a stroke if `x + y` modulo `period` is below two tones. */
export interface Strokes {
  readonly period: number;
  /** The width of a tone in pixels. A stroke is light, then dark, so that it stands out from every background. */
  readonly tone: number;
}

/** The distance of two strokes in em of the default size. */
const PERIOD = 3;
/** The minimum in pixels. Denser strokes would hide a small image instead of marking it. */
const MIN_PERIOD = 8;
/** The width of a tone in em. */
const TONE = 1 / 48;

export const LIGHT_TONE = 200;
export const DARK_TONE = 90;

export function strokesFor(canvas: Size): Strokes {
  const { fontSize } = scaleFor(canvas);
  return { period: Math.max(MIN_PERIOD, Math.floor(PERIOD * fontSize)), tone: toneFor(TONE * fontSize) };
}

function toneFor(width: number): number {
  return Math.max(1, Math.round(width));
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

/** A stroke along a line of text: rows `[top, middle)` are light, `[middle, bottom)` are dark. */
interface TextStroke {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly middle: number;
  readonly bottom: number;
}

/** How high the strokes are above the baseline, in em. One of them crosses the letters of every script. */
const LOWER = 0.15;
const UPPER = 0.42;
/** With two strokes, smaller letters than these, in pixels, couldn't be read. */
const MIN_FOR_UPPER = 20;
/** The height of a tone in em. It is rounded, and two tones still overlap with those of the same letters in another size. */
const TEXT_TONE = 1 / 30;
/** How far a stroke extends beyond its line on both sides, in em. */
const OVERHANG = 0.4;

/** Returns the strokes on the text of a bar. They can extend beyond the canvas. */
export function textStrokes({ top, lines, fontSize, look }: StrokedBar): TextStroke[] {
  const tone = toneFor(TEXT_TONE * fontSize);
  const heights = fontSize < MIN_FOR_UPPER ? [LOWER] : [LOWER, UPPER];
  // A word that pops can be much wider than its place in the line.
  const overhang = look.highlight?.mode === 'pop' ? Number.POSITIVE_INFINITY : OVERHANG * fontSize;
  return lines
    .filter(({ runs }) => runs.length > 0)
    .flatMap(({ x, width, baseline }) =>
      heights.map((height) => {
        const middle = top + baseline - Math.round(height * fontSize);
        const [left, right] = [Math.floor(x - overhang), Math.ceil(x + width + overhang)];
        return { left, right, top: middle - tone, middle, bottom: middle + tone };
      }),
    );
}

type StrokedBar = Pick<Bar, 'top' | 'lines' | 'fontSize' | 'look'>;

// Turns what Skia has drawn on a transparent canvas into the pixels of a bar.

import type { SKRSContext2D } from '@napi-rs/canvas';
import type { Bar } from '../layout/layout.ts';
import type { Look } from '../layout/look.ts';
import type { Run } from '../layout/measurer.ts';
import { type Band, compositeOver, mix, wordsByCoverage, wordsOf } from './band.ts';

export interface PaintedRun extends Run {
  /** The ends of its advance width, in pixels from the left edge of the canvas. */
  readonly x: number;
  readonly right: number;
  readonly baseline: number;
}

/**
 * Skia changes the coverage of text by its color: it makes white text up to a third heavier than its outlines, and black
 * text lighter. For this gray, the adjustments cancel out within 1 %. Text is therefore drawn in gray and gets its color
 * when it is read.
 */
export const TRUE_COVERAGE_GRAY = '#6d6d6d';

/** Text over the bar, as a word of `wordsOf`, by the coverage of the text. */
function textOnBar({ color, background }: Look): Int32Array {
  const bar = background === undefined ? 0 : (wordsByCoverage(background)[255] ?? 0);
  return wordsByCoverage(color).map((text) => (text >>> 24 === 0 ? bar : mix(text, bar)));
}

/** How far emoji extend from their baseline and advance width, in em, with some room to spare. */
const EMOJI_REACH = { above: 1.5, below: 0.6, aside: 0.25 };

/** The bar with the text on the canvas in its color. Only columns with text are read, because reading takes the most time. */
export function readTextOnBar(context: SKRSContext2D, bar: Bar, width: number): Uint8ClampedArray {
  const { left, columns } = inkedColumns(bar, width);
  const drawn = wordsOf(context.getImageData(left, 0, columns, bar.height).data);
  const pixels = new Uint8ClampedArray(width * bar.height * 4);
  const shades = textOnBar(bar.look);
  const plain = shades[0] ?? 0;
  const words = wordsOf(pixels).fill(plain);
  for (let row = 0, from = 0; row < bar.height; row += 1) {
    const start = row * width + left;
    for (let column = 0; column < columns; column += 1, from += 1) {
      const word = drawn[from] ?? 0;
      if (word !== 0) words[start + column] = shades[word >>> 24] ?? plain;
    }
  }
  return pixels;
}

/** The columns that text can reach. Ink can extend beyond the advance width, but never by more than an em. */
export function inkedColumns({ lines, fontSize }: Bar, width: number): { left: number; columns: number } {
  const left = Math.max(0, Math.floor(Math.min(...lines.map(({ x }) => x)) - fontSize));
  const right = Math.min(width, Math.ceil(Math.max(...lines.map((line) => line.x + line.width)) + fontSize) + 1);
  return { left, columns: right - left };
}

/** Composites color emoji, painted one bar height lower on the canvas, over the bar, in place. */
export function compositeEmoji(
  context: SKRSContext2D,
  bar: Bar,
  runs: readonly PaintedRun[],
  { width, pixels }: Pick<Band, 'width' | 'pixels'>,
): void {
  const above = bar.fontSize * EMOJI_REACH.above;
  const below = bar.fontSize * EMOJI_REACH.below;
  const aside = bar.fontSize * EMOJI_REACH.aside;
  const left = Math.max(0, Math.floor(Math.min(...runs.map(({ x }) => x)) - aside));
  const right = Math.min(width, Math.ceil(Math.max(...runs.map((run) => run.right)) + aside));
  const top = Math.max(0, Math.floor(Math.min(...runs.map(({ baseline }) => baseline)) - above));
  const bottom = Math.min(bar.height, Math.ceil(Math.max(...runs.map(({ baseline }) => baseline)) + below));
  const columns = right - left;
  const drawn = wordsOf(context.getImageData(left, bar.height + top, columns, bottom - top).data);
  for (let row = top; row < bottom; row += 1) {
    const from = (row - top) * columns;
    compositeOver(wordsOf(pixels), row * width + left, drawn.subarray(from, from + columns));
  }
}

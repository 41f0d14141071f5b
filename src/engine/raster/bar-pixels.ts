// Converts a transparent canvas that Skia has drawn on to the pixels of a bar.

import type { SKRSContext2D } from '@napi-rs/canvas';
import type { Bar } from '../layout/layout.ts';
import type { Look } from '../layout/look.ts';
import type { Run } from '../layout/measurer.ts';
import { type Band, type ColumnRange, compositeOver, mix, wordsByCoverage, wordsOf } from './band.ts';
import { addRims, type EmojiRims } from './emoji-rim.ts';
import type { PaintedStrips } from './painted-strips.ts';

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

/** Returns text over the bar as words of `wordsOf`, by the coverage of the text. */
function textOnBar({ color, background }: Look): Int32Array {
  const bar = background === undefined ? 0 : (wordsByCoverage(background)[255] ?? 0);
  return wordsByCoverage(color).map((text) => (text >>> 24 === 0 ? bar : mix(text, bar)));
}

/** How far emoji extend from their baseline and advance width, in em, with some room to spare. */
const EMOJI_REACH = { above: 1.5, below: 0.6, aside: 0.25 };

/** A bar with its text and emoji. Only columns with text are read, because reading takes the most time. */
export class BarPixels {
  readonly #bar: Bar;
  readonly #width: number;
  readonly #emoji: readonly PaintedRun[];
  readonly #pixels: Uint8ClampedArray;
  readonly #shades: Int32Array;
  readonly #rims: EmojiRims | undefined;

  constructor(bar: Bar, width: number, emoji: readonly PaintedRun[], rims?: EmojiRims) {
    this.#bar = bar;
    this.#width = width;
    this.#emoji = emoji;
    this.#rims = rims;
    this.#shades = textOnBar(bar.look);
    this.#pixels = new Uint8ClampedArray(width * bar.height * 4);
  }

  add(context: SKRSContext2D, strips: PaintedStrips): void {
    this.#addText(context, strips);
    if (strips.emoji !== undefined) this.#addEmoji(context, strips, strips.emoji);
  }

  finish(): Pick<Band, 'pixels' | 'ink'> {
    return { pixels: this.#pixels, ink: inkedColumns(this.#bar, this.#width) };
  }

  #addText(context: SKRSContext2D, { top, rows, text }: PaintedStrips): void {
    const { left, columns } = inkedColumns(this.#bar, this.#width);
    const drawn = wordsOf(context.getImageData(left, text, columns, rows).data);
    const shades = this.#shades;
    const plain = shades[0] ?? 0;
    const words = wordsOf(this.#pixels).fill(plain, top * this.#width, (top + rows) * this.#width);
    for (let row = 0, from = 0; row < rows; row += 1) {
      const start = (top + row) * this.#width + left;
      for (let column = 0; column < columns; column += 1, from += 1) {
        const word = drawn[from] ?? 0;
        if (word !== 0) words[start + column] = shades[word >>> 24] ?? plain;
      }
    }
  }

  #addEmoji(context: SKRSContext2D, { top: first, rows }: PaintedStrips, strip: number): void {
    const [runs, { fontSize }] = [this.#emoji, this.#bar];
    const aside = fontSize * EMOJI_REACH.aside;
    const left = Math.max(0, Math.floor(Math.min(...runs.map(({ x }) => x)) - aside));
    const right = Math.min(this.#width, Math.ceil(Math.max(...runs.map((run) => run.right)) + aside));
    const baselines = runs.map(({ baseline }) => baseline);
    const top = Math.max(first, Math.floor(Math.min(...baselines) - fontSize * EMOJI_REACH.above));
    const bottom = Math.min(first + rows, Math.ceil(Math.max(...baselines) + fontSize * EMOJI_REACH.below));
    if (bottom <= top) return;
    const columns = right - left;
    const drawn = wordsOf(context.getImageData(left, strip + top - first, columns, bottom - top).data);
    if (this.#rims) addRims({ words: drawn, left, right, top, bottom }, this.#rims);
    for (let row = top; row < bottom; row += 1) {
      const from = (row - top) * columns;
      compositeOver(wordsOf(this.#pixels), row * this.#width + left, drawn.subarray(from, from + columns));
    }
  }
}

/** Returns the columns that text and emoji can reach. Ink can extend beyond the advance width, but never by more than an em. */
export function inkedColumns({ lines, fontSize }: Bar, width: number): ColumnRange {
  const left = Math.max(0, Math.floor(Math.min(...lines.map(({ x }) => x)) - fontSize));
  const right = Math.min(width, Math.ceil(Math.max(...lines.map((line) => line.x + line.width)) + fontSize) + 1);
  return { left, columns: right - left };
}

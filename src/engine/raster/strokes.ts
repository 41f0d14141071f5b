// Draws the strokes of the watermark on pixels, in place. They replace the pixels below.

import { DARK_TONE, eachStroke, LIGHT_TONE, type Strokes, textStrokes } from '../layout/watermark.ts';
import type { Bar } from '../layout/layout.ts';
import { type Band, wordsOf } from './band.ts';
import type { RawImage } from './blend.ts';

export const LIGHT_STROKE: number = opaqueGray(LIGHT_TONE);
export const DARK_STROKE: number = opaqueGray(DARK_TONE);

/** Draws on one row of the canvas, which starts at index `start` of the words. */
export function strokeRow(strokes: Strokes, row: number, words: Int32Array, start: number, width: number): void {
  eachStroke(strokes, row, width, (from, middle, to) => {
    words.fill(LIGHT_STROKE, start + from, start + middle);
    words.fill(DARK_STROKE, start + middle, start + to);
  });
}

/** Draws on the text of a bar. */
export function strokeText(bar: Bar, bands: readonly Band[]): void {
  const strokes = textStrokes(bar);
  for (const { top, height, width, pixels } of bands) {
    const words = wordsOf(pixels);
    for (const stroke of strokes) {
      const [left, right] = [Math.max(0, stroke.left), Math.min(width, stroke.right)];
      for (let row = Math.max(top, stroke.top); row < Math.min(top + height, stroke.bottom); row += 1) {
        const start = (row - top) * width;
        words.fill(row < stroke.middle ? LIGHT_STROKE : DARK_STROKE, start + left, start + right);
      }
    }
  }
}

export function strokeBands(strokes: Strokes, bands: readonly Band[]): void {
  for (const { top, height, width, pixels } of bands) {
    const words = wordsOf(pixels);
    for (let row = 0; row < height; row += 1) strokeRow(strokes, top + row, words, row * width, width);
  }
}

export function strokeImage(strokes: Strokes, { channels, data, width, height }: RawImage): void {
  if (channels === 4) {
    const words = wordsOf(data);
    for (let row = 0; row < height; row += 1) strokeRow(strokes, row, words, row * width, width);
    return;
  }
  for (let row = 0; row < height; row += 1) {
    const start = row * width;
    eachStroke(strokes, row, width, (from, middle, to) => {
      data.fill(LIGHT_TONE, (start + from) * channels, (start + middle) * channels);
      data.fill(DARK_TONE, (start + middle) * channels, (start + to) * channels);
    });
  }
}

/** Returns a word of `wordsOf`. */
function opaqueGray(tone: number): number {
  return tone | (tone << 8) | (tone << 16) | (255 << 24);
}

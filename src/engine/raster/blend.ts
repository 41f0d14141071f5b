// Bakes bands into raw 8-bit pixels, in place. Rows outside the bands don't change.

import type { Size } from '../layout/geometry.ts';
import { BAR_ALPHA_BYTE, type Band, compositeOver, PLAIN_BAR, wordsOf } from './band.ts';

/** Row by row, without padding; 3 = RGB, 4 = straight RGBA. */
export interface RawImage extends Size {
  readonly channels: 3 | 4;
  readonly data: Uint8Array;
}

export function bakeBands(image: RawImage, bands: readonly Band[]): void {
  for (const band of bands) {
    if (image.channels === 4) bakeOverAlpha(image, band);
    else bakeOverOpaque(image, band);
  }
}

/** How much of the photo shows through a plain bar, in 255ths. */
const PHOTO_SHARE = 255 - BAR_ALPHA_BYTE;
const DARKENED = Uint8Array.from({ length: 256 }, (_, value) => divideBy255(value * PHOTO_SHARE));

function bakeOverOpaque({ data, width }: RawImage, band: Band): void {
  const words = wordsOf(band.pixels);
  const start = band.top * width * 3;
  const word = words[0] ?? 0;
  // The sides of a bar are darkened as a whole, and beside other captions there is nothing.
  const hasPlainSides = word === PLAIN_BAR || word >>> 24 === 0;
  const { left, columns } = (hasPlainSides ? band.ink : undefined) ?? { left: 0, columns: width };
  for (let pixel = 0; pixel < words.length; pixel += width) {
    const [first, end] = [pixel + left, pixel + left + columns];
    bakeRow(data, start + first * 3, words.subarray(first, end));
    if (word !== PLAIN_BAR) continue;
    darken(data, start + pixel * 3, start + first * 3);
    darken(data, start + end * 3, start + (pixel + width) * 3);
  }
}

function bakeRow(data: Uint8Array, start: number, words: Int32Array): void {
  const plain = PLAIN_BAR;
  const { length } = words;
  for (let pixel = 0; pixel < length; ) {
    const from = pixel;
    while (pixel < length && words[pixel] === plain) pixel += 1;
    if (pixel > from) darken(data, start + from * 3, start + pixel * 3);
    for (; pixel < length; pixel += 1) {
      const word = words[pixel] ?? 0;
      if (word === plain) break;
      // Most of a row beside a label or text without a bar is transparent.
      if (word >>> 24 === 0) continue;
      mix(data, start + pixel * 3, word);
    }
  }
}

function mix(data: Uint8Array, target: number, word: number): void {
  const alpha = word >>> 24;
  const rest = 255 - alpha;
  data[target] = divideBy255((word & 255) * alpha + (data[target] ?? 0) * rest);
  data[target + 1] = divideBy255(((word >>> 8) & 255) * alpha + (data[target + 1] ?? 0) * rest);
  data[target + 2] = divideBy255(((word >>> 16) & 255) * alpha + (data[target + 2] ?? 0) * rest);
}

/** For shorter runs, such as the gaps between letters, creating a view costs more than it saves. */
const MIN_WORD_RUN_BYTES = 64;

/** Blends the plain bar over a run of bytes, four at a time where they are aligned. */
function darken(data: Uint8Array, from: number, to: number): void {
  const aligned = Math.min(to, from + (-(data.byteOffset + from) & 3));
  const count = to - from < MIN_WORD_RUN_BYTES ? 0 : (to - aligned) >> 2;
  for (let index = from; index < aligned; index += 1) data[index] = DARKENED[data[index] ?? 0] ?? 0;
  if (count > 0) darkenWords(new Int32Array(data.buffer, data.byteOffset + aligned, count));
  for (let index = aligned + count * 4; index < to; index += 1) data[index] = DARKENED[data[index] ?? 0] ?? 0;
}

const EVEN_BYTES = 0x00ff00ff;
const HALVES = 0x00800080;

/** Computes `divideBy255(byte * PHOTO_SHARE)` for all four bytes of a word, in two pairs of 16-bit lanes. */
function darkenWords(words: Int32Array): void {
  const { length } = words;
  const share = PHOTO_SHARE;
  for (let index = 0; index < length; index += 1) {
    const word = words[index] ?? 0;
    const even = (Math.imul(word & EVEN_BYTES, share) + HALVES) | 0;
    const odd = (Math.imul((word >>> 8) & EVEN_BYTES, share) + HALVES) | 0;
    words[index] =
      (((even + ((even >>> 8) & EVEN_BYTES)) >>> 8) & EVEN_BYTES) | ((odd + ((odd >>> 8) & EVEN_BYTES)) & ~EVEN_BYTES);
  }
}

function bakeOverAlpha({ data, width }: RawImage, band: Band): void {
  compositeOver(wordsOf(data), band.top * width, wordsOf(band.pixels));
}

/** Rounds to the nearest integer without a division. Exact for every product of two bytes. */
function divideBy255(value: number): number {
  return ((value + 128) * 257) >>> 16;
}

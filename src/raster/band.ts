// Finished overlay pixels. Bars that overlap are merged into one band, so whoever bakes bands into media or writes them
// to a transparent PNG uses the very same bytes.

import { BAR_ALPHA } from '../layout/style.ts';

export interface Band {
  readonly top: number;
  readonly height: number;
  /** Always the width of the canvas. */
  readonly width: number;
  /** Straight (not premultiplied) RGBA, row by row. */
  readonly pixels: Uint8ClampedArray;
}

/**
 * Straight RGBA as little-endian words, without copying. Signed, because those are small integers to V8; unsigned ones with
 * the top bit set, as all of a bar are, would be floating-point numbers.
 */
export function wordsOf(pixels: Uint8Array | Uint8ClampedArray): Int32Array {
  return new Int32Array(pixels.buffer, pixels.byteOffset, pixels.length / 4);
}

/** The bar where there is no text, as one word of `wordsOf`: black at the bar's alpha. Nearly all of a band. */
export const BAR_ALPHA_BYTE: number = Math.round(BAR_ALPHA * 255);
export const PLAIN_BAR: number = BAR_ALPHA_BYTE << 24;

/** Porter and Duff's "over" for straight RGBA words: all of `above` onto `below` from `start` on, in place. */
export function compositeOver(below: Int32Array, start: number, above: Int32Array): void {
  let lastSource = 0;
  let lastTarget = 0;
  let lastMixed = 0;
  for (let index = 0; index < above.length; index += 1) {
    const source = above[index] ?? 0;
    const target = below[start + index] ?? 0;
    // Nearly all of a bar is the same word over the same word.
    if (source !== lastSource || target !== lastTarget) {
      lastSource = source;
      lastTarget = target;
      lastMixed = mix(source, target);
    }
    below[start + index] = lastMixed;
  }
}

function mix(source: number, target: number): number {
  const sourceAlpha = source >>> 24;
  if (sourceAlpha === 255 || target >>> 24 === 0) return source;
  const targetShare = ((target >>> 24) * (255 - sourceAlpha)) / 255;
  const alpha = sourceAlpha + targetShare;
  const channel = (shift: number): number => {
    const mixed = ((source >>> shift) & 255) * sourceAlpha + ((target >>> shift) & 255) * targetShare;
    return Math.round(mixed / alpha) << shift;
  };
  return channel(0) | channel(8) | channel(16) | (Math.round(alpha) << 24);
}

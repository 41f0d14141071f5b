// The drawn pixels of an overlay. Overlapping bars are merged into one band, so that photos, videos and transparent
// PNGs all use the same bytes.

import type { Color } from '../layout/contrast.ts';
import { BAR_ALPHA } from '../layout/look.ts';

export interface Band {
  readonly top: number;
  readonly height: number;
  /** Equal to the width of the canvas. */
  readonly width: number;
  /** Straight (not premultiplied) RGBA, row by row. */
  readonly pixels: Uint8ClampedArray;
  /** The columns that differ. On both sides of them, all pixels are like the first one. Without it, any pixel may differ. */
  readonly ink?: ColumnRange;
}

export interface ColumnRange {
  readonly left: number;
  readonly columns: number;
}

/** A view of RGBA pixels as little-endian words. They are signed, as the results of bit operations are. */
export function wordsOf(pixels: Uint8Array | Uint8ClampedArray): Int32Array {
  return new Int32Array(pixels.buffer, pixels.byteOffset, pixels.length / 4);
}

/** Returns true if all pixels of a band are gray. */
export function isGrayBand({ pixels }: Band): boolean {
  const words = wordsOf(pixels);
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? 0;
    // Red equals green, and green equals blue.
    if (((word ^ (word >>> 8)) & 0xffff) !== 0) return false;
  }
  return true;
}

/** A color as a word of `wordsOf`, by the coverage of what is drawn in it. Transparent pixels are 0 in every color. */
export function wordsByCoverage({ red, green, blue, alpha }: Color): Int32Array {
  const opaque = red | (green << 8) | (blue << 16);
  return Int32Array.from({ length: 256 }, (_, coverage) => {
    const covered = Math.round((alpha * coverage) / 255);
    return covered === 0 ? 0 : opaque | (covered << 24);
  });
}

export const BAR_ALPHA_BYTE: number = Math.round(BAR_ALPHA * 255);
/** A pixel of the bar without text, as a word of `wordsOf`: black at the bar's alpha. Most of a band is this word. */
export const PLAIN_BAR: number = BAR_ALPHA_BYTE << 24;

/** Porter-Duff "over" for straight RGBA words: composites `above` onto `below` from index `start`, in place. */
export function compositeOver(below: Int32Array, start: number, above: Int32Array): void {
  for (let index = 0; index < above.length; index += 1) {
    const source = above[index] ?? 0;
    if (source >>> 24 > 0) below[start + index] = mix(source, below[start + index] ?? 0);
  }
}

/** Like `compositeOver`, for one word. */
export function mix(source: number, target: number): number {
  const sourceAlpha = source >>> 24;
  if (sourceAlpha === 255 || target >>> 24 === 0) return source;
  const targetShare = ((target >>> 24) * (255 - sourceAlpha)) / 255;
  const alpha = sourceAlpha + targetShare;
  const red = Math.round(((source & 255) * sourceAlpha + (target & 255) * targetShare) / alpha);
  const green = Math.round((((source >>> 8) & 255) * sourceAlpha + ((target >>> 8) & 255) * targetShare) / alpha);
  const blue = Math.round((((source >>> 16) & 255) * sourceAlpha + ((target >>> 16) & 255) * targetShare) / alpha);
  return red | (green << 8) | (blue << 16) | (Math.round(alpha) << 24);
}

/** Draws a band onto the bands it overlaps, in place, and adds bands for its rows between them. */
export function compositeBand(bands: readonly Band[], above: Band): Band[] {
  const { width, ink } = above;
  const words = wordsOf(above.pixels);
  const result: Band[] = [];
  const addRows = (from: number, to: number): void => {
    if (from >= to) return;
    const pixels = above.pixels.slice((from - above.top) * width * 4, (to - above.top) * width * 4);
    result.push({ top: from, height: to - from, width, pixels, ...(ink && { ink }) });
  };
  let row = above.top;
  const end = above.top + above.height;
  for (const band of bands) {
    const from = Math.max(row, band.top);
    const to = Math.min(end, band.top + band.height);
    if (from >= to) {
      result.push(band);
      continue;
    }
    addRows(row, from);
    const overlap = words.subarray((from - above.top) * width, (to - above.top) * width);
    compositeOver(wordsOf(band.pixels), (from - band.top) * width, overlap);
    // What was added can be in any column.
    const { ink: _ink, ...changed } = band;
    result.push(changed);
    row = to;
  }
  addRows(row, end);
  return result.toSorted((a, b) => a.top - b.top);
}

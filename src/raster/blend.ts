// Bakes bands into raw 8-bit pixels, in place. Only the rows under a band are touched.

import type { Size } from '../layout/geometry.ts';
import { BAR_ALPHA } from '../layout/style.ts';
import { type Band, compositeOver, wordsOf } from './band.ts';

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

/** The plain bar, the value of nearly every pixel under a caption: black at the bar's alpha, as one little-endian word. */
const BAR_BYTE = Math.round(BAR_ALPHA * 255);
const PLAIN_BAR = (BAR_BYTE << 24) >>> 0;

function bakeOverOpaque({ data, width }: RawImage, band: Band): void {
  const words = wordsOf(band.pixels);
  const darkened = Uint8Array.from({ length: 256 }, (_, value) => divideBy255(value * (255 - BAR_BYTE)));
  let target = band.top * width * 3;
  for (let pixel = 0; pixel < words.length; pixel += 1, target += 3) {
    const word = words[pixel] ?? 0;
    if (word === PLAIN_BAR) {
      data[target] = darkened[data[target] ?? 0] ?? 0;
      data[target + 1] = darkened[data[target + 1] ?? 0] ?? 0;
      data[target + 2] = darkened[data[target + 2] ?? 0] ?? 0;
      continue;
    }
    const alpha = word >>> 24;
    const rest = 255 - alpha;
    data[target] = divideBy255((word & 255) * alpha + (data[target] ?? 0) * rest);
    data[target + 1] = divideBy255(((word >>> 8) & 255) * alpha + (data[target + 1] ?? 0) * rest);
    data[target + 2] = divideBy255(((word >>> 16) & 255) * alpha + (data[target + 2] ?? 0) * rest);
  }
}

function bakeOverAlpha({ data, width }: RawImage, band: Band): void {
  compositeOver(wordsOf(data), band.top * width, wordsOf(band.pixels));
}

/** Rounded, without a division: exact for every product of two bytes. */
function divideBy255(value: number): number {
  return ((value + 128) * 257) >>> 16;
}

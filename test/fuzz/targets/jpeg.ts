// JPEG files: the segments between the image data, and the entropy-coded data, which the codec in `assembly/jpeg` reads.

import { lacksMostData } from '../../../src/engine/media/data-bounds.ts';
import { type Band, PLAIN_BAR, wordsOf } from '../../../src/engine/raster/band.ts';
import { type JpegHeaders, readHeaders } from '../../../src/engine/raster/jpeg/headers.ts';
import { spliceBands } from '../../../src/engine/raster/jpeg/splice.ts';
import { check } from '../check.ts';

/** A larger image takes so long that too few others would be tried. */
const MAX_PIXELS = 256 * 256;
const SWAPS_AXES = 5;

/** Bars that are drawn on an image make another image of the same size that can be read again. */
export function fuzz(file: Buffer): void {
  lacksMostData(file);
  const headers = readHeaders(file);
  if (headers === undefined || headers.width * headers.height > MAX_PIXELS) return;
  for (const orientation of [1, 6]) {
    const drawn = spliceBands(file, { bands: [barOn(headers, orientation)] }, { orientation });
    if (drawn === undefined) continue;
    const after = readHeaders(drawn);
    check(after !== undefined, 'the headers of the result can be read');
    const upright = orientation < SWAPS_AXES ? headers : { width: headers.height, height: headers.width };
    check(after.width === upright.width && after.height === upright.height, 'the result has the size of the source');
    check(
      spliceBands(drawn, { bands: [barOn(after, 1)] }) !== undefined,
      'the entropy-coded data of the result can be read',
    );
  }
}

function barOn({ width, height }: Pick<JpegHeaders, 'width' | 'height'>, orientation: number): Band {
  const across = orientation < SWAPS_AXES ? width : height;
  const pixels = new Uint8ClampedArray(across * 4);
  wordsOf(pixels).fill(PLAIN_BAR);
  return { top: 0, height: 1, width: across, pixels };
}

// The size of the finished picture: square pixels, upright, even sides. Pixels are only ever widened or heightened, so
// that no stored detail is thrown away; an odd side loses its last row or column, so that no pixel has to be resampled.

import type { Size } from '../../../layout/geometry.ts';
import { type Orientation, orient } from '../probe/orientation.ts';

export interface Ratio {
  readonly num: number;
  readonly den: number;
}

export interface FrameGeometry {
  /** Stored orientation, square pixels, even sides. */
  readonly square: Size;
  /** Upright and even: what is encoded. */
  readonly canvas: Size;
}

/** Containers round their display sizes: less than this is not a pixel shape but noise. */
const SHAPE_NOISE = 0.005;

export function frameGeometry(decoded: Size, pixelShape: Ratio, orientation: Orientation): FrameGeometry {
  const square = squarePixels(decoded, pixelShape);
  return { square, canvas: orient(square, orientation) };
}

function squarePixels(decoded: Size, { num, den }: Ratio): Size {
  const width = evenSide(decoded.width);
  const height = evenSide(decoded.height);
  if (num <= 0 || den <= 0 || Math.abs(num / den - 1) < SHAPE_NOISE) return { width, height };
  if (num > den) return { width: evenSide((width * num) / den + 1), height };
  return { width, height: evenSide((height * den) / num + 1) };
}

/** Color is stored at half resolution, so a side has to be a multiple of two, and at least that. */
export function evenSide(side: number): number {
  return Math.max(2, 2 * Math.floor(side / 2));
}

// The size of the finished picture: square pixels, upright, even sides. Pixels are only ever widened or heightened, so
// that no stored detail is thrown away.

import type { Size } from '../../layout/geometry.ts';
import { type Orientation, turn } from './orientation.ts';

export interface Ratio {
  readonly num: number;
  readonly den: number;
}

export interface PictureGeometry {
  /** Stored orientation, square pixels; equal to the decoded size when nothing has to be scaled. */
  readonly square: Size;
  /** Upright and even: what is encoded. */
  readonly canvas: Size;
}

/** Containers round their display sizes: less than this is not a pixel shape but noise. */
const SHAPE_NOISE = 0.005;

export function pictureGeometry(decoded: Size, pixelShape: Ratio, orientation: Orientation): PictureGeometry {
  const square = squarePixels(decoded, pixelShape);
  const upright = turn(square, orientation);
  return { square, canvas: { width: even(upright.width), height: even(upright.height) } };
}

function squarePixels({ width, height }: Size, { num, den }: Ratio): Size {
  if (num <= 0 || den <= 0 || Math.abs(num / den - 1) < SHAPE_NOISE) return { width, height };
  if (num > den) return { width: even(Math.round((width * num) / den)), height };
  return { width, height: even(Math.round((height * den) / num)) };
}

function even(side: number): number {
  return side + (side % 2);
}

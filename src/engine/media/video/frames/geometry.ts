// The size of the output frames: square pixels, upright, even sides. Non-square pixels are only ever stretched, never
// shrunk, so that no detail is lost. An odd side loses its last row or column, which avoids resampling.

import type { Size } from '../../../layout/geometry.ts';
import { type Orientation, orient } from '../probe/orientation.ts';

export interface Ratio {
  readonly num: number;
  readonly den: number;
}

export interface FrameGeometry {
  /** The stored size, but with square pixels and even sides. */
  readonly square: Size;
  /** The same after rotation, which is the size of the encoded frames. */
  readonly canvas: Size;
}

/** Containers round their display sizes, so a smaller deviation from square is unintended. */
const ASPECT_TOLERANCE = 0.005;

export function frameGeometry(decoded: Size, pixelAspect: Ratio, orientation: Orientation): FrameGeometry {
  const square = squarePixels(decoded, pixelAspect);
  return { square, canvas: orient(square, orientation) };
}

function squarePixels(decoded: Size, { num, den }: Ratio): Size {
  const width = evenSide(decoded.width);
  const height = evenSide(decoded.height);
  if (num <= 0 || den <= 0 || Math.abs(num / den - 1) < ASPECT_TOLERANCE) return { width, height };
  if (num > den) return { width: evenSide((width * num) / den + 1), height };
  return { width, height: evenSide((height * den) / num + 1) };
}

/** 4:2:0 stores color at half resolution, so each side must be a multiple of two. */
export function evenSide(side: number): number {
  return Math.max(2, 2 * Math.floor(side / 2));
}

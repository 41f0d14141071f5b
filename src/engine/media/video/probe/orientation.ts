// The rotation that makes a stored frame upright. Phones store frames unrotated with a 3x3 display matrix, which front
// cameras may also mirror. Each of the eight right-angled matrices is an optional transpose and optional flips.

import type { Size } from '../../../layout/geometry.ts';

export interface Orientation {
  /** Swaps rows and columns. Applied before the flips. */
  readonly transpose: boolean;
  readonly flipX: boolean;
  readonly flipY: boolean;
}

export const UPRIGHT: Orientation = { transpose: false, flipX: false, flipY: false };

const MATRIX_BYTES = 36;

/**
 * Reads the display matrix of a stream. Its nine 32-bit numbers map a point (x, y) to (x*m0 + y*m3, x*m1 + y*m4). Other
 * angles are rounded to the nearest right angle, and a matrix of zeros counts as upright.
 */
export function readOrientation(matrix: Buffer | null): Orientation {
  if (matrix === null || matrix.length < MATRIX_BYTES) return UPRIGHT;
  const [xx, xy, yx, yy] = [0, 1, 3, 4].map((cell) => matrix.readInt32LE(cell * 4)) as [number, number, number, number];
  const straight = Math.abs(xx) + Math.abs(yy);
  const swapped = Math.abs(xy) + Math.abs(yx);
  if (straight >= swapped) return { transpose: false, flipX: xx < 0, flipY: yy < 0 };
  return { transpose: true, flipX: yx < 0, flipY: xy < 0 };
}

export function orient({ width, height }: Size, { transpose }: Orientation): Size {
  return transpose ? { width: height, height: width } : { width, height };
}

// How a stored frame has to be turned to stand upright. Phones never turn pixels: they note a 3x3 display matrix, and a
// front camera may add a mirror image. Every right-angled matrix is one of eight: perhaps swap the axes, then perhaps
// flip either one.

import type { Size } from '../../../layout/geometry.ts';

export interface Orientation {
  /** Rows become columns. Happens before the flips. */
  readonly transpose: boolean;
  readonly flipX: boolean;
  readonly flipY: boolean;
}

export const UPRIGHT: Orientation = { transpose: false, flipX: false, flipY: false };

const MATRIX_BYTES = 36;

/**
 * From the side data of a stream: nine 32-bit numbers, of which [0] [1] [3] [4] turn. A point (x, y) lands on
 * (x * m0 + y * m3, x * m1 + y * m4). Odd angles go to the nearest right one; a matrix of zeros says nothing.
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

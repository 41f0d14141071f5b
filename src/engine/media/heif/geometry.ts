// Maps the pixels of a coded image to the canvas. Rotating by quarter turns, mirroring and cropping combine to one
// integer map, so pixels are written to their final place at once.

import type { Size } from '../../layout/geometry.ts';

/** Computes canvas coordinates from those of the source: `x' = xx * x + xy * y + tx`, and `y'` likewise. */
export interface PixelMap {
  readonly xx: number;
  readonly xy: number;
  readonly tx: number;
  readonly yx: number;
  readonly yy: number;
  readonly ty: number;
}

/** A rectangle whose right and bottom are exclusive. */
export interface Rectangle {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export function translation(tx: number, ty: number): PixelMap {
  return { xx: 1, xy: 0, tx, yx: 0, yy: 1, ty };
}

/** Turns counterclockwise. `size` is the size before the turn. */
export function quarterTurns(turns: number, { width, height }: Size): PixelMap {
  switch (turns & 3) {
    case 1:
      return { xx: 0, xy: 1, tx: 0, yx: -1, yy: 0, ty: width - 1 };
    case 2:
      return { xx: -1, xy: 0, tx: width - 1, yx: 0, yy: -1, ty: height - 1 };
    case 3:
      return { xx: 0, xy: -1, tx: height - 1, yx: 1, yy: 0, ty: 0 };
    default:
      return translation(0, 0);
  }
}

export function mirroring(isLeftRight: boolean, { width, height }: Size): PixelMap {
  return isLeftRight
    ? { xx: -1, xy: 0, tx: width - 1, yx: 0, yy: 1, ty: 0 }
    : { xx: 1, xy: 0, tx: 0, yx: 0, yy: -1, ty: height - 1 };
}

/** Applies `first`, then `second`. */
export function combine(first: PixelMap, second: PixelMap): PixelMap {
  return {
    xx: second.xx * first.xx + second.xy * first.yx,
    xy: second.xx * first.xy + second.xy * first.yy,
    tx: second.xx * first.tx + second.xy * first.ty + second.tx,
    yx: second.yx * first.xx + second.yy * first.yx,
    yy: second.yx * first.xy + second.yy * first.yy,
    ty: second.yx * first.tx + second.yy * first.ty + second.ty,
  };
}

export function inverse({ xx, xy, tx, yx, yy, ty }: PixelMap): PixelMap {
  // The matrix is a rotation or reflection, so its transpose is its inverse.
  return { xx, xy: yx, tx: -(xx * tx + yx * ty), yx: xy, yy, ty: -(xy * tx + yy * ty) };
}

export function mapRectangle({ left, top, right, bottom }: Rectangle, map: PixelMap): Rectangle {
  const [x1, y1] = mapPoint(map, left, top);
  const [x2, y2] = mapPoint(map, right - 1, bottom - 1);
  return { left: Math.min(x1, x2), top: Math.min(y1, y2), right: Math.max(x1, x2) + 1, bottom: Math.max(y1, y2) + 1 };
}

function mapPoint({ xx, xy, tx, yx, yy, ty }: PixelMap, x: number, y: number): readonly [number, number] {
  return [xx * x + xy * y + tx, yx * x + yy * y + ty];
}

export function intersect(a: Rectangle, b: Rectangle): Rectangle {
  return {
    left: Math.max(a.left, b.left),
    top: Math.max(a.top, b.top),
    right: Math.min(a.right, b.right),
    bottom: Math.min(a.bottom, b.bottom),
  };
}

export function isEmpty({ left, top, right, bottom }: Rectangle): boolean {
  return left >= right || top >= bottom;
}

export function wholeOf({ width, height }: Size): Rectangle {
  return { left: 0, top: 0, right: width, bottom: height };
}

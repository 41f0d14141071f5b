// The look of the blurred copy that surrounds a fitted asset, as numbers for images and videos. The copy is blurred at a
// fraction of its size, which takes almost no time, and then enlarged: the blur has removed everything that enlarging
// could spoil.

import type { Size } from '../layout/geometry.ts';

/** What surrounds an asset in its canvas, and where the asset is. */
export interface ImageSurround {
  /** `blur` for a blurred copy, or a color as `#rrggbb`. */
  readonly fill: string;
  readonly left: number;
  readonly top: number;
}

/** The shorter side of the small copy, in pixels. */
const SMALL_SIDE = 90;
/** In pixels of the small copy, so about 5 % of the shorter side of the canvas. */
export const BLUR_SIGMA = 5;
/** How bright the copy is, so that the asset stands out from it. */
export const BLUR_BRIGHTNESS = 0.62;

/** Returns the size of the small copy of a canvas. Sides are even, as videos need them. */
export function smallCopyOf({ width, height }: Size): Size {
  const scale = Math.min(1, SMALL_SIDE / Math.min(width, height));
  const side = (length: number): number => Math.max(2, 2 * Math.round((length * scale) / 2));
  return { width: side(width), height: side(height) };
}

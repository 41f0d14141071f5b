// Grows a mask by a distance in all directions, with smooth edges. It draws the outline around color emoji, which have no
// outlines that Skia could stroke.

import type { Mask } from './soft-shadow.ts';

/** Where the mask ends, draws a disc around each pixel. Partly covered pixels get a disc that is smaller by what is missing. */
export function grown(mask: Mask, distance: number): Uint8Array {
  const { width, height, values } = mask;
  const result = Uint8Array.from(values);
  const reach = Math.ceil(distance + 1);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const value = values[y * width + x] ?? 0;
      if (value === 0 || isInside(mask, x, y)) continue;
      stamp(result, mask, { x, y, reach, radius: distance + value / 255 });
    }
  }
  return result;
}

function isInside({ width, height, values }: Mask, x: number, y: number): boolean {
  if (x === 0 || y === 0 || x === width - 1 || y === height - 1) return false;
  const at = y * width + x;
  return values[at - 1] === 255 && values[at + 1] === 255 && values[at - width] === 255 && values[at + width] === 255;
}

interface Disc {
  readonly x: number;
  readonly y: number;
  readonly reach: number;
  /** Half a pixel more than that of the disc, so that coverage is this minus the distance. */
  readonly radius: number;
}

function stamp(result: Uint8Array, { width, height }: Mask, { x, y, reach, radius }: Disc): void {
  for (let row = Math.max(0, y - reach); row <= Math.min(height - 1, y + reach); row += 1) {
    for (let column = Math.max(0, x - reach); column <= Math.min(width - 1, x + reach); column += 1) {
      const coverage = Math.min(255, Math.round((radius - Math.hypot(column - x, row - y)) * 255));
      const at = row * width + column;
      if (coverage > (result[at] ?? 0)) result[at] = coverage;
    }
  }
}

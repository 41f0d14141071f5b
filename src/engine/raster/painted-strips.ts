// The rows of a bar as they are painted: text, emoji and shapes in strips below each other on one canvas. Painting
// again after reading would be slow, so usually all rows are painted at once. A caption that fills a large image is
// painted in several parts, because the canvas would otherwise need several times the memory of the image.

import type { Size } from '../layout/geometry.ts';

/** The start of the strips of some rows of the bar on the canvas. */
export interface PaintedStrips {
  readonly top: number;
  readonly rows: number;
  readonly text: number;
  readonly emoji: number | undefined;
  /** The label of a box, or the stroke of an outline. */
  readonly shape: number | undefined;
}

/** This is 96 MB. Bars on images of up to 8 megapixels always fit, whatever their style. */
export const MAX_CANVAS_PIXELS = 24_000_000;

export interface StripKinds {
  readonly hasEmoji: boolean;
  readonly hasShape: boolean;
}

/** Returns the parts of a bar of this size, each with its strips on a canvas within the limit. */
export function stripsOf({ width, height }: Size, { hasEmoji, hasShape }: StripKinds, pixels: number): PaintedStrips[] {
  const strips = 1 + Number(hasEmoji) + Number(hasShape);
  const most = Math.max(1, Math.floor(pixels / (width * strips)));
  return Array.from({ length: Math.ceil(height / most) }, (_, index) => {
    const top = index * most;
    const rows = Math.min(most, height - top);
    return {
      top,
      rows,
      text: 0,
      emoji: hasEmoji ? rows : undefined,
      shape: hasShape ? rows * (strips - 1) : undefined,
    };
  });
}

/** Returns the height of the canvas. */
export function canvasHeight({ rows, emoji, shape }: PaintedStrips): number {
  return rows + Math.max(emoji ?? 0, shape ?? 0);
}

// Scales the margins of safe areas to a canvas.

import { type Margins, SAFE_AREA_MARGINS, type SafeAreaName } from '../caption/safe-area.ts';
import type { Size } from './geometry.ts';

/** The size that the table is for. */
const REFERENCE: Size = { width: 1080, height: 1920 };
/** How far the shape of a canvas may be from 9:16. Apps crop or letterbox other shapes, so the margins don't apply. */
const SHAPE_TOLERANCE = 0.05;

export const NO_MARGINS: Margins = { top: 0, bottom: 0, left: 0, right: 0 };

/** Returns the margins for a canvas, scaled and in whole pixels. A canvas that isn't about 9:16 has none. */
export function marginsFor({ width, height }: Size, area: SafeAreaName | undefined): Margins {
  const shape = (width * REFERENCE.height) / (height * REFERENCE.width);
  if (area === undefined || area === 'none' || Math.abs(shape - 1) > SHAPE_TOLERANCE) return NO_MARGINS;
  const { top, bottom, left, right } = SAFE_AREA_MARGINS[area];
  return {
    top: Math.ceil((top * height) / REFERENCE.height),
    bottom: Math.ceil((bottom * height) / REFERENCE.height),
    left: Math.ceil((left * width) / REFERENCE.width),
    right: Math.ceil((right * width) / REFERENCE.width),
  };
}

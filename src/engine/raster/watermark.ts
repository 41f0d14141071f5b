// The watermark on renders with test keys: small, in the lower right corner, and readable on any background because it
// is light with a dark outline.

import type { SKRSContext2D } from '@napi-rs/canvas';
import type { Size } from '../layout/geometry.ts';

export const WATERMARK = 'STORYBAR TEST';

/** The size relative to the shorter side of the canvas. */
const FONT_SHARE = 0.03;
const MARGIN_SHARE = 0.02;
const MIN_FONT_SIZE = 7;
/** The maximum share of the canvas width, which matters on small canvases. */
const MAX_WIDTH_SHARE = 0.9;
const FILL = 'rgba(255, 255, 255, 0.85)';
const OUTLINE = 'rgba(0, 0, 0, 0.55)';

export interface WatermarkBox {
  readonly fontSize: number;
  readonly top: number;
  readonly height: number;
  readonly right: number;
}

/** `widthAt1` is the width of the watermark at a font size of one pixel. */
export function placeWatermark({ width, height }: Size, widthAt1: number): WatermarkBox {
  const side = Math.min(width, height);
  const preferred = Math.max(MIN_FONT_SIZE, side * FONT_SHARE);
  const fontSize = Math.min(preferred, (width * MAX_WIDTH_SHARE) / widthAt1);
  const rows = Math.min(height, Math.ceil(fontSize * 1.5));
  const margin = Math.min(Math.round(side * MARGIN_SHARE), height - rows);
  return { fontSize, top: height - rows - margin, height: rows, right: width - side * MARGIN_SHARE };
}

/** Expects an empty canvas at least as tall as the box, with the font already set. */
export function paintWatermark(context: SKRSContext2D, { fontSize, height, right }: WatermarkBox): void {
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  context.direction = 'ltr';
  context.lineJoin = 'round';
  context.lineWidth = Math.max(1, fontSize * 0.14);
  context.strokeStyle = OUTLINE;
  context.strokeText(WATERMARK, right, height / 2);
  context.fillStyle = FILL;
  context.fillText(WATERMARK, right, height / 2);
}

// The mark on renders of test keys: small, in the lower right corner, light with a dark rim so that it reads on anything.

import type { SKRSContext2D } from '@napi-rs/canvas';
import type { Size } from '../layout/geometry.ts';
import { type Band, compositeOver, wordsOf } from './band.ts';

export const WATERMARK = 'STORYBAR TEST';

/** Shares of the shorter side of the canvas. */
const FONT_SHARE = 0.03;
const MARGIN_SHARE = 0.02;
const MIN_FONT_SIZE = 7;
/** Never wider than this share of the canvas, however small that is. */
const WIDTH_SHARE = 0.9;
const LIGHT = 'rgba(255, 255, 255, 0.85)';
const RIM = 'rgba(0, 0, 0, 0.55)';

export interface WatermarkBox {
  readonly fontSize: number;
  readonly top: number;
  readonly height: number;
  readonly right: number;
}

/** `widthAt1` is the width of the mark in a font of one pixel. */
export function placeWatermark({ width, height }: Size, widthAt1: number): WatermarkBox {
  const side = Math.min(width, height);
  const wanted = Math.max(MIN_FONT_SIZE, side * FONT_SHARE);
  const fontSize = Math.min(wanted, (width * WIDTH_SHARE) / widthAt1);
  const rows = Math.min(height, Math.ceil(fontSize * 1.5));
  const margin = Math.min(Math.round(side * MARGIN_SHARE), height - rows);
  return { fontSize, top: height - rows - margin, height: rows, right: width - side * MARGIN_SHARE };
}

/** `context` is that of an empty canvas of at least the box's height, with the font already chosen. */
export function paintWatermark(context: SKRSContext2D, { fontSize, height, right }: WatermarkBox): void {
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  context.direction = 'ltr';
  context.lineJoin = 'round';
  context.lineWidth = Math.max(1, fontSize * 0.14);
  context.strokeStyle = RIM;
  context.strokeText(WATERMARK, right, height / 2);
  context.fillStyle = LIGHT;
  context.fillText(WATERMARK, right, height / 2);
}

/** The mark lies on top of everything: onto the bands it meets, and in bands of its own between them. */
export function compositeWatermark(bands: readonly Band[], mark: Band): Band[] {
  const marked = [...bands];
  const { width } = mark;
  const markWords = wordsOf(mark.pixels);
  const addRows = (from: number, to: number): void => {
    if (from >= to) return;
    const pixels = mark.pixels.slice((from - mark.top) * width * 4, (to - mark.top) * width * 4);
    marked.push({ top: from, height: to - from, width, pixels });
  };
  let row = mark.top;
  const end = mark.top + mark.height;
  for (const band of bands) {
    const from = Math.max(row, band.top);
    const to = Math.min(end, band.top + band.height);
    if (from >= to) continue;
    addRows(row, from);
    const piece = markWords.subarray((from - mark.top) * width, (to - mark.top) * width);
    compositeOver(wordsOf(band.pixels), (from - band.top) * width, piece);
    row = to;
  }
  addRows(row, end);
  return marked.toSorted((a, b) => a.top - b.top);
}

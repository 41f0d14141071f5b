// Writes the pixels of a decoded frame to their place on the canvas. Chroma between its samples is interpolated linearly,
// as browsers do. Rows are converted by functions without closures, which run several times faster.

import type { Size } from '../../layout/geometry.ts';
import { intersect, inverse, isEmpty, mapRectangle, type PixelMap, type Rectangle, wholeOf } from './geometry.ts';
import type { RgbMatrix } from './matrix.ts';
import type { Plane, Planes } from './planes.ts';

type Samples = Uint8Array | Uint16Array;

export interface Canvas extends Size {
  /** 1 for gray; the fourth channel is left alone. */
  readonly channels: 1 | 3 | 4;
  readonly samples: Samples;
}

/** The columns of a row of the source, and where they go in the samples of the canvas. */
interface Span {
  readonly left: number;
  readonly right: number;
  readonly at: number;
  readonly step: number;
}

/** `clip` is the part of the canvas that may be written. */
export function writePixels(canvas: Canvas, planes: Planes, matrix: RgbMatrix, map: PixelMap, clip: Rectangle): void {
  if (isEmpty(clip)) return;
  const source = intersect(mapRectangle(intersect(clip, wholeOf(canvas)), inverse(map)), wholeOf(planes));
  if (isEmpty(source)) return;
  const { width, channels, samples } = canvas;
  const { luma, chroma, isRgb } = planes;
  const origin = (map.ty * width + map.tx) * channels;
  const step = (map.yx * width + map.xx) * channels;
  const stepY = (map.yy * width + map.xy) * channels;
  // For interpolated chroma.
  const [cb, cr] = [new Float32Array(planes.width + 1), new Float32Array(planes.width + 1)];
  for (let y = source.top; y < source.bottom; y += 1) {
    const span = { left: source.left, right: source.right, at: origin + y * stepY + source.left * step, step };
    if (channels === 1) writePlane(luma, y, span, matrix, samples);
    else if (chroma === undefined) writeRgb([luma, luma, luma], y, span, matrix, samples);
    else if (isRgb) writeRgb([chroma[1], luma, chroma[0]], y, span, matrix, samples);
    else {
      interpolate(chroma[0], y, planes, cb);
      interpolate(chroma[1], y, planes, cr);
      writeYuv(luma.samples, y * luma.stride, cb, cr, span, matrix, samples);
    }
  }
}

function writePlane({ samples, stride }: Plane, y: number, span: Span, matrix: RgbMatrix, target: Samples): void {
  const { luma, gray, white } = matrix;
  const row = y * stride;
  let { at } = span;
  for (let x = span.left; x < span.right; x += 1) {
    target[at] = clamp(luma * (samples[row + x] ?? 0) + gray, white);
    at += span.step;
  }
}

function writeRgb(planes: readonly Plane[], y: number, span: Span, matrix: RgbMatrix, target: Samples): void {
  for (const [channel, plane] of planes.entries()) {
    writePlane(plane, y, { ...span, at: span.at + channel }, matrix, target);
  }
}

function writeYuv(
  luma: Samples,
  row: number,
  cb: Float32Array,
  cr: Float32Array,
  { left, right, at: start, step }: Span,
  matrix: RgbMatrix,
  target: Samples,
): void {
  const { luma: scale, crToRed, cbToGreen, crToGreen, cbToBlue, red, green, blue, white } = matrix;
  let at = start;
  for (let x = left; x < right; x += 1) {
    const y = scale * (luma[row + x] ?? 0);
    const u = cb[x] ?? 0;
    const v = cr[x] ?? 0;
    target[at] = clamp(y + crToRed * v + red, white);
    target[at + 1] = clamp(y + cbToGreen * u + crToGreen * v + green, white);
    target[at + 2] = clamp(y + cbToBlue * u + blue, white);
    at += step;
  }
}

/** Rounds as well. */
function clamp(value: number, white: number): number {
  return value <= 0 ? 0 : value >= white ? white : (value + 0.5) | 0;
}

/** The samples of a chroma plane for row `y` of the image, one for each of its columns. */
function interpolate({ samples, stride }: Plane, y: number, planes: Planes, row: Float32Array): void {
  const { halfWidth, halfHeight, width, height } = planes;
  const columns = halfWidth ? (width + 1) >> 1 : width;
  const lastRow = (halfHeight ? (height + 1) >> 1 : height) - 1;
  const nearRow = halfHeight ? y >> 1 : y;
  // Samples lie between two rows of the image, so the nearer one counts three times as much as the other.
  const farRow = halfHeight ? Math.min(lastRow, Math.max(0, nearRow + ((y & 1) === 1 ? 1 : -1))) : nearRow;
  const [near, far] = [nearRow * stride, farRow * stride];
  if (!halfWidth) {
    for (let x = 0; x < columns; x += 1) row[x] = 0.75 * (samples[near + x] ?? 0) + 0.25 * (samples[far + x] ?? 0);
    return;
  }
  let before = 0.75 * (samples[near] ?? 0) + 0.25 * (samples[far] ?? 0);
  let here = before;
  for (let x = 0; x < columns; x += 1) {
    const next = x + 1 < columns ? x + 1 : x;
    const after = 0.75 * (samples[near + next] ?? 0) + 0.25 * (samples[far + next] ?? 0);
    row[2 * x] = 0.75 * here + 0.25 * before;
    row[2 * x + 1] = 0.75 * here + 0.25 * after;
    before = here;
    here = after;
  }
}

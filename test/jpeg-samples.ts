// JPEGs made from noise, bars for them, and their decoded pixels.

import sharp from 'sharp';
import { must } from '../src/shared/must.ts';
import type { Size } from '../src/engine/layout/geometry.ts';
import { type Band, PLAIN_BAR, wordsOf } from '../src/engine/raster/band.ts';
import { bakeBands } from '../src/engine/raster/blend.ts';
import { type JpegHeaders, readHeaders } from '../src/engine/raster/jpeg/headers.ts';

const WHITE = 0xffffffff | 0;
const HALF_WHITE = 0x80ffffff | 0;

/** A bar with white shapes whose edges are half transparent. */
export function barAt(width: number, top: number, height: number): Band {
  const pixels = new Uint8ClampedArray(width * height * 4);
  const words = wordsOf(pixels).fill(PLAIN_BAR);
  const textRow = Int32Array.from({ length: width }, (_, x) => {
    if (x % 40 < 2) return HALF_WHITE;
    return x % 40 < 12 ? WHITE : PLAIN_BAR;
  });
  for (let y = Math.floor(height / 4) + 1; y < (3 * height) / 4; y += 1) words.set(textRow, y * width);
  return { top, height, width, pixels };
}

/** Returns this many bars, of a tenth of the height at most and never touching. */
export function barsOn({ width, height }: Size, count: number): Band[] {
  const distance = height / count;
  return Array.from({ length: count }, (_, index) =>
    barAt(width, Math.floor(index * distance + distance / 3), Math.max(1, Math.floor(distance / 3))),
  );
}

export async function pixelsOf(jpeg: Uint8Array): Promise<Buffer> {
  return await sharp(jpeg, { failOn: 'error', ignoreIcc: true }).toColorspace('srgb').raw().toBuffer();
}

/** With subsampled chroma, decoders also use the chroma of the neighboring row of MCUs for one line. */
export function touchedRows({ components }: JpegHeaders, bands: readonly Band[]): Set<number> {
  const vertical = Math.max(...components.map((component) => component.vertical));
  const [side, margin] = [8 * vertical, vertical > 1 ? 1 : 0];
  return new Set(
    bands.flatMap(({ top, height }) => {
      const first = Math.floor(top / side) * side - margin;
      const last = Math.ceil((top + height) / side) * side + margin;
      return Array.from({ length: last - first }, (_, index) => first + index);
    }),
  );
}

export interface JpegSample extends Size {
  readonly quality: number;
  readonly chromaSubsampling: '4:2:0' | '4:4:4';
  readonly optimizeCoding: boolean;
  /** With a usual script of scans, or with the one that makes the smallest file. */
  readonly progressive?: 'usual' | 'optimized';
  readonly isGray: boolean;
  readonly seed: number;
}

export async function encodeSample({
  width,
  height,
  quality,
  chromaSubsampling,
  optimizeCoding,
  progressive,
  isGray,
  seed,
}: JpegSample): Promise<Buffer> {
  const data = Buffer.alloc(width * height * 3);
  let state = seed >>> 0;
  for (let at = 0; at < data.length; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const pixel = Math.floor(at / 3);
    data[at] = 60 + ((pixel % width) / width) * 100 + (pixel / data.length) * 200 + (state >>> 27) + (at % 3) * 15;
  }
  const image = sharp(data, { raw: { width, height, channels: 3 } });
  const colored = isGray ? image.toColorspace('b-w') : image;
  const scans = { progressive: progressive !== undefined, optimizeScans: progressive === 'optimized' };
  return await colored.jpeg({ quality, chromaSubsampling, optimizeCoding, ...scans }).toBuffer();
}

interface Comparison {
  readonly changedRowsOutside: number;
  /** The mean difference to the bars drawn on the decoded pixels, in levels. */
  readonly differenceInside: number;
}

/** Compares an image with the same image after bars were drawn on it. */
export async function compareWithBars(
  source: Uint8Array,
  spliced: Uint8Array,
  bands: readonly Band[],
): Promise<Comparison> {
  const headers = must(readHeaders(source), 'headers');
  const { width, height } = headers;
  const [before, after] = await Promise.all([pixelsOf(source), pixelsOf(spliced)]);
  const stride = width * 3;
  const touched = touchedRows(headers, bands);
  const rows = Array.from({ length: height }, (_, row) => row).filter((row) => !touched.has(row));
  const isChanged = (row: number): boolean =>
    before.compare(after, row * stride, (row + 1) * stride, row * stride, (row + 1) * stride) !== 0;
  const expected = { width, height, channels: 3 as const, data: Buffer.from(before) };
  bakeBands(expected, bands);
  let [sum, count] = [0, 0];
  for (const { top, height: rowCount } of bands) {
    for (let at = top * stride; at < (top + rowCount) * stride; at += 1) {
      sum += Math.abs((expected.data[at] ?? 0) - (after[at] ?? 0));
      count += 1;
    }
  }
  return { changedRowsOutside: rows.filter(isChanged).length, differenceInside: count === 0 ? 0 : sum / count };
}

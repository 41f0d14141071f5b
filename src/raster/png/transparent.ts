// A PNG that holds the bars and nothing else: written row by row from the bands, never as a full canvas in memory. Text on
// a bar has few colours and gets a palette; colour emoji need full RGBA. Both are exact.

import type { Size } from '../../layout/geometry.ts';
import { type Band, wordsOf } from '../band.ts';
import { chunk, SIGNATURE } from './chunks.ts';
import { PiecewiseDeflate, type ZeroRuns } from './deflate.ts';

const PALETTE_MODE = 3;
const RGBA_MODE = 6;
const MAX_COLOURS = 256;
const FILTER_NONE = 0;
/** Filters and higher levels were measured: a few kilobytes less for two to five times the time. */
const LEVEL = 3;

export function writeTransparentPng(canvas: Size, bands: readonly Band[], zeros: ZeroRuns): Buffer {
  const palette = paletteOf(bands);
  const stream = new PiecewiseDeflate(zeros);
  const rowLength = 1 + canvas.width * (palette ? 1 : 4);
  let row = 0;
  for (const band of bands) {
    stream.addZeros((band.top - row) * rowLength);
    stream.addBytes(palette ? indexedRows(band, palette) : rgbaRows(band), LEVEL);
    row = band.top + band.height;
  }
  stream.addZeros((canvas.height - row) * rowLength);
  return Buffer.concat([
    SIGNATURE,
    header(canvas, palette ? PALETTE_MODE : RGBA_MODE),
    ...(palette ? paletteChunks(palette) : []),
    chunk('IDAT', ...stream.finish()),
    chunk('IEND'),
  ]);
}

function header({ width, height }: Size, colourType: number): Buffer {
  const body = Buffer.alloc(13);
  body.writeUInt32BE(width, 0);
  body.writeUInt32BE(height, 4);
  body[8] = 8;
  body[9] = colourType;
  return chunk('IHDR', body);
}

/** RGBA words to palette entries; transparent is entry 0. `undefined` when there are too many colours. */
function paletteOf(bands: readonly Band[]): Map<number, number> | undefined {
  const palette = new Map<number, number>([[0, 0]]);
  for (const band of bands) {
    const words = wordsOf(band.pixels);
    let previous = 0;
    // An index, not an iterator: this loop sees every pixel of every bar.
    for (let index = 0; index < words.length; index += 1) {
      const word = words[index] ?? 0;
      if (word === previous) continue;
      previous = word;
      if (palette.has(word)) continue;
      if (palette.size === MAX_COLOURS) return undefined;
      palette.set(word, palette.size);
    }
  }
  return palette;
}

function paletteChunks(palette: ReadonlyMap<number, number>): Buffer[] {
  const words = [...palette.keys()];
  const colours = words.flatMap((word) => [word & 255, (word >>> 8) & 255, (word >>> 16) & 255]);
  const alphas = words.map((word) => word >>> 24);
  return [chunk('PLTE', Uint8Array.from(colours)), chunk('tRNS', Uint8Array.from(alphas))];
}

function indexedRows(band: Band, palette: ReadonlyMap<number, number>): Buffer {
  const words = wordsOf(band.pixels);
  const rows = Buffer.alloc((band.width + 1) * band.height);
  let source = 0;
  let target = 0;
  let previous = 0;
  let entry = 0;
  for (let row = 0; row < band.height; row += 1) {
    rows[target] = FILTER_NONE;
    target += 1;
    for (let column = 0; column < band.width; column += 1, source += 1, target += 1) {
      const word = words[source] ?? 0;
      if (word !== previous) {
        previous = word;
        entry = palette.get(word) ?? 0;
      }
      rows[target] = entry;
    }
  }
  return rows;
}

function rgbaRows({ width, height, pixels }: Band): Buffer {
  const stride = width * 4;
  const rows = Buffer.alloc((stride + 1) * height);
  for (let row = 0; row < height; row += 1) {
    rows[row * (stride + 1)] = FILTER_NONE;
    rows.set(pixels.subarray(row * stride, (row + 1) * stride), row * (stride + 1) + 1);
  }
  return rows;
}

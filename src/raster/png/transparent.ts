// Writes a transparent PNG with only the bars. It is assembled from the bands, so the full canvas is never in memory.
// Text on a bar has few colors and gets a palette; color emoji need RGBA. Both are lossless.

import type { Size } from '../../layout/geometry.ts';
import { type Band, wordsOf } from '../band.ts';
import { COLOR_TYPE, chunk, imageHeader, SIGNATURE } from './chunks.ts';
import { PiecewiseDeflate, type ZeroRuns } from './deflate.ts';

const MAX_COLORS = 256;
const FILTER_NONE = 0;
/** Filters or higher levels save a few kilobytes and take two to five times as long. */
const COMPRESSION_LEVEL = 3;

export function writeTransparentPng(canvas: Size, bands: readonly Band[], zeros: ZeroRuns): Buffer {
  const palette: Palette = new Map([[0, 0]]);
  const indexed = indexBands(bands, palette);
  const stream = new PiecewiseDeflate(zeros);
  const rowLength = 1 + canvas.width * (indexed ? 1 : 4);
  let row = 0;
  for (const [index, band] of bands.entries()) {
    stream.addZeros((band.top - row) * rowLength);
    stream.addBytes(indexed?.[index] ?? rgbaRows(band), COMPRESSION_LEVEL);
    row = band.top + band.height;
  }
  stream.addZeros((canvas.height - row) * rowLength);
  return Buffer.concat([
    SIGNATURE,
    ...imageHeader(canvas, indexed ? COLOR_TYPE.palette : COLOR_TYPE.rgba),
    ...(indexed ? paletteChunks(palette) : []),
    ...chunk('IDAT', ...stream.finish()),
    ...chunk('IEND'),
  ]);
}

/** Maps RGBA words to palette entries. Entry 0 is transparent. */
type Palette = Map<number, number>;

/** Returns the bands as rows of palette entries, or `undefined` when there are too many colors. */
function indexBands(bands: readonly Band[], palette: Palette): Buffer[] | undefined {
  const indexed: Buffer[] = [];
  for (const band of bands) {
    const rows = indexedRows(band, palette);
    if (rows === undefined) return undefined;
    indexed.push(rows);
  }
  return indexed;
}

function indexedRows({ width, height, pixels }: Band, palette: Palette): Buffer | undefined {
  const bytes = Buffer.from(pixels.buffer, pixels.byteOffset, pixels.length);
  const words = wordsOf(pixels);
  const stride = width * 4;
  const rows = Buffer.alloc((width + 1) * height);
  for (let row = 0; row < height; row += 1) {
    const target = row * (width + 1);
    const source = row * stride;
    // Rows above and below the text repeat. A native comparison costs almost nothing.
    if (row > 0 && bytes.compare(bytes, source - stride, source, source, source + stride) === 0) {
      rows.copyWithin(target, target - width - 1, target);
    } else if (!indexRow(words, row * width, width, rows, target + 1, palette)) return undefined;
  }
  return rows;
}

function indexRow(
  words: Int32Array,
  source: number,
  width: number,
  rows: Buffer,
  target: number,
  palette: Palette,
): boolean {
  let previous = 0;
  let entry = 0;
  for (let column = 0; column < width; column += 1) {
    const word = words[source + column] ?? 0;
    if (word !== previous) {
      previous = word;
      entry = entryOf(word, palette);
      if (entry === MAX_COLORS) return false;
    }
    rows[target + column] = entry;
  }
  return true;
}

function entryOf(word: number, palette: Palette): number {
  const known = palette.get(word);
  if (known !== undefined) return known;
  const entry = palette.size;
  if (entry < MAX_COLORS) palette.set(word, entry);
  return entry;
}

function paletteChunks(palette: ReadonlyMap<number, number>): Uint8Array[] {
  const words = [...palette.keys()];
  const colors = words.flatMap((word) => [word & 255, (word >>> 8) & 255, (word >>> 16) & 255]);
  const alphas = words.map((word) => word >>> 24);
  return [...chunk('PLTE', Uint8Array.from(colors)), ...chunk('tRNS', Uint8Array.from(alphas))];
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

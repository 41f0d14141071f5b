// Writes a transparent PNG with only the bars, and the watermark of free ones. It is assembled from the bands, so the
// full canvas is never in memory.
// Text on a bar has few colors and gets a palette. Color emoji need RGBA. Both are lossless.

import type { Size } from '../../layout/geometry.ts';
import { must } from '../../../shared/must.ts';
import type { Strokes } from '../../layout/watermark.ts';
import { type Band, wordsOf } from '../band.ts';
import { DARK_STROKE, LIGHT_STROKE, strokeBands } from '../strokes.ts';
import { COLOR_TYPE, chunk, imageHeader, SIGNATURE } from './chunks.ts';
import { PiecewiseDeflate, type ZeroRuns } from './deflate.ts';

const MAX_COLORS = 256;
const FILTER_NONE = 0;
/** Filters or higher levels save a few kilobytes and take two to five times as long. */
const COMPRESSION_LEVEL = 3;

/** Writes the PNG, with the strokes on the bands, too. */
export function writeTransparentPng(canvas: Size, bands: readonly Band[], zeros: ZeroRuns, strokes?: Strokes): Buffer {
  const palette: Palette = new Map(
    (strokes ? [0, LIGHT_STROKE, DARK_STROKE] : [0]).map((word, entry) => [word, entry]),
  );
  if (strokes) strokeBands(strokes, bands);
  const indexed = indexBands(bands, palette);
  const rowsOf = (band: Band, index: number): Buffer => indexed?.[index] ?? rgbaRows(band);
  const data = deflateBands(canvas, bands, zeros, { strokes, palette: indexed && palette, rowsOf });
  return Buffer.concat([
    SIGNATURE,
    ...imageHeader(canvas, indexed ? COLOR_TYPE.palette : COLOR_TYPE.rgba),
    ...(indexed ? paletteChunks(palette) : []),
    ...chunk('IDAT', ...data),
    ...chunk('IEND'),
  ]);
}

interface RowFormat {
  readonly strokes: Strokes | undefined;
  /** Undefined for RGBA. */
  readonly palette: Palette | undefined;
  readonly rowsOf: (band: Band, index: number) => Buffer;
}

function deflateBands(
  { width, height }: Size,
  bands: readonly Band[],
  zeros: ZeroRuns,
  { strokes, palette, rowsOf }: RowFormat,
): Uint8Array[] {
  const stream = new PiecewiseDeflate(zeros);
  const rowLength = 1 + width * (palette ? 1 : 4);
  const addGap = (from: number, to: number): void => {
    if (strokes) addStrokes(stream, { strokes, width, palette }, from, to);
    else stream.addZeros((to - from) * rowLength);
  };
  let row = 0;
  for (const [index, band] of bands.entries()) {
    addGap(row, band.top);
    stream.addBytes(rowsOf(band, index), COMPRESSION_LEVEL);
    row = band.top + band.height;
  }
  addGap(row, height);
  return stream.finish();
}

/** Returns the bands on their canvas as the compressed data of an RGBA image. */
export function deflatedRgba(
  canvas: Size,
  bands: readonly Band[],
  zeros: ZeroRuns,
  strokes: Strokes | undefined,
): Uint8Array[] {
  if (strokes) strokeBands(strokes, bands);
  return deflateBands(canvas, bands, zeros, { strokes, palette: undefined, rowsOf: rgbaRows });
}

interface StrokedRows {
  readonly strokes: Strokes;
  readonly width: number;
  /** Undefined for RGBA. */
  readonly palette: Palette | undefined;
}

/**
 * Adds the rows between the bands. They repeat after each period, so one period is compressed, and then the rest of the
 * last one.
 */
function addStrokes(stream: PiecewiseDeflate, rows: StrokedRows, from: number, to: number): void {
  const { period } = rows.strokes;
  const repeats = Math.floor((to - from) / period);
  const rest = from + repeats * period;
  if (repeats > 0) stream.addBytes(strokedRows(rows, from, from + period), COMPRESSION_LEVEL, repeats);
  if (rest < to) stream.addBytes(strokedRows(rows, rest, to), COMPRESSION_LEVEL);
}

function strokedRows({ strokes, width, palette }: StrokedRows, top: number, bottom: number): Buffer {
  const band = { top, width, height: bottom - top, pixels: new Uint8ClampedArray((bottom - top) * width * 4) };
  strokeBands(strokes, [band]);
  return must(palette ? indexedRows(band, palette) : rgbaRows(band), 'rows of strokes');
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

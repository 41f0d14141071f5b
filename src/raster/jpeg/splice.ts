// Draws bands on a JPEG without recompressing it. Only the rows of MCUs that a band touches are decoded and quantized
// again, with the tables of the source. The bits of all other rows are copied. If the Huffman tables have no room for
// the codes of the bars, the same coefficients are written with other codes.

import type { Strokes } from '../../layout/watermark.ts';
import { type Band, wordsOf } from '../band.ts';
import { BitWriter } from './bit-writer.ts';
import { blendOverlay } from './blend-block.ts';
import {
  type McuOrder,
  readAc,
  readDifference,
  recodeAc,
  skipAc,
  skipMcus,
  writeAc,
  writeDifference,
} from './blocks.ts';
import { type EntropyData, type Interval, readEntropyData, writeEntropyData } from './entropy-data.ts';
import { type HuffmanSpec, type JpegHeaders, readHeaders } from './headers.ts';
import { blocksOf, type McuBlock, mcuGrid, orderOf, type SplicedImage } from './mcu.ts';
import { type OverlayStrip, OverlayStrips } from './overlay-strip.ts';
import { coefficientMoves, NO_TURN, turnFor, turnHeaders } from './turn.ts';
import { TurnedSplice } from './turned-splice.ts';

const END_OF_IMAGE = Uint8Array.of(0xff, 0xd9);
const UNMOVED = coefficientMoves(NO_TURN);

/** 16 x 16 gray pixels, and a bar on them. */
const SAMPLE = Buffer.from(
  '/9j/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/2wBDARESEhgVGC8aGi9j' +
    'QjhCY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2P/wAARCAAQABADASIAAhEBAxEB/8QAFQABAQAAAAAA' +
    'AAAAAAAAAAAAAAP/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFAEBAAAAAAAAAAAAAAAAAAAAAP/EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEA' +
    'AhEDEQA/AKAA/9k=',
  'base64',
);
const SAMPLE_BAR: Band = { top: 0, height: 8, width: 16, pixels: new Uint8ClampedArray(16 * 8 * 4) };
/**
 * V8 discards optimized code when garbage collection frees the last object of a shape it was compiled for. A render
 * would leave none, and the next one would run unoptimized, so the objects of a small render are kept alive.
 */
let keptAlive: readonly unknown[] | undefined;

/**
 * `orientation` is the EXIF orientation. Bands must be as wide as the upright image. Returns `undefined` for every file
 * that isn't a plain, undamaged JPEG with the needed codes, or that can't be turned without decoding it.
 */
export function spliceBands(
  file: Uint8Array,
  bands: readonly Band[],
  orientation = 1,
  strokes?: Strokes,
): Buffer | undefined {
  keptAlive ??= [spliceSample(1), spliceSample(6)];
  const prepared = prepare(file, bands, orientation, strokes);
  const spliced = prepared?.splice.run();
  if (prepared === undefined || spliced === undefined) return undefined;
  const { headers, blocks } = prepared;
  const tables = new Map(
    blocks.flatMap(({ dc, ac }) => [dc.spec, ac.spec]).map((spec) => [spec.id, tableSegment(spec)]),
  );
  const start = [file.subarray(0, 2), ...headers.kept, ...tables.values(), headers.scan];
  return Buffer.concat([...start, ...writeEntropyData(spliced), END_OF_IMAGE]);
}

function spliceSample(orientation: number): unknown {
  const splice = prepare(SAMPLE, [SAMPLE_BAR], orientation)?.splice;
  splice?.run();
  return splice;
}

interface Prepared {
  /** The headers of the upright image. */
  readonly headers: JpegHeaders;
  readonly blocks: readonly McuBlock[];
  readonly splice: { run(): EntropyData | undefined };
}

function prepare(
  file: Uint8Array,
  bands: readonly Band[],
  orientation: number,
  strokes?: Strokes,
): Prepared | undefined {
  const source = readHeaders(file);
  const turn = turnFor(orientation);
  const headers = source && turn && turnHeaders(source, turn);
  if (source === undefined || turn === undefined || headers === undefined) return undefined;
  if (bands.some(({ width }) => width !== headers.width)) return undefined;
  if (headers.components.length === 1 && !bands.every(isGray)) return undefined;
  const data = readEntropyData(file, headers.dataStart);
  const blocks = data && blocksOf(headers);
  if (data === undefined || blocks === undefined) return undefined;
  const output = { headers, blocks, bands, strokes };
  const splice = turn === NO_TURN ? new Splice(output, data) : new TurnedSplice(source, turn, output, data);
  return { headers, blocks, splice };
}

function tableSegment({ id, counts, symbols }: HuffmanSpec): Uint8Array {
  const length = 2 + 1 + counts.length + symbols.length;
  return Uint8Array.of(0xff, 0xc4, length >> 8, length & 255, id, ...counts, ...symbols);
}

function isGray({ pixels }: Band): boolean {
  return wordsOf(pixels).every(
    (word) => (word & 255) === ((word >>> 8) & 255) && (word & 255) === ((word >>> 16) & 255),
  );
}

class Splice {
  readonly #blocks: readonly McuBlock[];
  readonly #headers: JpegHeaders;
  readonly #source: EntropyData;
  readonly #overlay: OverlayStrips;
  readonly #writer: BitWriter;
  readonly #mcusPerRow: number;
  readonly #keepsCodes: boolean;
  readonly #order: McuOrder;
  readonly #view: DataView;
  /** The position in bits. */
  #position = 0;
  #end = 0;
  /** The last DC value of each component, in the source and in the output. */
  readonly #sourceDc = new Int32Array(3);
  readonly #outputDc = new Int32Array(3);
  readonly #difference = new Int32Array(1);
  readonly #coefficients = new Int32Array(64);

  constructor(image: SplicedImage, source: EntropyData) {
    const { headers, blocks } = image;
    this.#headers = headers;
    this.#blocks = blocks;
    this.#source = source;
    this.#overlay = new OverlayStrips(image);
    this.#keepsCodes = blocks.every(({ dc, ac }) => dc.keepsCodes && ac.keepsCodes);
    this.#mcusPerRow = mcuGrid(headers).columns;
    this.#order = orderOf(blocks);
    this.#view = new DataView(source.bytes.buffer, source.bytes.byteOffset, source.bytes.length);
    this.#writer = new BitWriter(source.bytes.length);
  }

  run(): EntropyData | undefined {
    const { columns, rows } = mcuGrid(this.#headers);
    const total = columns * rows;
    const perInterval = this.#headers.restartInterval === 0 ? total : this.#headers.restartInterval;
    if (this.#source.intervals.length !== Math.ceil(total / perInterval)) return undefined;
    const intervals: Interval[] = [];
    for (const [index, interval] of this.#source.intervals.entries()) {
      const first = index * perInterval;
      if (!this.#spliceInterval(interval, first, Math.min(total, first + perInterval))) return undefined;
      intervals.push({ start: intervals.at(-1)?.end ?? 0, end: this.#writer.align() });
    }
    return { bytes: this.#writer.bytes, intervals };
  }

  #spliceInterval({ start, end }: Interval, first: number, last: number): boolean {
    this.#sourceDc.fill(0);
    this.#outputDc.fill(0);
    this.#position = start * 8;
    this.#end = end * 8;
    for (let mcu = first; mcu < last; ) {
      const row = Math.floor(mcu / this.#mcusPerRow);
      const rowEnd = Math.min(last, (row + 1) * this.#mcusPerRow);
      const strip = this.#overlay.at(row);
      const isDone = strip ? this.#blendMcus(strip, mcu, rowEnd) : this.#carryOver(rowEnd - mcu);
      if (!isDone) return false;
      mcu = rowEnd;
    }
    // At most a byte of padding may be left, otherwise we have misread something.
    return this.#end - this.#position < 8;
  }

  #carryOver(count: number): boolean {
    return this.#keepsCodes ? this.#copyMcus(count) : this.#recodeMcus(count);
  }

  #recodeMcus(count: number): boolean {
    const bytes = this.#view;
    for (let mcu = 0; mcu < count; mcu += 1) {
      for (const { component, dc, ac } of this.#blocks) {
        const afterDc = readDifference(bytes, this.#position, dc.source, this.#difference);
        if (afterDc < 0) return false;
        const value = (this.#sourceDc[component] ?? 0) + (this.#difference[0] ?? 0);
        if (!writeDifference(this.#writer, value - (this.#outputDc[component] ?? 0), dc.output)) return false;
        this.#position = recodeAc(bytes, afterDc, ac.source, this.#writer, ac.output);
        if (this.#position < 0 || this.#position > this.#end) return false;
        this.#sourceDc[component] = value;
        this.#outputDc[component] = value;
      }
    }
    return true;
  }

  #copyMcus(count: number): boolean {
    if (!this.#copyFirstMcu()) return false;
    const from = this.#position;
    this.#position = skipMcus(this.#view, from, this.#end, count - 1, this.#order, this.#sourceDc);
    if (this.#position < 0) return false;
    this.#outputDc.set(this.#sourceDc);
    this.#writer.copy(this.#source.bytes, from, this.#position);
    return true;
  }

  /** The first block of each component may need another DC difference, because the one before it changed. */
  #copyFirstMcu(): boolean {
    let from = this.#position;
    for (const { component, dc, ac } of this.#blocks) {
      const start = this.#position;
      const afterDc = readDifference(this.#view, start, dc.source, this.#difference);
      const after = afterDc < 0 ? -1 : skipAc(this.#view, afterDc, ac.source);
      if (after < 0 || after > this.#end) return false;
      this.#position = after;
      const value = (this.#sourceDc[component] ?? 0) + (this.#difference[0] ?? 0);
      if (this.#sourceDc[component] !== this.#outputDc[component]) {
        this.#writer.copy(this.#source.bytes, from, start);
        if (!writeDifference(this.#writer, value - (this.#outputDc[component] ?? 0), dc.output)) return false;
        from = afterDc;
      }
      this.#sourceDc[component] = value;
      this.#outputDc[component] = value;
    }
    this.#writer.copy(this.#source.bytes, from, this.#position);
    return true;
  }

  #blendMcus(strip: OverlayStrip, first: number, last: number): boolean {
    for (let mcu = first; mcu < last; mcu += 1) {
      const column = mcu % this.#mcusPerRow;
      for (const block of this.#blocks) if (!this.#blendBlock(block, column, strip)) return false;
    }
    return true;
  }

  #blendBlock(block: McuBlock, column: number, strip: OverlayStrip): boolean {
    const { component, dc, ac } = block;
    const coefficients = this.#coefficients;
    const afterDc = readDifference(this.#view, this.#position, dc.source, this.#difference);
    const after = afterDc < 0 ? -1 : readAc(this.#view, afterDc, ac.source, UNMOVED, coefficients);
    if (after < 0 || after > this.#end) return false;
    this.#position = after;
    coefficients[0] = (this.#sourceDc[component] ?? 0) + (this.#difference[0] ?? 0);
    this.#sourceDc[component] = coefficients[0];
    blendOverlay(coefficients, block, column, strip);
    const value = coefficients[0] ?? 0;
    const difference = value - (this.#outputDc[component] ?? 0);
    this.#outputDc[component] = value;
    return writeDifference(this.#writer, difference, dc.output) && writeAc(this.#writer, coefficients, ac.output);
  }
}

// Draws bands on a JPEG without recompressing it. Only the rows of MCUs that a band touches are decoded and quantized
// again, with the tables of the source. Of all others the bits are copied, or, if the Huffman tables have no room for
// the codes of the bars, the same coefficients are written with other codes.

import type { Size } from '../../layout/geometry.ts';
import { type Band, wordsOf } from '../band.ts';
import { BitWriter } from './bit-writer.ts';
import { blendPixels, blendPlainBar } from './blend-block.ts';
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
import { buildTable, extend, type HuffmanTable } from './huffman.ts';
import { MIXED, OverlayStrip, PLAIN } from './overlay-strip.ts';
import { type Scales, scalesOf } from './transform.ts';

const BLOCK_SIDE = 8;
const END_OF_IMAGE = Uint8Array.of(0xff, 0xd9);
/** Rows with text take more bits than before. */
const EXTRA_BYTES = 65_536;

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
 * V8 throws optimized code away when garbage collection frees the last object of a shape it was compiled for. A render
 * would leave none, and the next one would run unoptimized, so the objects of a small one stay.
 */
let keptAlive: Splice | undefined;

/**
 * Returns `undefined` for every file that isn't a plain, undamaged JPEG with the needed codes. Bands must be as wide as
 * the stored image, so the caller must not pass an image whose EXIF orientation turns it.
 */
export function spliceBands(file: Uint8Array, bands: readonly Band[]): Buffer | undefined {
  keptAlive ??= spliceSample();
  const prepared = prepare(file, bands);
  const spliced = prepared?.splice.run();
  if (prepared === undefined || spliced === undefined) return undefined;
  const { headers, blocks } = prepared;
  const tables = new Map(
    blocks.flatMap(({ dc, ac }) => [dc.spec, ac.spec]).map((spec) => [spec.id, tableSegment(spec)]),
  );
  const start = [file.subarray(0, 2), ...headers.kept, ...tables.values(), headers.scan];
  return Buffer.concat([...start, ...writeEntropyData(spliced), END_OF_IMAGE]);
}

function spliceSample(): Splice | undefined {
  const splice = prepare(SAMPLE, [SAMPLE_BAR])?.splice;
  splice?.run();
  return splice;
}

interface Prepared {
  readonly headers: JpegHeaders;
  readonly blocks: readonly McuBlock[];
  readonly splice: Splice;
}

function prepare(file: Uint8Array, bands: readonly Band[]): Prepared | undefined {
  const headers = readHeaders(file);
  if (headers === undefined || bands.some(({ width }) => width !== headers.width)) return undefined;
  if (headers.components.length === 1 && !bands.every(isGray)) return undefined;
  const data = readEntropyData(file, headers.dataStart);
  const blocks = data && blocksOf(headers);
  return data && blocks && { headers, blocks, splice: new Splice(headers, blocks, data, bands) };
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

/** The table of the source and that of the output. */
interface Codec {
  readonly source: HuffmanTable;
  readonly output: HuffmanTable;
  readonly spec: HuffmanSpec;
  readonly keepsCodes: boolean;
}

/** Components usually share tables. */
function codecCache(): (spec: HuffmanSpec) => Codec | undefined {
  const codecs = new Map<HuffmanSpec, Codec | undefined>();
  return (spec) => {
    if (!codecs.has(spec)) codecs.set(spec, createCodec(spec));
    return codecs.get(spec);
  };
}

function createCodec(spec: HuffmanSpec): Codec | undefined {
  const source = buildTable(spec);
  const extended = extend(spec);
  const output = extended && buildTable(extended.spec);
  return source && output && { source, output, ...extended };
}

/** One block of an MCU. */
interface McuBlock {
  readonly component: 0 | 1 | 2;
  readonly steps: Uint16Array;
  readonly scales: Scales;
  readonly dc: Codec;
  readonly ac: Codec;
  /** In pixels, relative to the MCU. */
  readonly left: number;
  readonly top: number;
  readonly scaleX: number;
  readonly scaleY: number;
}

function mcuSize({ components }: JpegHeaders): Size {
  const [luma] = components;
  return { width: BLOCK_SIDE * (luma?.horizontal ?? 1), height: BLOCK_SIDE * (luma?.vertical ?? 1) };
}

function blocksOf(headers: JpegHeaders): readonly McuBlock[] | undefined {
  const { width, height } = mcuSize(headers);
  const blocks: McuBlock[] = [];
  const codecOf = codecCache();
  for (const [index, { horizontal, vertical, steps, ...specs }] of headers.components.entries()) {
    const dc = codecOf(specs.dc);
    const ac = codecOf(specs.ac);
    if (dc === undefined || ac === undefined) return undefined;
    const scales = scalesOf(steps);
    const scaleX = width / (BLOCK_SIDE * horizontal);
    const scaleY = height / (BLOCK_SIDE * vertical);
    for (let at = 0; at < horizontal * vertical; at += 1) {
      const left = (at % horizontal) * BLOCK_SIDE;
      const top = Math.floor(at / horizontal) * BLOCK_SIDE;
      blocks.push({ component: index as 0 | 1 | 2, steps, scales, dc, ac, left, top, scaleX, scaleY });
    }
  }
  return blocks;
}

class Splice {
  readonly #bands: readonly Band[];
  readonly #blocks: readonly McuBlock[];
  readonly #headers: JpegHeaders;
  readonly #source: EntropyData;
  readonly #writer: BitWriter;
  readonly #mcu: Size;
  readonly #mcusPerRow: number;
  readonly #keepsCodes: boolean;
  readonly #order: McuOrder;
  readonly #view: DataView;
  /** In bits. */
  #position = 0;
  #end = 0;
  /** The last DC value of each component, in the source and in the output. */
  readonly #sourceDc = new Int32Array(3);
  readonly #outputDc = new Int32Array(3);
  readonly #difference = new Int32Array(1);
  readonly #coefficients = new Int32Array(64);
  #strip: { readonly row: number; readonly overlay: OverlayStrip } | undefined;

  constructor(headers: JpegHeaders, blocks: readonly McuBlock[], source: EntropyData, bands: readonly Band[]) {
    this.#headers = headers;
    this.#blocks = blocks;
    this.#source = source;
    this.#bands = bands;
    this.#mcu = mcuSize(headers);
    this.#keepsCodes = blocks.every(({ dc, ac }) => dc.keepsCodes && ac.keepsCodes);
    this.#mcusPerRow = Math.ceil(headers.width / this.#mcu.width);
    this.#order = {
      components: Uint8Array.from(blocks, ({ component }) => component),
      dc: blocks.map(({ dc }) => dc.source),
      ac: blocks.map(({ ac }) => ac.source),
    };
    this.#view = new DataView(source.bytes.buffer, source.bytes.byteOffset, source.bytes.length);
    this.#writer = new BitWriter(source.bytes.length + EXTRA_BYTES);
  }

  run(): EntropyData | undefined {
    const total = this.#mcusPerRow * Math.ceil(this.#headers.height / this.#mcu.height);
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
      const isDone = this.#isTouched(row) ? this.#blendMcus(row, mcu, rowEnd) : this.#carryOver(rowEnd - mcu);
      if (!isDone) return false;
      mcu = rowEnd;
    }
    // Less than a byte of padding is left, otherwise we have misread something.
    return this.#end - this.#position < 8;
  }

  #isTouched(row: number): boolean {
    const top = row * this.#mcu.height;
    const isAt = ({ top: start, height }: Band): boolean => start < top + this.#mcu.height && start + height > top;
    return this.#bands.some(isAt);
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

  #blendMcus(row: number, first: number, last: number): boolean {
    const overlay = this.#overlayOf(row);
    for (let mcu = first; mcu < last; mcu += 1) {
      const left = (mcu % this.#mcusPerRow) * this.#mcu.width;
      for (const block of this.#blocks) if (!this.#blendBlock(block, left, overlay)) return false;
    }
    return true;
  }

  #overlayOf(row: number): OverlayStrip {
    if (this.#strip?.row !== row) {
      const size = { width: this.#mcusPerRow * this.#mcu.width, height: this.#mcu.height };
      this.#strip = { row, overlay: new OverlayStrip(this.#headers, this.#bands, row * this.#mcu.height, size) };
    }
    return this.#strip.overlay;
  }

  #blendBlock(block: McuBlock, mcuLeft: number, overlay: OverlayStrip): boolean {
    const { component, steps, dc, ac, top, scaleX, scaleY } = block;
    const coefficients = this.#coefficients;
    const afterDc = readDifference(this.#view, this.#position, dc.source, this.#difference);
    const after = afterDc < 0 ? -1 : readAc(this.#view, afterDc, ac.source, coefficients);
    if (after < 0 || after > this.#end) return false;
    this.#position = after;
    coefficients[0] = (this.#sourceDc[component] ?? 0) + (this.#difference[0] ?? 0);
    this.#sourceDc[component] = coefficients[0];
    const left = mcuLeft + block.left;
    const coverage = overlay.coverage(left, top, BLOCK_SIDE * scaleX, BLOCK_SIDE * scaleY);
    if (coverage === PLAIN) blendPlainBar(coefficients, steps, component);
    else if (coverage === MIXED) blendPixels(coefficients, block, overlay, left);
    const value = coefficients[0] ?? 0;
    const difference = value - (this.#outputDc[component] ?? 0);
    this.#outputDc[component] = value;
    return writeDifference(this.#writer, difference, dc.output) && writeAc(this.#writer, coefficients, ac.output);
  }
}

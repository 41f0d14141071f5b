// The blocks of an MCU, with the tables to read and write them.

import type { Size } from '../../layout/geometry.ts';
import type { Strokes } from '../../layout/watermark.ts';
import type { Band } from '../band.ts';
import type { McuOrder } from './blocks.ts';
import type { HuffmanSpec, JpegHeaders } from './headers.ts';
import { buildTable, extend, type HuffmanTable } from './huffman.ts';
import { type Scales, scalesOf } from './transform.ts';

const BLOCK_SIDE = 8;

/** The table of the source, and that of the output. */
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
export interface McuBlock {
  /** 0 is luma, 1 and 2 are chroma. */
  readonly component: 0 | 1 | 2;
  readonly steps: Uint16Array;
  readonly scales: Scales;
  readonly dc: Codec;
  readonly ac: Codec;
  /** The position in pixels, relative to the MCU. */
  readonly left: number;
  readonly top: number;
  /** How many pixels a sample covers. */
  readonly scaleX: number;
  readonly scaleY: number;
  readonly mcuWidth: number;
}

/** The output: the upright image with its bands and its watermark. */
export interface SplicedImage {
  readonly headers: JpegHeaders;
  readonly blocks: readonly McuBlock[];
  readonly bands: readonly Band[];
  readonly strokes: Strokes | undefined;
}

export function mcuSize({ components }: JpegHeaders): Size {
  const [luma] = components;
  return { width: BLOCK_SIDE * (luma?.horizontal ?? 1), height: BLOCK_SIDE * (luma?.vertical ?? 1) };
}

/** Returns the MCUs of the whole image. */
export function mcuGrid(headers: JpegHeaders): { readonly columns: number; readonly rows: number } {
  const { width, height } = mcuSize(headers);
  return { columns: Math.ceil(headers.width / width), rows: Math.ceil(headers.height / height) };
}

export function blocksOf(headers: JpegHeaders): readonly McuBlock[] | undefined {
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
      blocks.push({ component: index as 0 | 1 | 2, steps, scales, dc, ac, left, top, scaleX, scaleY, mcuWidth: width });
    }
  }
  return blocks;
}

/** Returns the order in which the MCUs of the source are read. */
export function orderOf(blocks: readonly McuBlock[]): McuOrder {
  return {
    components: Uint8Array.from(blocks, ({ component }) => component),
    dc: blocks.map(({ dc }) => dc.source),
    ac: blocks.map(({ ac }) => ac.source),
  };
}

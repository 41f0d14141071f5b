// Writes decoded images to their place on the canvas as 8-bit RGB. The arithmetic is done in WebAssembly
// (assembly/heif), block by block. Chroma between its samples is interpolated linearly, as browsers do.

import type { Size } from '../../layout/geometry.ts';
import type { ColorMapping } from './color-mapping.ts';
import { HEIF_CONVERTER } from './converter.generated.ts';
import { intersect, inverse, isEmpty, mapRectangle, type PixelMap, type Rectangle, wholeOf } from './geometry.ts';
import type { RgbMatrix } from './matrix.ts';
import type { Plane, Planes } from './planes.ts';

/** The part of the WebAssembly API that is used here. TypeScript declares it only for browsers. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

interface Constant {
  readonly value: number;
}

type Area =
  | 'MAX_COLUMNS'
  | 'MAX_ROWS'
  | 'LEVELS'
  | 'LIGHT'
  | 'SIGNAL_STEPS'
  | 'SIGNAL'
  | 'TO_SRGB'
  | 'MATRIX'
  | 'LUMA_IN'
  | 'CB_IN'
  | 'CR_IN'
  | 'OUT'
  | 'MEMORY_BYTES';

/** The exports of the compiled module. Constants are addresses and sizes in its memory. */
interface Exports extends Readonly<Record<Area, Constant>> {
  readonly memory: { readonly buffer: ArrayBuffer };
  convert(
    columns: number,
    rows: number,
    isHalfWidth: boolean,
    isHalfHeight: boolean,
    isMapped: boolean,
    origin: number,
    stepX: number,
    stepY: number,
  ): void;
}

/** The module is compiled once per process, so that later images run optimized code from the start. */
let compiled: object | undefined;

export interface Canvas extends Size {
  /** The fourth channel is for alpha. The converter leaves arbitrary values in it. */
  readonly channels: 3 | 4;
  readonly data: Uint8Array;
}

export class Converter {
  readonly #exports: Exports;
  readonly #bytes: Uint8Array;
  readonly #samples: Uint16Array;
  readonly #isMapped: boolean;

  /** Without a mapping, the colors of the image must be sRGB. */
  constructor(mapping?: ColorMapping) {
    compiled ??= new WebAssembly.Module(Buffer.from(HEIF_CONVERTER, 'base64'));
    this.#exports = new WebAssembly.Instance(compiled).exports as Exports;
    const { memory, MEMORY_BYTES } = this.#exports;
    this.#bytes = new Uint8Array(memory.buffer);
    this.#samples = new Uint16Array(memory.buffer);
    if (this.#bytes.length < MEMORY_BYTES.value) throw new Error('the converter of HEIF has too little memory');
    this.#isMapped = mapping !== undefined;
    if (mapping) this.#load(mapping);
  }

  /** The value of white that the matrix must produce. */
  get white(): number {
    return this.#isMapped ? this.#exports.LEVELS.value - 1 : 255;
  }

  /** `clip` is the part of the canvas that may be written. */
  write(canvas: Canvas, planes: Planes, matrix: RgbMatrix, map: PixelMap, clip: Rectangle): void {
    if (isEmpty(clip)) return;
    const source = intersect(mapRectangle(intersect(clip, wholeOf(canvas)), inverse(map)), wholeOf(planes));
    // Half a level is added, because the module rounds down.
    const factors = matrix.map((factor, index) => (index % 4 === 3 ? factor + 0.5 : factor));
    this.#floats('MATRIX', factors.length).set(factors);
    const { MAX_COLUMNS, MAX_ROWS } = this.#exports;
    // Blocks start where a chroma sample starts.
    for (let top = source.top & ~1; top < source.bottom; top += MAX_ROWS.value) {
      for (let left = source.left & ~1; left < source.right; left += MAX_COLUMNS.value) {
        const right = Math.min(source.right, left + MAX_COLUMNS.value);
        const bottom = Math.min(source.bottom, top + MAX_ROWS.value);
        this.#read(planes, { left, top, right, bottom });
        this.#convert(canvas, planes, { left, top, right, bottom }, map, clip);
      }
    }
  }

  #load({ light, matrix, signal }: ColorMapping): void {
    const { LEVELS, SIGNAL_STEPS, SIGNAL } = this.#exports;
    const [levels, steps] = [LEVELS.value, SIGNAL_STEPS.value];
    const tables = this.#floats('LIGHT', levels * 3);
    for (const [index, curve] of light.entries()) {
      tables.set(
        Float32Array.from({ length: levels }, (_, level) => curve(level / (levels - 1))),
        index * levels,
      );
    }
    const signals = Uint8Array.from({ length: steps }, (_, step) => Math.round(255 * signal(step / (steps - 1))));
    this.#bytes.set(signals, SIGNAL.value);
    this.#floats('TO_SRGB', 9).set(matrix.map((factor) => factor * (steps - 1)));
  }

  #floats(area: 'LIGHT' | 'TO_SRGB' | 'MATRIX', length: number): Float32Array {
    return new Float32Array(this.#exports.memory.buffer, this.#exports[area].value, length);
  }

  #read({ luma, chroma, halfWidth, halfHeight, width, height }: Planes, block: Rectangle): void {
    const { left, top, right, bottom } = block;
    const { LUMA_IN, CB_IN, CR_IN } = this.#exports;
    const columns = right - left;
    for (let y = top; y < bottom; y += 1) {
      const at = y * luma.stride + left;
      this.#samples.set(luma.samples.subarray(at, at + columns), LUMA_IN.value / 2 + (y - top) * columns);
    }
    if (chroma === undefined) return;
    const size = { width: halfWidth ? (width + 1) >> 1 : width, height: halfHeight ? (height + 1) >> 1 : height };
    const chromaLeft = halfWidth ? left >> 1 : left;
    const chromaColumns = halfWidth ? (columns + 1) >> 1 : columns;
    const [first, last] = halfHeight ? [(top >> 1) - 1, (bottom + 1) >> 1] : [top, bottom - 1];
    for (const [plane, area] of [[chroma[0], CB_IN] as const, [chroma[1], CR_IN] as const]) {
      let to = area.value / 2;
      for (let y = first; y <= last; y += 1) {
        const row = Math.min(size.height - 1, Math.max(0, y));
        this.#readChroma(plane, row, chromaLeft, chromaColumns, size.width, to);
        to += chromaColumns + 2;
      }
    }
  }

  /** Reads one more sample on each side. Beyond the edges of the image, samples repeat. */
  #readChroma({ samples, stride }: Plane, row: number, left: number, columns: number, width: number, to: number): void {
    const start = row * stride;
    const right = left + columns;
    this.#samples[to] = samples[start + Math.max(0, left - 1)] ?? 0;
    this.#samples.set(samples.subarray(start + left, start + right), to + 1);
    this.#samples[to + columns + 1] = samples[start + Math.min(width - 1, right)] ?? 0;
  }

  #convert(canvas: Canvas, planes: Planes, block: Rectangle, map: PixelMap, clip: Rectangle): void {
    const { channels, width, data } = canvas;
    const { OUT } = this.#exports;
    // `placed` is the block as it lies on the canvas.
    const placed = mapRectangle(block, map);
    const stride = (placed.right - placed.left) * channels;
    const stepX = map.xx * channels + map.yx * stride;
    const stepY = map.xy * channels + map.yy * stride;
    const x = map.xx * block.left + map.xy * block.top + map.tx - placed.left;
    const y = map.yx * block.left + map.yy * block.top + map.ty - placed.top;
    const [columns, rows] = [block.right - block.left, block.bottom - block.top];
    const { halfWidth, halfHeight } = planes;
    this.#exports.convert(
      columns,
      rows,
      halfWidth,
      halfHeight,
      this.#isMapped,
      y * stride + x * channels,
      stepX,
      stepY,
    );
    const visible = intersect(placed, intersect(clip, wholeOf(canvas)));
    const bytes = (visible.right - visible.left) * channels;
    for (let line = visible.top; line < visible.bottom; line += 1) {
      const from = OUT.value + (line - placed.top) * stride + (visible.left - placed.left) * channels;
      data.set(this.#bytes.subarray(from, from + bytes), (line * width + visible.left) * channels);
    }
  }
}

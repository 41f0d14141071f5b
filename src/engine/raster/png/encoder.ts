// Compresses rows of pixels for a PNG, in WebAssembly. The source of the module is in assembly/png.

import { PNG_ENCODER } from './encoder.generated.ts';

/** The part of the WebAssembly API that is used here. TypeScript declares it only for browsers. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

interface Constant {
  readonly value: number;
}

/** The exports of the compiled module. Constants are addresses and sizes in its memory. */
interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly MEMORY_BYTES: Constant;
  readonly STRIP: Constant;
  readonly STRIP_CAPACITY: Constant;
  readonly OUTPUT: Constant;
  start(stride: number): void;
  encodeStrip(rows: number, stride: number, bytesPerPixel: number, isLast: boolean): number;
}

/** One zlib stream at a time. Its memory has a fixed size of about 5 MB, for images of any size. */
export class StripEncoder {
  readonly #exports: Exports;
  readonly #memory: Uint8Array;

  constructor() {
    module ??= new WebAssembly.Module(Buffer.from(PNG_ENCODER, 'base64'));
    this.#exports = new WebAssembly.Instance(module).exports as Exports;
    this.#memory = new Uint8Array(this.#exports.memory.buffer);
    if (this.#memory.length < this.#exports.MEMORY_BYTES.value)
      throw new Error('the PNG encoder has too little memory');
  }

  /** Returns the number of rows that fit into one strip. */
  rowsPerStrip(stride: number): number {
    return Math.floor(this.#exports.STRIP_CAPACITY.value / stride);
  }

  start(stride: number): void {
    this.#exports.start(stride);
  }

  /** Returns the memory to which the caller writes the pixels of the next strip. */
  strip(length: number): Uint8Array {
    const start = this.#exports.STRIP.value;
    return this.#memory.subarray(start, start + length);
  }

  /** Compresses the strip, and returns a view that is valid until the next strip. */
  encode(rows: number, stride: number, bytesPerPixel: number, isLast: boolean): Uint8Array {
    const start = this.#exports.OUTPUT.value;
    return this.#memory.subarray(start, start + this.#exports.encodeStrip(rows, stride, bytesPerPixel, isLast));
  }
}

let module: object | undefined;

/** Images that are encoded at the same time need an encoder each. Usually there is one, and it is kept for the next. */
const MAX_IDLE = 1;
const idle: StripEncoder[] = [];

export async function withEncoder<Result>(use: (encoder: StripEncoder) => Promise<Result>): Promise<Result> {
  const encoder = idle.pop() ?? new StripEncoder();
  try {
    return await use(encoder);
  } finally {
    if (idle.length < MAX_IDLE) idle.push(encoder);
  }
}

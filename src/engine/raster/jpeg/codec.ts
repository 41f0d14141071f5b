// The WebAssembly module that reads and writes the coefficients of JPEGs. Its source is in assembly/jpeg.

import { JPEG_CODEC } from './codec.generated.ts';
import type { HuffmanSpec } from './segments.ts';
import { TRANSFORM_PLACES } from './transform.ts';

/** The part of the WebAssembly API that is used here. TypeScript declares it only for browsers. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

interface Constant {
  readonly value: number;
}

/** What the compiled module exports. Constants are addresses in its memory, and so are numbers named `address`. */
interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  readonly HEAP: Constant;
  readonly SPEC: Constant;
  readonly SYMBOL_COUNTS: Constant;
  readonly PLACES: Constant;
  readonly MOVES: Constant;
  readonly SIGNS: Constant;
  readonly TO_SAMPLES: Constant;
  readonly TO_COEFFICIENTS: Constant;
  loadReadTable(index: number): number;
  loadWriteTable(index: number): void;
  clearCounts(): void;
  setFrame(mcuColumns: number, mcuRows: number): void;
  setSource(
    index: number,
    horizontal: number,
    vertical: number,
    columns: number,
    rows: number,
    address: number,
    rowBytes: number,
  ): void;
  addToScan(component: number, dcTable: number, acTable: number): void;
  setRestartInterval(mcus: number): void;
  startScan(address: number, isProgressive: boolean, start: number, end: number, high: number, low: number): void;
  readScan(): number;
  finishScan(): number;
  fillMargin(component: number, columns: number, rows: number): void;
  setOutputs(components: number, mcuColumns: number): void;
  setOutput(
    index: number,
    horizontal: number,
    vertical: number,
    address: number,
    perRow: number,
    perColumn: number,
    scaleX: number,
    scaleY: number,
  ): void;
  setColor(index: number, red: number, green: number, blue: number, middle: number, step: number): void;
  setWriteTables(index: number, dcTable: number, acTable: number): void;
  setStrip(address: number, width: number, cellsAddress: number): void;
  classifyStrip(rows: number): void;
  startPass(): void;
  hasCodes(): number;
  startOutput(address: number): void;
  carryRow(row: number, isChanged: boolean, keepsCodes: boolean, address: number, bytes: number): number;
  prepareRow(row: number, isChanged: boolean, isTurned: boolean): void;
  writeRow(row: number): number;
  finishOutput(): number;
}

const PAGE = 65_536;
const TABLE_SYMBOLS = 256;
/** Tables 0 to 3 are for DC values, 4 to 7 for AC coefficients. */
const FIRST_AC_TABLE = 4;

export class JpegCodec {
  readonly wasm: Exports;

  constructor() {
    module ??= new WebAssembly.Module(Buffer.from(JPEG_CODEC, 'base64'));
    this.wasm = new WebAssembly.Instance(module).exports as Exports;
    this.bytes(this.wasm.PLACES.value, TRANSFORM_PLACES.length).set(TRANSFORM_PLACES);
  }

  get memoryBytes(): number {
    return this.wasm.memory.buffer.byteLength;
  }

  /** A view that is valid until memory grows. */
  bytes(address: number, length: number): Uint8Array {
    return new Uint8Array(this.wasm.memory.buffer, address, length);
  }

  words(address: number, length: number): Int32Array {
    return new Int32Array(this.wasm.memory.buffer, address, length);
  }

  floats(address: number, length: number): Float32Array {
    return new Float32Array(this.wasm.memory.buffer, address, length);
  }

  /** Makes the memory at least this large. */
  reserve(bytes: number): void {
    const missing = Math.ceil((bytes - this.memoryBytes) / PAGE);
    if (missing > 0) this.wasm.memory.grow(missing);
  }

  /** Returns false if the lengths describe no valid code. */
  setReadTable(kind: 'dc' | 'ac', index: number, spec: HuffmanSpec): boolean {
    this.#setSpec(spec);
    return this.wasm.loadReadTable(tableIndex(kind, index)) !== 0;
  }

  setWriteTable(kind: 'dc' | 'ac', index: number, spec: HuffmanSpec): void {
    this.#setSpec(spec);
    this.wasm.loadWriteTable(tableIndex(kind, index));
  }

  /** How often each symbol was counted. */
  counts(kind: 'dc' | 'ac', index: number): Uint32Array {
    const address = this.wasm.SYMBOL_COUNTS.value + tableIndex(kind, index) * TABLE_SYMBOLS * 4;
    return Uint32Array.from(new Uint32Array(this.wasm.memory.buffer, address, TABLE_SYMBOLS));
  }

  #setSpec({ counts, symbols }: HuffmanSpec): void {
    const spec = this.bytes(this.wasm.SPEC.value, 16 + TABLE_SYMBOLS);
    spec.set(counts);
    spec.set(symbols, 16);
  }
}

function tableIndex(kind: 'dc' | 'ac', index: number): number {
  return kind === 'dc' ? index : FIRST_AC_TABLE + index;
}

let module: object | undefined;

/** A codec with more memory than this isn't kept. */
const MAX_IDLE_BYTES = 64 * 1024 * 1024;
/** Splicing doesn't wait for anything, so one is enough. */
let idle: JpegCodec | undefined;

export function withCodec<Result>(use: (codec: JpegCodec) => Result): Result {
  const codec = idle ?? new JpegCodec();
  idle = undefined;
  const result = use(codec);
  if (codec.memoryBytes <= MAX_IDLE_BYTES) idle = codec;
  return result;
}

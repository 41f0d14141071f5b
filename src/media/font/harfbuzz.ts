// HarfBuzz as WebAssembly. Every font gets an instance of its own with a memory of its own, so that nothing a hostile font does to
// it lasts, and no font sees another.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { damagedFont } from './refusal.ts';

/** The part of the WebAssembly API that is used here. TypeScript declares it only for browsers. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
  readonly RuntimeError: new (message: string) => Error;
};

interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

type Pointer = number;
type WasmFunction = (...values: number[]) => number;

const require = createRequire(import.meta.url);
const compiled = new Map<string, object>();

/** What the library imports. It has no clock, no files and no output. */
const IMPORTS = {
  wasi_snapshot_preview1: { proc_exit: fail },
  env: {
    _emscripten_runtime_keepalive_clear: () => undefined,
    _setitimer_js: () => 0,
    _abort_js: fail,
  },
};

function fail(): never {
  throw new WebAssembly.RuntimeError('HarfBuzz stopped');
}

/** One instance of the library: the one that reads and shapes glyphs, or the subsetter. */
export class HarfBuzz {
  readonly #exports: Readonly<Record<string, unknown>>;
  readonly #memory: Memory;

  constructor(library: 'harfbuzz' | 'harfbuzz-subset') {
    const known = compiled.get(library) ?? new WebAssembly.Module(readFileSync(pathOf(library)));
    compiled.set(library, known);
    // A part of the library asks for more memory by a call; the memory itself is exported.
    let grow: WasmFunction = () => 0;
    const env = { ...IMPORTS.env, emscripten_resize_heap: (bytes: number) => grow(bytes) };
    this.#exports = new WebAssembly.Instance(known, { ...IMPORTS, env }).exports as Readonly<Record<string, unknown>>;
    this.#memory = this.#exports['memory'] as Memory;
    grow = (bytes) => growTo(this.#memory, bytes >>> 0);
    for (const start of ['_initialize', '__wasm_call_ctors']) if (start in this.#exports) this.call(start);
  }

  /** A font that makes the library stop, or takes too much memory, is damaged. */
  call(name: string, ...values: number[]): number {
    try {
      return (this.#exports[name] as WasmFunction)(...values);
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) throw damagedFont('its tables contradict each other');
      throw error;
    }
  }

  allocate(bytes: number): Pointer {
    const pointer = this.call('malloc', bytes) >>> 0;
    if (pointer === 0) throw damagedFont('it takes too much memory');
    return pointer;
  }

  /** Copies a font into the memory, and returns its face. */
  open(file: Uint8Array): Pointer {
    const data = this.allocate(file.length);
    this.bytes(data, file.length).set(file);
    const writable = 2;
    const blob = this.call('hb_blob_create', data, file.length, writable, 0, 0);
    return this.call('hb_face_create', blob, 0);
  }

  /** A view of the memory, which is valid until the next call. */
  bytes(pointer: Pointer, length: number): Uint8Array {
    return new Uint8Array(this.#memory.buffer, pointer, length);
  }

  view(pointer: Pointer, length: number): DataView {
    return new DataView(this.#memory.buffer, pointer, length);
  }
}

/** Larger than any real font needs. */
const MAX_MEMORY_BYTES = 256 * 1024 * 1024;
const PAGE_BYTES = 65_536;

function growTo(memory: Memory, bytes: number): number {
  if (bytes > MAX_MEMORY_BYTES) return 0;
  const missing = Math.ceil((bytes - memory.buffer.byteLength) / PAGE_BYTES);
  try {
    memory.grow(Math.max(0, missing));
    return 1;
  } catch {
    return 0;
  }
}

function pathOf(library: string): string {
  return require.resolve(`harfbuzzjs/dist/${library}.wasm`);
}

/** The number of a tag such as `wght`. */
export function tagNumber(tag: string): number {
  return Array.from(tag).reduce((value, char) => value * 256 + char.charCodeAt(0), 0);
}

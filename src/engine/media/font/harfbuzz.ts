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

/** The functions that the library can call by their number. */
interface FunctionTable {
  grow(by: number): number;
  set(index: number, value: unknown): void;
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

  /** Lets the library call these functions. Returns their pointers. */
  addFunctions(functions: readonly unknown[]): Pointer[] {
    const table = this.#exports['__indirect_function_table'] as FunctionTable;
    const first = table.grow(functions.length);
    return functions.map((callback, index) => {
      table.set(first + index, callback);
      return first + index;
    });
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

/** The number of integers and of floats that come before the last argument, which is an integer. */
type CallbackSignature = readonly [integers: number, floats: number];

/**
 * Returns functions of WebAssembly that call these, because a library can't call others. They come from a module that exports what
 * it imports: a signature, an import and an export for each.
 */
export function wasmCallbacks(
  signatures: readonly CallbackSignature[],
  callbacks: readonly ((...values: number[]) => void)[],
): unknown[] {
  const [integer, float, callable] = [0x7f, 0x7d, 0x60];
  const names = signatures.map((_, index) => String.fromCharCode(97 + index));
  const section = (id: number, items: readonly (readonly number[])[]): number[] => {
    const bytes = [items.length, ...items.flat()];
    return [id, bytes.length, ...bytes];
  };
  const types = signatures.map(([integers, floats]) => {
    const before = [...Array.from({ length: integers }, () => integer), ...Array.from({ length: floats }, () => float)];
    return [callable, before.length + 1, ...before, integer, 0];
  });
  const codes = names.map((name) => name.charCodeAt(0));
  const imported = codes.map((code, index) => [1, code, 1, code, 0, index]);
  const exported = codes.map((code, index) => [1, code, 0, index]);
  const bytes = [
    0,
    0x61,
    0x73,
    0x6d,
    1,
    0,
    0,
    0,
    ...section(1, types),
    ...section(2, imported),
    ...section(7, exported),
  ];
  const imports = Object.fromEntries(names.map((name, index) => [name, { [name]: callbacks[index] }]));
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.from(bytes)), imports);
  return names.map((name) => (exports as Readonly<Record<string, unknown>>)[name]);
}

/** The number of a tag such as `wght`. */
export function tagNumber(tag: string): number {
  return Array.from(tag).reduce((value, char) => value * 256 + char.charCodeAt(0), 0);
}

// Tone-maps HDR frames in WebAssembly, in a third of the processor time of the equivalent filters. The source of the
// module is in assembly/tone. Frames that it doesn't support go through the filters.

import { AV_PIX_FMT_YUV420P } from 'node-av/constants';
import { Frame } from 'node-av/lib';
import { BT2020_TO_BT709 } from '../../color/bt2020.ts';
import { must } from '../../../../shared/must.ts';
import { check } from '../probe/check.ts';
import type { ToneMapping } from './steps.ts';
import { SHOWN_GAMMA, shownSignal } from './tone-curve.ts';
import { TONE_MAPPER } from './tone-mapper.generated.ts';

/** The part of the WebAssembly API that is used here. TypeScript declares it only for browsers. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

interface Constant {
  readonly value: number;
}

/** The exports of the compiled module. Constants are addresses and sizes in its memory. */
interface Exports extends Readonly<Record<Area, Constant>> {
  readonly memory: { readonly buffer: ArrayBuffer };
  mapStripe(width: number, rows: number, top: number): void;
}

type Area =
  | 'MEMORY_BYTES'
  | 'STRIPE_ROWS'
  | 'LIGHT'
  | 'SIGNAL'
  | 'SIGNAL_STEPS'
  | 'GRAY'
  | 'MATRIX'
  | 'LUMA_IN'
  | 'BLUE_IN'
  | 'RED_IN'
  | 'LUMA_OUT'
  | 'BLUE_OUT'
  | 'RED_OUT';

/** 10-bit limited range: black and white, and the fixed point of the table of grays. */
const BLACK = 64;
const WHITE = 940;
const FIXED_POINT = 64;

export class ToneMapper {
  readonly #exports: Exports;
  readonly #memory: Uint8Array;

  constructor({ transfer, peakNits }: ToneMapping) {
    this.#exports = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(TONE_MAPPER, 'base64')))
      .exports as Exports;
    const { memory, MEMORY_BYTES, LIGHT, SIGNAL, SIGNAL_STEPS, GRAY, MATRIX } = this.#exports;
    this.#memory = new Uint8Array(memory.buffer);
    if (this.#memory.length < MEMORY_BYTES.value) throw new Error('the tone mapper has too little memory');
    const shown = (signal: number): number => shownSignal(transfer, signal, peakNits);
    const floats = ({ value }: Constant, length: number): Float32Array =>
      new Float32Array(memory.buffer, value, length);
    floats(LIGHT, 1_024).set(Float32Array.from({ length: 1_024 }, (_, step) => shown(step / 1_023) ** SHOWN_GAMMA));
    floats(SIGNAL, SIGNAL_STEPS.value).set(signalTable(SIGNAL_STEPS.value));
    new Uint16Array(memory.buffer, GRAY.value, 1_024).set(
      Uint16Array.from({ length: 1_024 }, (_, code) => {
        const signal = Math.min(1, Math.max(0, (code - BLACK) / (WHITE - BLACK)));
        return Math.round((16 + 219 * shown(signal)) * FIXED_POINT);
      }),
    );
    floats(MATRIX, 9).set(BT2020_TO_BT709);
  }

  /** Returns a new 8-bit frame with the properties of the HDR frame. The caller frees both. */
  map(source: Frame): Frame {
    const { width, height } = source;
    const target = new Frame();
    target.alloc();
    target.format = AV_PIX_FMT_YUV420P;
    target.width = width;
    target.height = height;
    check(target.allocBuffer(), 'allocate tone-mapped frame');
    check(target.copyProps(source), 'copy frame properties');
    const [from, to] = [planesOf(source), planesOf(target)];
    const { STRIPE_ROWS, LUMA_IN, BLUE_IN, RED_IN, LUMA_OUT, BLUE_OUT, RED_OUT } = this.#exports;
    for (let top = 0; top < height; top += STRIPE_ROWS.value) {
      const rows = Math.min(STRIPE_ROWS.value, height - top);
      this.#read(from[0], LUMA_IN, width * 2, top, rows);
      this.#read(from[1], BLUE_IN, width, top / 2, rows / 2);
      this.#read(from[2], RED_IN, width, top / 2, rows / 2);
      this.#exports.mapStripe(width, rows, top);
      this.#write(to[0], LUMA_OUT, width, top, rows);
      this.#write(to[1], BLUE_OUT, width / 2, top / 2, rows / 2);
      this.#write(to[2], RED_OUT, width / 2, top / 2, rows / 2);
    }
    return target;
  }

  #read({ data, stride }: Plane, { value }: Constant, bytes: number, top: number, rows: number): void {
    for (let row = 0; row < rows; row += 1) {
      const at = (top + row) * stride;
      this.#memory.set(data.subarray(at, at + bytes), value + row * bytes);
    }
  }

  #write({ data, stride }: Plane, { value }: Constant, bytes: number, top: number, rows: number): void {
    for (let row = 0; row < rows; row += 1) {
      const at = value + row * bytes;
      data.set(this.#memory.subarray(at, at + bytes), (top + row) * stride);
    }
  }
}

/**
 * Tabulates gamma for every number with 9 bits after its exponent, from 2 ** -14. The first entry also stands for zero.
 */
function signalTable(steps: number): Float32Array {
  const table = Float32Array.from({ length: steps }, (_, step) => {
    const light = 2 ** (Math.floor(step / 512) - 14) * (1 + ((step % 512) + 0.5) / 512);
    return light ** (1 / SHOWN_GAMMA);
  });
  table[0] = 0;
  return table;
}

interface Plane {
  readonly data: Uint8Array;
  readonly stride: number;
}

function planesOf({ data, linesize }: Frame): readonly [Plane, Plane, Plane] {
  const plane = (index: number): Plane => ({
    data: must(data?.[index], 'a plane of the frame'),
    stride: must(linesize[index], 'the stride of a plane'),
  });
  return [plane(0), plane(1), plane(2)];
}

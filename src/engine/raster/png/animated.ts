// Writes an animated PNG of the bars (APNG 1.0). Every frame is a whole canvas that replaces the one before, so it equals
// the drawn pixels exactly; empty parts are compressed zeros that cost almost nothing.

import type { Size } from '../../layout/geometry.ts';
import type { Strokes } from '../../layout/watermark.ts';
import type { Band } from '../band.ts';
import { COLOR_TYPE, chunk, imageHeader, SIGNATURE } from './chunks.ts';
import type { ZeroRuns } from './deflate.ts';
import { deflatedRgba } from './transparent.ts';

/** Plays once, as a video does. */
const PLAYS = 1;

export class AnimatedPng {
  readonly #canvas: Size;
  readonly #fps: number;
  readonly #zeros: ZeroRuns;
  readonly #strokes: Strokes | undefined;
  readonly #parts: Uint8Array[] = [];
  #frames = 0;
  #sequence = 0;

  constructor(canvas: Size, fps: number, zeros: ZeroRuns, strokes: Strokes | undefined) {
    this.#canvas = canvas;
    this.#fps = fps;
    this.#zeros = zeros;
    this.#strokes = strokes;
  }

  /** Adds a frame that is shown for this many ticks of the frame rate. */
  add(bands: readonly Band[], ticks: number): void {
    const { width, height } = this.#canvas;
    const control = Buffer.alloc(26);
    control.writeUInt32BE(this.#next(), 0);
    control.writeUInt32BE(width, 4);
    control.writeUInt32BE(height, 8);
    control.writeUInt16BE(ticks, 20);
    control.writeUInt16BE(this.#fps, 22);
    this.#parts.push(...chunk('fcTL', control));
    const data = deflatedRgba(this.#canvas, bands, this.#zeros, this.#strokes);
    if (this.#frames === 0) this.#parts.push(...chunk('IDAT', ...data));
    else this.#parts.push(...chunk('fdAT', this.#sequenceBytes(), ...data));
    this.#frames += 1;
  }

  finish(): Buffer {
    const animation = Buffer.alloc(8);
    animation.writeUInt32BE(this.#frames, 0);
    animation.writeUInt32BE(PLAYS, 4);
    return Buffer.concat([
      SIGNATURE,
      ...imageHeader(this.#canvas, COLOR_TYPE.rgba),
      ...chunk('acTL', animation),
      ...this.#parts,
      ...chunk('IEND'),
    ]);
  }

  #next(): number {
    const sequence = this.#sequence;
    this.#sequence += 1;
    return sequence;
  }

  #sequenceBytes(): Buffer {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(this.#next());
    return bytes;
  }
}

// Draws the strokes of the watermark on frames. Their places are computed once, and writing them costs less than
// blending a transparent image of the frame's size.

import type { Frame } from 'node-av/lib';
import type { Size } from '../../../layout/geometry.ts';
import { DARK_TONE, eachStroke, LIGHT_TONE, type Strokes } from '../../../layout/watermark.ts';
import { must } from '../../../../shared/must.ts';
import { check } from '../probe/check.ts';

/** Gray in limited range. */
const LIGHT = limited(LIGHT_TONE);
const DARK = limited(DARK_TONE);
const NEUTRAL = 128;

/** Indexes into the planes of a frame, and the values to write there. Each plane is written from top to bottom. */
interface Places {
  readonly luma: Int32Array;
  readonly lumaValues: Uint8Array;
  readonly chroma: Int32Array;
}

export class FrameStrokes {
  readonly #strokes: Strokes;
  #places: Places | undefined;
  /** The format that the places depend on. All frames of a video usually have the same one. */
  #format = '';

  constructor(strokes: Strokes) {
    this.#strokes = strokes;
  }

  /** The frame must be yuv420p. */
  draw(frame: Frame): void {
    // The frame may be shared with the decoder, which still reads frames that it has returned.
    check(frame.makeWritable(), 'make the frame writable');
    const places = this.#placesIn(frame);
    const plane = (index: number): Uint8Array => must(frame.data?.[index], 'a plane of the frame');
    writeLuma(plane(0), places);
    for (const index of [1, 2]) writeChroma(plane(index), places);
  }

  #placesIn({ width, height, linesize: [lumaStride = 0, chromaStride = 0] }: Frame): Places {
    const format = `${width}x${height} ${lumaStride} ${chromaStride}`;
    if (this.#places === undefined || format !== this.#format) {
      this.#places = placesOf(this.#strokes, { width, height }, lumaStride, chromaStride);
      this.#format = format;
    }
    return this.#places;
  }
}

/** A chroma sample covers two by two pixels. It loses its color if the first of them is on a stroke. */
function placesOf(strokes: Strokes, { width, height }: Size, lumaStride: number, chromaStride: number): Places {
  const [luma, lumaValues, chroma]: [number[], number[], number[]] = [[], [], []];
  for (let row = 0; row < height; row += 1) {
    eachStroke(strokes, row, width, (from, middle, to) => {
      for (let column = from; column < to; column += 1) {
        luma.push(row * lumaStride + column);
        lumaValues.push(column < middle ? LIGHT : DARK);
        if (row % 2 === 0 && column % 2 === 0) chroma.push((row * chromaStride + column) / 2);
      }
    });
  }
  return { luma: Int32Array.from(luma), lumaValues: Uint8Array.from(lumaValues), chroma: Int32Array.from(chroma) };
}

function writeLuma(plane: Uint8Array, { luma, lumaValues }: Places): void {
  const { length } = luma;
  for (let index = 0; index < length; index += 1) plane[luma[index] ?? 0] = lumaValues[index] ?? 0;
}

function writeChroma(plane: Uint8Array, { chroma }: Places): void {
  const { length } = chroma;
  for (let index = 0; index < length; index += 1) plane[chroma[index] ?? 0] = NEUTRAL;
}

function limited(tone: number): number {
  return Math.round(16 + (tone * 219) / 255);
}

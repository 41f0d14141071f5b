// Turns and mirrors a JPEG without decoding its pixels, as EXIF orientations require: blocks change their places, and
// within each block coefficients change places and signs.

import { type Component, type JpegHeaders, MARKER, readHeaders } from './headers.ts';
import { mcuSize } from './mcu.ts';
import type { CoefficientMoves } from './blocks.ts';
import { ZIGZAG } from './transform.ts';

/** Rows and columns are swapped first. Mirroring applies to the upright image. */
export interface Turn {
  readonly swapsAxes: boolean;
  readonly mirrorsX: boolean;
  readonly mirrorsY: boolean;
}

export const NO_TURN: Turn = { swapsAxes: false, mirrorsX: false, mirrorsY: false };

/** Turns by EXIF orientation. */
const TURNS: Readonly<Record<number, Turn>> = {
  1: NO_TURN,
  2: { swapsAxes: false, mirrorsX: true, mirrorsY: false },
  3: { swapsAxes: false, mirrorsX: true, mirrorsY: true },
  4: { swapsAxes: false, mirrorsX: false, mirrorsY: true },
  5: { swapsAxes: true, mirrorsX: false, mirrorsY: false },
  6: { swapsAxes: true, mirrorsX: true, mirrorsY: false },
  7: { swapsAxes: true, mirrorsX: true, mirrorsY: true },
  8: { swapsAxes: true, mirrorsX: false, mirrorsY: true },
};

/** Returns `undefined` if the image can't be turned without decoding it. */
export function readUprightHeaders(file: Uint8Array, orientation: number): JpegHeaders | undefined {
  const turn = turnFor(orientation);
  const headers = turn && readHeaders(file);
  return turn && headers && turnHeaders(headers, turn);
}

export function turnFor(orientation: number): Turn | undefined {
  return TURNS[orientation];
}

/** Mirroring negates the coefficients of odd frequencies in its direction. */
export function coefficientMoves({ swapsAxes, mirrorsX, mirrorsY }: Turn): CoefficientMoves {
  const indexes = new Uint8Array(ZIGZAG.length);
  for (const [index, at] of ZIGZAG.entries()) indexes[at] = index;
  const moves = Array.from(ZIGZAG, (at) => {
    const [row, column] = swapsAxes ? [at & 7, at >> 3] : [at >> 3, at & 7];
    const isNegated = (mirrorsX && column % 2 === 1) !== (mirrorsY && row % 2 === 1);
    return { place: indexes[row * 8 + column] ?? 0, sign: isNegated ? -1 : 1 };
  });
  return {
    places: Uint8Array.from(moves, ({ place }) => place),
    signs: Int8Array.from(moves, ({ sign }) => sign),
  };
}

/**
 * Returns the headers of the upright image, or `undefined` if the side where a mirrored image starts would be a part of
 * an MCU, because only the last MCU of a row or column can be one. Restart markers are dropped, because their places
 * change.
 */
export function turnHeaders(headers: JpegHeaders, turn: Turn): JpegHeaders | undefined {
  if (turn === NO_TURN) return headers;
  const { width, height } = turn.swapsAxes ? { width: headers.height, height: headers.width } : headers;
  const { places } = coefficientMoves(turn);
  const components = headers.components.map((component) => turnComponent(component, turn, places));
  const kept = headers.kept.flatMap((segment) => turnSegment(segment, turn, places));
  const turned = { ...headers, width, height, components, kept, restartInterval: 0 };
  const mcu = mcuSize(turned);
  const isWhole = (!turn.mirrorsX || width % mcu.width === 0) && (!turn.mirrorsY || height % mcu.height === 0);
  return isWhole ? turned : undefined;
}

function turnComponent(component: Component, { swapsAxes }: Turn, places: Uint8Array): Component {
  if (!swapsAxes) return component;
  const { horizontal, vertical, steps } = component;
  return { ...component, horizontal: vertical, vertical: horizontal, steps: moved(steps, places) };
}

function moved(steps: Uint16Array, places: Uint8Array): Uint16Array {
  const result = new Uint16Array(steps.length);
  for (const [index, step] of steps.entries()) result[places[index] ?? 0] = step;
  return result;
}

const HEADER = 4;

function turnSegment(segment: Uint8Array, { swapsAxes }: Turn, places: Uint8Array): Uint8Array[] {
  const marker = segment[1];
  if (marker === MARKER.dri) return [];
  if (!swapsAxes) return [segment];
  const turned = Uint8Array.from(segment);
  if (marker === MARKER.dqt) turnTables(segment, turned, places);
  if (marker === MARKER.sof0 || marker === MARKER.sof1) turnFrame(segment, turned);
  if (marker === MARKER.app0) swapPairs(segment, turned, JFIF_DENSITY);
  return [turned];
}

/** The offset of the horizontal pixel density in a segment. The vertical one follows. */
const JFIF_DENSITY = HEADER + 8;
/** The offset of the height in a segment. The width follows. */
const FRAME_SIZE = HEADER + 1;
const FRAME_COMPONENTS = HEADER + 6;

function turnFrame(segment: Uint8Array, turned: Uint8Array): void {
  swapPairs(segment, turned, FRAME_SIZE);
  for (let at = FRAME_COMPONENTS + 1; at < segment.length; at += 3) {
    const sampling = segment[at] ?? 0;
    turned[at] = ((sampling & 15) << 4) | (sampling >> 4);
  }
}

function swapPairs(segment: Uint8Array, turned: Uint8Array, at: number): void {
  turned.set(segment.subarray(at, at + 2), at + 2);
  turned.set(segment.subarray(at + 2, at + 4), at);
}

function turnTables(segment: Uint8Array, turned: Uint8Array, places: Uint8Array): void {
  for (let at = HEADER; at < segment.length; ) {
    const bytes = (segment[at] ?? 0) >> 4 === 0 ? 1 : 2;
    at += 1;
    for (const [index, place] of places.entries()) {
      const step = segment.subarray(at + index * bytes, at + (index + 1) * bytes);
      turned.set(step, at + place * bytes);
    }
    at += places.length * bytes;
  }
}

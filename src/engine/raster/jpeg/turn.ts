// Turns and mirrors a JPEG without decoding its pixels, as EXIF orientations require: blocks change their places, and
// within each block coefficients change places and signs.

import type { Size } from '../../layout/geometry.ts';
import { type Component, type JpegHeaders, largestFactors, readHeaders } from './headers.ts';
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

/** Returns `undefined` if the coefficients can't be read, or can't be turned without decoding the image. */
export function readUprightHeaders(file: Uint8Array, orientation: number): JpegHeaders | undefined {
  const turn = turnFor(orientation);
  const headers = readHeaders(file);
  if (turn === undefined || headers === undefined || !headers.isCarriable || !isTurnable(headers, turn))
    return undefined;
  return { ...headers, ...turnFrame(headers, turn) };
}

export function turnFor(orientation: number): Turn | undefined {
  return TURNS[orientation];
}

/** Where each coefficient of a block goes, by its index in zigzag order. */
export interface CoefficientMoves {
  /** The index of the coefficient in the upright block. */
  readonly places: Uint8Array;
  readonly signs: Int8Array;
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

/** The size of an image and its components. */
export interface ComponentFrame extends Size {
  readonly components: readonly Component[];
}

/** The upright image. */
export function turnFrame({ width, height, components }: ComponentFrame, turn: Turn): ComponentFrame {
  if (!turn.swapsAxes) return { width, height, components };
  const { places } = coefficientMoves(turn);
  const turned = components.map(({ id, horizontal, vertical, steps }) => {
    return { id, horizontal: vertical, vertical: horizontal, steps: moved(steps, places) };
  });
  return { width: height, height: width, components: turned };
}

function moved(steps: Uint16Array, places: Uint8Array): Uint16Array {
  const result = new Uint16Array(steps.length);
  for (const [index, step] of steps.entries()) result[places[index] ?? 0] = step;
  return result;
}

/** Only the last MCU of a row or column can be a part of one, so the side where a mirrored image starts must be whole. */
export function isTurnable(frame: ComponentFrame, turn: Turn): boolean {
  const upright = turnFrame(frame, turn);
  const mcu = mcuSize(upright);
  return (!turn.mirrorsX || upright.width % mcu.width === 0) && (!turn.mirrorsY || upright.height % mcu.height === 0);
}

const BLOCK_SIDE = 8;

export function mcuSize({ components }: Pick<ComponentFrame, 'components'>): Size {
  const factors = largestFactors(components);
  return { width: BLOCK_SIDE * factors.width, height: BLOCK_SIDE * factors.height };
}

/** The MCUs of the whole image. */
export function mcuGrid(frame: ComponentFrame): { readonly columns: number; readonly rows: number } {
  const { width, height } = mcuSize(frame);
  return { columns: Math.ceil(frame.width / width), rows: Math.ceil(frame.height / height) };
}

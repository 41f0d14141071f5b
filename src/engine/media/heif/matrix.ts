// Matrices from the samples of a bitstream to RGB.

import type { CodePoints } from './color-description.ts';
import type { Planes } from './planes.ts';

/** For red, green and blue each: the factors of the three planes, and an offset, for samples as stored. */
export type RgbMatrix = readonly number[];

/** The weights of red and blue in luma, by code point. All others, including "unspecified", use those of BT.601. */
const LUMA_WEIGHTS: ReadonlyMap<number, readonly [number, number]> = new Map([
  [1, [0.2126, 0.0722]],
  [4, [0.3, 0.11]],
  [7, [0.212, 0.087]],
  [9, [0.2627, 0.0593]],
  [10, [0.2627, 0.0593]],
]);
const BT601 = [0.299, 0.114] as const;
const IDENTITY = 0;
const YCGCO = 8;
/** The code point "derived from the primaries". */
const DERIVED = 12;
const WEIGHTS_OF_PRIMARIES: ReadonlyMap<number, readonly [number, number]> = new Map([
  [1, [0.2126, 0.0722]],
  [9, [0.2627, 0.0593]],
  [12, [0.22897, 0.07929]],
]);

/** `white` is the value of white in the output. */
export function matrixFor(
  { matrix, primaries, isFullRange }: CodePoints,
  { bits, isRgb, chroma }: Pick<Planes, 'bits' | 'isRgb' | 'chroma'>,
  white: number,
): RgbMatrix {
  const scale = 2 ** (bits - 8);
  const max = 2 ** bits - 1;
  const luma = white / (isFullRange ? max : 219 * scale);
  const offset = isFullRange ? 0 : -16 * scale * luma;
  if (chroma === undefined) return [luma, 0, 0, offset, luma, 0, 0, offset, luma, 0, 0, offset];
  // The planes are green, blue and red.
  if (isRgb || matrix === IDENTITY) return [0, 0, luma, offset, luma, 0, 0, offset, 0, luma, 0, offset];
  const unit = white / (isFullRange ? max : 224 * scale);
  const row = (cb: number, cr: number): number[] => [
    luma,
    cb * unit,
    cr * unit,
    offset - 128 * scale * unit * (cb + cr),
  ];
  if (matrix === YCGCO) return [...row(-1, 1), ...row(1, 0), ...row(-1, -1)];
  const [kr, kb] = (matrix === DERIVED ? WEIGHTS_OF_PRIMARIES.get(primaries) : LUMA_WEIGHTS.get(matrix)) ?? BT601;
  const [red, blue] = [2 * (1 - kr), 2 * (1 - kb)];
  const kg = 1 - kr - kb;
  return [...row(0, red), ...row((-kb * blue) / kg, (-kr * red) / kg), ...row(blue, 0)];
}

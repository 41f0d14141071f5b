// From samples of a bitstream to RGB: `R = luma * Y + crToRed * Cr + red`, and so on, for samples as they are stored.

import type { CodePoints } from './color-description.ts';

export interface RgbMatrix {
  readonly luma: number;
  /** The offset for gray, and for planes that are red, green and blue already. */
  readonly gray: number;
  readonly crToRed: number;
  readonly cbToGreen: number;
  readonly crToGreen: number;
  readonly cbToBlue: number;
  readonly red: number;
  readonly green: number;
  readonly blue: number;
  /** The value of white in the output. */
  readonly white: number;
}

/** Weights of red and blue in luma, by code point. All others, and "unspecified", are those of BT.601. */
const LUMA_WEIGHTS: ReadonlyMap<number, readonly [number, number]> = new Map([
  [1, [0.2126, 0.0722]],
  [4, [0.3, 0.11]],
  [7, [0.212, 0.087]],
  [9, [0.2627, 0.0593]],
  [10, [0.2627, 0.0593]],
]);
const BT601 = [0.299, 0.114] as const;
/** "Derived from the primaries". */
const DERIVED = 12;
const WEIGHTS_OF_PRIMARIES: ReadonlyMap<number, readonly [number, number]> = new Map([
  [1, [0.2126, 0.0722]],
  [9, [0.2627, 0.0593]],
  [12, [0.22897, 0.07929]],
]);

export function matrixFor({ matrix, primaries, isFullRange }: CodePoints, bits: number, white: number): RgbMatrix {
  const scale = 2 ** (bits - 8);
  const [black, lumaSpan, chromaSpan] = isFullRange
    ? [0, 2 ** bits - 1, 2 ** bits - 1]
    : [16 * scale, 219 * scale, 224 * scale];
  const weights = matrix === DERIVED ? WEIGHTS_OF_PRIMARIES.get(primaries) : LUMA_WEIGHTS.get(matrix);
  const [kr, kb] = weights ?? BT601;
  const kg = 1 - kr - kb;
  const luma = white / lumaSpan;
  const chroma = white / chromaSpan;
  const center = 128 * scale;
  const [crToRed, cbToBlue] = [2 * (1 - kr) * chroma, 2 * (1 - kb) * chroma];
  const [crToGreen, cbToGreen] = [-(kr / kg) * crToRed, -(kb / kg) * cbToBlue];
  const offset = -black * luma;
  return {
    luma,
    gray: offset,
    crToRed,
    cbToGreen,
    crToGreen,
    cbToBlue,
    red: offset - center * crToRed,
    green: offset - center * (crToGreen + cbToGreen),
    blue: offset - center * cbToBlue,
    white,
  };
}

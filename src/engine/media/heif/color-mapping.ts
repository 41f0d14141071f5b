// Color conversions that two tables and a matrix between them can express: those of code points and of most profiles.

import type { ColorEncoding } from '../color/encoding.ts';
import { inverse, type Matrix3, multiply } from '../color/matrix.ts';
import { encodingToLight, lightToSignal, matrixToSrgb } from '../color/to-srgb.ts';
import { type ProfileCurve, readMatrixProfile } from './matrix-profile.ts';

export interface ColorMapping {
  /** Maps the signals of red, green and blue (0 to 1) to linear light. */
  readonly light: readonly [ProfileCurve, ProfileCurve, ProfileCurve];
  /** Maps linear light to that of sRGB. */
  readonly matrix: Matrix3;
  /** Maps linear light to the signal of the output, both 0 to 1. */
  readonly signal: ProfileCurve;
}

/** Columns are the primaries of sRGB under D50, the white of profiles. */
const SRGB_TO_PCS: Matrix3 = [
  0.4360747, 0.3850649, 0.1430804, 0.2225045, 0.7168786, 0.0606169, 0.0139322, 0.0971045, 0.7141733,
];

export function mappingOfEncoding({ transfer, chromaticities }: ColorEncoding): ColorMapping {
  const light: ProfileCurve = (signal) => encodingToLight(transfer, signal);
  const signal: ProfileCurve = (value) => lightToSignal(transfer, value);
  return { light: [light, light, light], matrix: matrixToSrgb(chromaticities), signal };
}

/** Returns undefined for a profile of another kind. */
export function mappingOfProfile(icc: Buffer): ColorMapping | undefined {
  const profile = readMatrixProfile(icc);
  if (profile === undefined) return undefined;
  const matrix = multiply(inverse(SRGB_TO_PCS), profile.toPcs);
  return { light: profile.curves, matrix, signal: (value) => lightToSignal('srgb', value) };
}

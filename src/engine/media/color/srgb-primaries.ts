import type { Matrix3 } from './matrix.ts';

/** The primaries of sRGB as colors of profiles, which are relative to a white of D50. */
export const SRGB_PRIMARIES: Matrix3 = [
  0.4360747, 0.3850649, 0.1430804, 0.2225045, 0.7168786, 0.0606169, 0.0139322, 0.0971045, 0.7141733,
];

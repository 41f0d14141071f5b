import { BT2020_CHROMATICITIES, SRGB_CHROMATICITIES } from './encoding.ts';
import { inverse, type Matrix3, multiply, toXyz } from './matrix.ts';

/** Applies to linear light. BT.709 has the primaries of sRGB. */
export const BT2020_TO_BT709: Matrix3 = multiply(inverse(toXyz(SRGB_CHROMATICITIES)), toXyz(BT2020_CHROMATICITIES));

// How coarsely an image is quantized. Text that is drawn into a coarse one would show specks around its letters.

import type { JpegHeaders } from './headers.ts';

/** The sum of the luma table in ITU-T T.81, K.1, which encoders scale by their quality: to its double at 25, to its half at 75. */
const STANDARD_SUM = 3_688;
/** About quality 45. */
const COARSEST = 1.11;

export function isTooCoarse({ components }: Pick<JpegHeaders, 'components'>): boolean {
  const sum = components[0]?.steps.reduce((total, step) => total + step, 0) ?? 0;
  return sum > COARSEST * STANDARD_SUM;
}

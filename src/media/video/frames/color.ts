// What the numbers in a frame mean, and what has to happen so that they mean BT.709, limited range, standard dynamic
// range. Pure: tags in, a decision out. Tags are often missing, sometimes nonsense; the guesses are those of the players.

import type { Size } from '../../../layout/geometry.ts';

export type Matrix = 'rgb' | 'bt709' | 'bt601' | 'fcc' | 'smpte240m' | 'ycgco' | 'bt2020' | 'ictcp' | 'unspecified';
export type Primaries = 'bt709' | 'bt601' | 'bt2020' | 'p3' | 'unspecified';
export type Transfer = 'sdr' | 'pq' | 'hlg';
export type Range = 'limited' | 'full';

export interface ColorTags {
  readonly matrix: Matrix;
  readonly primaries: Primaries;
  readonly transfer: Transfer;
  readonly range: Range;
}

/** `keep`: already right. `matrix`: other coefficients, range, depth or subsampling. `gamut`: wide but not bright. */
export type ColorTreatment = 'keep' | 'matrix' | 'gamut' | 'tonemap';

/** Above standard definition everyone assumes BT.709 (the rule of mpv and of browsers). */
const SD_MAX_WIDTH = 1279;
const SD_MAX_HEIGHT = 576;

/** Fills in what the file left out. */
export function effectiveTags(tags: ColorTags, pixelFormat: string, decoded: Size): ColorTags {
  const range = pixelFormat.startsWith('yuvj') ? 'full' : tags.range;
  if (isRgb(pixelFormat)) return { ...tags, matrix: 'rgb', range: 'full' };
  if (tags.transfer !== 'sdr') {
    const matrix = tags.matrix === 'unspecified' || tags.matrix === 'rgb' ? 'bt2020' : tags.matrix;
    const primaries = tags.primaries === 'unspecified' ? 'bt2020' : tags.primaries;
    return { matrix, primaries, transfer: tags.transfer, range };
  }
  if (tags.matrix !== 'unspecified' && tags.matrix !== 'rgb') return { ...tags, range };
  const small = decoded.width <= SD_MAX_WIDTH && decoded.height <= SD_MAX_HEIGHT;
  return { ...tags, matrix: small ? 'bt601' : 'bt709', range };
}

export function treatmentFor(tags: ColorTags, pixelFormat: string): ColorTreatment {
  if (tags.transfer !== 'sdr') return 'tonemap';
  // BT.601's own primaries are so near, and so often tagged by habit, that players show them as they are; so do we.
  if (tags.primaries === 'bt2020' || tags.primaries === 'p3') return 'gamut';
  const right = tags.matrix === 'bt709' && tags.range === 'limited' && pixelFormat === 'yuv420p';
  return right ? 'keep' : 'matrix';
}

function isRgb(pixelFormat: string): boolean {
  return /^(?:gbr|rgb|bgr|argb|abgr|0rgb|0bgr|pal8|x2rgb|x2bgr)/u.test(pixelFormat);
}

/** Formats with a plane or a channel of transparency. */
export function hasAlphaChannel(pixelFormat: string): boolean {
  return /^(?:yuva|gbrap|rgba|bgra|argb|abgr|ya\d|ayuv|pal8)/u.test(pixelFormat);
}

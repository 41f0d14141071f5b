// Decides from the color tags of a video how to convert it to BT.709, limited range, standard dynamic range. Tags are
// often missing and sometimes wrong; the assumptions made then are those of common players.

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

/**
 * `keep`: no conversion. `matrix`: converts coefficients, range, depth or subsampling. `gamut`: also converts
 * wide-gamut primaries. `tonemap`: converts HDR.
 */
export type ColorTreatment = 'keep' | 'matrix' | 'gamut' | 'tonemap';

/** Without a tag, larger frames are assumed to be BT.709, as in mpv and browsers. */
const SD_MAX_WIDTH = 1279;
const SD_MAX_HEIGHT = 576;

/** Without a tag, browsers take these for BT.601 at any size. */
const ALWAYS_BT601: ReadonlySet<string> = new Set(['vp9', 'av1']);

/** Fills in missing tags. */
export function effectiveTags(tags: ColorTags, pixelFormat: string, codec: string, decoded: Size): ColorTags {
  const range = pixelFormat.startsWith('yuvj') ? 'full' : tags.range;
  if (isRgb(pixelFormat)) return { ...tags, matrix: 'rgb', range: 'full' };
  if (tags.transfer !== 'sdr') {
    const matrix = tags.matrix === 'unspecified' || tags.matrix === 'rgb' ? 'bt2020' : tags.matrix;
    const primaries = tags.primaries === 'unspecified' ? 'bt2020' : tags.primaries;
    return { matrix, primaries, transfer: tags.transfer, range };
  }
  if (tags.matrix !== 'unspecified' && tags.matrix !== 'rgb') return { ...tags, range };
  const isStandardDefinition = decoded.width <= SD_MAX_WIDTH && decoded.height <= SD_MAX_HEIGHT;
  return { ...tags, matrix: isStandardDefinition || ALWAYS_BT601.has(codec) ? 'bt601' : 'bt709', range };
}

export function treatmentFor(tags: ColorTags, pixelFormat: string): ColorTreatment {
  if (tags.transfer !== 'sdr') return 'tonemap';
  // BT.601 primaries are close to BT.709 and often tagged by default. Players ignore the difference, and so does this.
  if (tags.primaries === 'bt2020' || tags.primaries === 'p3') return 'gamut';
  const isTarget = tags.matrix === 'bt709' && tags.range === 'limited' && pixelFormat === 'yuv420p';
  return isTarget ? 'keep' : 'matrix';
}

function isRgb(pixelFormat: string): boolean {
  return /^(?:gbr|rgb|bgr|argb|abgr|0rgb|0bgr|pal8|x2rgb|x2bgr)/u.test(pixelFormat);
}

export function hasAlphaChannel(pixelFormat: string): boolean {
  return /^(?:yuva|gbrap|rgba|bgra|argb|abgr|ya\d|ayuv|pal8)/u.test(pixelFormat);
}

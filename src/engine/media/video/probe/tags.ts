// Translates between FFmpeg's color constants and our names for them.

import {
  AVCOL_PRI_BT470BG,
  AVCOL_PRI_BT709,
  AVCOL_PRI_BT2020,
  AVCOL_PRI_SMPTE170M,
  AVCOL_PRI_SMPTE431,
  AVCOL_PRI_SMPTE432,
  AVCOL_RANGE_JPEG,
  AVCOL_RANGE_MPEG,
  AVCOL_SPC_BT470BG,
  AVCOL_SPC_BT709,
  AVCOL_SPC_BT2020_CL,
  AVCOL_SPC_BT2020_NCL,
  AVCOL_SPC_FCC,
  AVCOL_SPC_ICTCP,
  AVCOL_SPC_RGB,
  AVCOL_SPC_SMPTE170M,
  AVCOL_SPC_SMPTE240M,
  AVCOL_SPC_YCGCO,
  AVCOL_TRC_ARIB_STD_B67,
  AVCOL_TRC_BT709,
  AVCOL_TRC_SMPTE2084,
  type AVColorSpace,
} from 'node-av/constants';
import type { CodecParameters, Frame } from 'node-av/lib';
import type { ColorTags, Matrix, Primaries, Range } from '../frames/color.ts';

const MATRICES = new Map<number, Matrix>([
  [AVCOL_SPC_RGB, 'rgb'],
  [AVCOL_SPC_BT709, 'bt709'],
  [AVCOL_SPC_FCC, 'fcc'],
  [AVCOL_SPC_BT470BG, 'bt601'],
  [AVCOL_SPC_SMPTE170M, 'bt601'],
  [AVCOL_SPC_SMPTE240M, 'smpte240m'],
  [AVCOL_SPC_YCGCO, 'ycgco'],
  [AVCOL_SPC_BT2020_NCL, 'bt2020'],
  [AVCOL_SPC_BT2020_CL, 'bt2020'],
  [AVCOL_SPC_ICTCP, 'ictcp'],
]);

const PRIMARIES = new Map<number, Primaries>([
  [AVCOL_PRI_BT709, 'bt709'],
  [AVCOL_PRI_BT470BG, 'bt601'],
  [AVCOL_PRI_SMPTE170M, 'bt601'],
  [AVCOL_PRI_BT2020, 'bt2020'],
  [AVCOL_PRI_SMPTE431, 'p3'],
  [AVCOL_PRI_SMPTE432, 'p3'],
]);

type ColorTagged = Pick<Frame | CodecParameters, 'colorSpace' | 'colorPrimaries' | 'colorTrc' | 'colorRange'>;

/** The tags of the container take precedence over those of the decoder, as in players. */
export function readColorTags(container: ColorTagged, frame: ColorTagged): ColorTags {
  const matrix = MATRICES.get(container.colorSpace) ?? MATRICES.get(frame.colorSpace) ?? 'unspecified';
  const primaries = PRIMARIES.get(container.colorPrimaries) ?? PRIMARIES.get(frame.colorPrimaries) ?? 'unspecified';
  return { matrix, primaries, transfer: transferOf(container) ?? transferOf(frame) ?? 'sdr', range: rangeOf(frame) };
}

function transferOf({ colorTrc }: ColorTagged): 'pq' | 'hlg' | undefined {
  if (colorTrc === AVCOL_TRC_SMPTE2084) return 'pq';
  return colorTrc === AVCOL_TRC_ARIB_STD_B67 ? 'hlg' : undefined;
}

function rangeOf({ colorRange }: ColorTagged): Range {
  return colorRange === AVCOL_RANGE_JPEG ? 'full' : 'limited';
}

/** The constant and filter option of each matrix. */
const SPACES = {
  rgb: [AVCOL_SPC_RGB, 'gbr'],
  bt709: [AVCOL_SPC_BT709, 'bt709'],
  bt601: [AVCOL_SPC_SMPTE170M, 'smpte170m'],
  fcc: [AVCOL_SPC_FCC, 'fcc'],
  smpte240m: [AVCOL_SPC_SMPTE240M, 'smpte240m'],
  ycgco: [AVCOL_SPC_YCGCO, 'ycgco'],
  bt2020: [AVCOL_SPC_BT2020_NCL, 'bt2020nc'],
  ictcp: [AVCOL_SPC_ICTCP, 'ictcp'],
  unspecified: [AVCOL_SPC_BT709, 'bt709'],
} as const satisfies Record<Matrix, readonly [AVColorSpace, string]>;

const TRANSFERS = { sdr: AVCOL_TRC_BT709, pq: AVCOL_TRC_SMPTE2084, hlg: AVCOL_TRC_ARIB_STD_B67 } as const;
const GAMUTS = {
  bt709: AVCOL_PRI_BT709,
  bt601: AVCOL_PRI_BT709,
  bt2020: AVCOL_PRI_BT2020,
  p3: AVCOL_PRI_SMPTE432,
  unspecified: AVCOL_PRI_BT709,
} as const;

export function filterColorOptions({ matrix, range }: ColorTags): {
  readonly colorspace: string;
  readonly range: string;
} {
  return { colorspace: SPACES[matrix][1], range: range === 'full' ? 'pc' : 'tv' };
}

/** Writes the effective tags to a frame, so that no filter makes its own assumptions. */
export function writeColorTags(frame: Frame, { matrix, primaries, transfer, range }: ColorTags): void {
  frame.colorSpace = SPACES[matrix][0];
  frame.colorPrimaries = GAMUTS[primaries];
  frame.colorTrc = TRANSFERS[transfer];
  frame.colorRange = range === 'full' ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
}

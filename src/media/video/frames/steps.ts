// The filters between decoder and bars, as data. A pure function of what the probe found: the same clip always gets the
// same list, and tests read it as text. Color comes first, while the frame is as stored; turning comes last, when the
// frame is eight bits and 4:2:0 and cheap to move.

import type { Size } from '../../../layout/geometry.ts';
import {
  type ColorTags,
  type ColorTreatment,
  hasAlphaChannel,
  type Matrix,
  type Primaries,
  treatmentFor,
} from './color.ts';
import { evenSide } from './geometry.ts';
import type { Orientation } from '../probe/orientation.ts';
import { toneCurve } from './tone-curve.ts';

export interface FilterStep {
  readonly filter: string;
  readonly args: string;
}

export interface FrameFormat {
  readonly decoded: Size;
  /** Stored orientation, square pixels, even sides. */
  readonly square: Size;
  readonly orientation: Orientation;
  readonly pixelFormat: string;
  /** Nothing unspecified left but primaries. */
  readonly tags: ColorTags;
  readonly interlaced: boolean;
  /** The brightest an HDR picture gets, by its own account. */
  readonly peakNits: number;
  /** Without its per-frame metadata the picture is not even approximately right. */
  readonly needsDolbyVision: boolean;
}

const FINAL_FORMAT: FilterStep = { filter: 'format', args: 'pix_fmts=yuv420p:color_spaces=bt709:color_ranges=tv' };
const TO_BT709 = 'out_color_matrix=bt709:out_range=tv:flags=bicubic+accurate_rnd+full_chroma_int';

export function filterSteps(source: FrameFormat): readonly FilterStep[] {
  return [
    ...(source.interlaced ? [{ filter: 'bwdif', args: 'mode=send_frame:deint=interlaced' }] : []),
    ...evenSteps(source.decoded),
    ...colorSteps(source),
    ...squareSteps(source),
    ...orientationSteps(source.orientation),
    FINAL_FORMAT,
  ];
}

/** For frames of another size in mid-stream: fitted into the picture that the first frame promised. */
export function refitSteps({ width, height }: Size): readonly FilterStep[] {
  return [
    { filter: 'scale', args: `w=${width}:h=${height}:force_original_aspect_ratio=decrease:force_divisible_by=2` },
    { filter: 'pad', args: `w=${width}:h=${height}:x=(ow-iw)/2:y=(oh-ih)/2` },
    FINAL_FORMAT,
  ];
}

function colorSteps({ tags, pixelFormat, peakNits, needsDolbyVision }: FrameFormat): readonly FilterStep[] {
  if (hasAlphaChannel(pixelFormat)) return flattenSteps();
  if (needsDolbyVision) return dolbyVisionSteps();
  return COLOR_STEPS[treatmentFor(tags, pixelFormat)](tags, pixelFormat, peakNits);
}

const COLOR_STEPS = {
  keep: () => [],
  matrix: convertSteps,
  gamut: convertSteps,
  tonemap: tonemapSteps,
} as const satisfies Record<
  ColorTreatment,
  (tags: ColorTags, pixelFormat: string, peakNits: number) => readonly FilterStep[]
>;

/** Multiplied by its own alpha, a picture is what it would be on black. */
function flattenSteps(): readonly FilterStep[] {
  return [
    { filter: 'scale', args: TO_BT709 },
    { filter: 'format', args: 'pix_fmts=yuva444p' },
    { filter: 'premultiply', args: 'inplace=1' },
    { filter: 'format', args: 'pix_fmts=yuv444p' },
  ];
}

/** To RGB, through the curve, then from the wide primaries to ours in linear light. */
function tonemapSteps(
  { transfer, matrix, primaries, range }: ColorTags,
  _: string,
  peakNits: number,
): readonly FilterStep[] {
  const curve = toneCurve(transfer === 'hlg' ? 'hlg' : 'pq', peakNits)
    .map(([x, y]) => `${x.toFixed(5)}/${y.toFixed(5)}`)
    .join(' ');
  const source = `matrixin=${ZSCALE_MATRICES[matrix]}:rangein=${range}`;
  const gamut = `primariesin=${ZSCALE_PRIMARIES[primaries]}:primaries=709:transferin=709:transfer=709`;
  return [
    { filter: 'zscale', args: `${source}:matrix=gbr:range=full` },
    { filter: 'format', args: 'pix_fmts=gbrp10le' },
    { filter: 'curves', args: `all=${curve}:interp=pchip` },
    { filter: 'zscale', args: `${gamut}:matrixin=gbr:matrix=709:rangein=full:range=limited:dither=ordered` },
    { filter: 'format', args: 'pix_fmts=yuv420p' },
  ];
}

/** Profile 5 of Dolby Vision has a color space of its own, undone by the metadata that travels with each frame. */
function dolbyVisionSteps(): readonly FilterStep[] {
  const output = 'transfer=bt709:matrix=bt709:primaries=bt709:range=tv:format=yuv420p';
  return [
    { filter: 'format', args: 'pix_fmts=yuv420p10le' },
    { filter: 'tonemapx', args: `tonemap=bt2390:${output}` },
  ];
}

const ZSCALE_MATRICES = {
  rgb: 'gbr',
  bt709: '709',
  bt601: '170m',
  fcc: 'fcc',
  smpte240m: '240m',
  ycgco: 'ycgco',
  bt2020: '2020_ncl',
  ictcp: 'ictcp',
  unspecified: '2020_ncl',
} as const satisfies Record<Matrix, string>;
const ZSCALE_PRIMARIES = {
  bt709: '709',
  bt601: '170m',
  bt2020: '2020',
  p3: 'smpte432',
  unspecified: '2020',
} as const satisfies Record<Primaries, string>;

/** The formats the fast color filter reads; it needs a third of the general scaler's time. */
const PLANAR = /^yuvj?(?<sampling>420|422|444)p(?:1[02]le)?$/u;
const MATRIX_NAMES = {
  bt709: 'bt709',
  bt601: 'smpte170m',
  fcc: 'fcc',
  smpte240m: 'smpte240m',
  ycgco: 'ycgco',
  bt2020: 'bt2020nc',
} as const;
const PRIMARIES_NAMES = { bt2020: 'bt2020', p3: 'smpte432' } as const;

function convertSteps(tags: ColorTags, pixelFormat: string): readonly FilterStep[] {
  const sampling = PLANAR.exec(pixelFormat)?.groups?.['sampling'];
  const matrix = Object.entries(MATRIX_NAMES).find(([name]) => name === tags.matrix)?.[1];
  if (sampling === undefined || matrix === undefined) return generalSteps(tags);
  const primaries = Object.entries(PRIMARIES_NAMES).find(([name]) => name === tags.primaries)?.[1] ?? 'bt709';
  const sameMeaning = matrix === 'bt709' && primaries === 'bt709' && tags.range === 'limited';
  if (sameMeaning) return [{ filter: 'scale', args: TO_BT709 }];
  const from = `ispace=${matrix}:iprimaries=${primaries}:itrc=bt709:irange=${tags.range === 'full' ? 'pc' : 'tv'}`;
  const to = `space=bt709:primaries=bt709:trc=bt709:range=tv:format=yuv${sampling}p`;
  return [{ filter: 'colorspace', args: `${from}:${to}` }];
}

/** RGB, grey and packed formats. Wide primaries need a second look once they are planar. */
function generalSteps(tags: ColorTags): readonly FilterStep[] {
  const planar = [
    { filter: 'scale', args: TO_BT709 },
    { filter: 'format', args: 'pix_fmts=yuv444p' },
  ];
  if (tags.primaries !== 'bt2020' && tags.primaries !== 'p3') return planar;
  return [...planar, ...convertSteps({ ...tags, matrix: 'bt709', range: 'limited' }, 'yuv444p')];
}

function evenSteps({ width, height }: Size): readonly FilterStep[] {
  if (width % 2 === 0 && height % 2 === 0) return [];
  const even = `w=${evenSide(width)}:h=${evenSide(height)}`;
  return [width === 1 || height === 1 ? { filter: 'scale', args: even } : { filter: 'crop', args: `${even}:x=0:y=0` }];
}

function squareSteps({ decoded, square }: FrameFormat): readonly FilterStep[] {
  if (evenSide(decoded.width) === square.width && evenSide(decoded.height) === square.height) return [];
  return [{ filter: 'scale', args: `w=${square.width}:h=${square.height}:flags=lanczos` }];
}

function orientationSteps({ transpose, flipX, flipY }: Orientation): readonly FilterStep[] {
  if (transpose) {
    const ways = { plain: 'cclock_flip', x: 'clock', y: 'cclock', both: 'clock_flip' } as const;
    const way = flipX && flipY ? 'both' : flipX ? 'x' : flipY ? 'y' : 'plain';
    return [
      { filter: 'format', args: 'pix_fmts=yuv420p' },
      { filter: 'transpose', args: `dir=${ways[way]}` },
    ];
  }
  return [...(flipX ? [{ filter: 'hflip', args: '' }] : []), ...(flipY ? [{ filter: 'vflip', args: '' }] : [])];
}

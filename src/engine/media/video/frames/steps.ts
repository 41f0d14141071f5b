// The filters between the decoder and the bars, as data. The list depends only on the probe, so the same clip always
// gets the same filters. Color conversion comes first, on the frame as stored. Rotation comes last, when the frame is
// 8-bit 4:2:0 and cheap to move.

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
  /** The name by which later steps can take its output. */
  readonly name?: string;
  /** The steps whose output it takes, one output after the other of a `split`. By default, the step before it. */
  readonly from?: readonly string[];
}

/** The properties of decoded frames that the filters depend on. */
export interface FrameFormat {
  readonly decoded: Size;
  /** The stored size, but with square pixels and even sides. */
  readonly square: Size;
  readonly orientation: Orientation;
  readonly pixelFormat: string;
  /** Missing tags are filled in, except for the primaries. */
  readonly tags: ColorTags;
  readonly interlaced: boolean;
  /** The peak luminance of an HDR video, according to its metadata. */
  readonly peakNits: number;
  /** Without the per-frame Dolby Vision metadata, the colors would be completely wrong. */
  readonly needsDolbyVision: boolean;
}

export const FINAL_FORMAT: FilterStep = {
  filter: 'format',
  args: 'pix_fmts=yuv420p:color_spaces=bt709:color_ranges=tv',
};
const TO_BT709 = 'out_color_matrix=bt709:out_range=tv:flags=bicubic+accurate_rnd+full_chroma_int';

/** The properties of a clip that the WebAssembly tone mapper depends on. */
export interface ToneMapping {
  readonly transfer: 'pq' | 'hlg';
  readonly peakNits: number;
}

const MAX_MAPPED_WIDTH = 8_192;

/** The usual HDR of phones is mapped before the filters. Returns undefined for everything else. */
export function toneMappingOf(source: FrameFormat): ToneMapping | undefined {
  const { decoded, pixelFormat, tags, interlaced, peakNits } = source;
  const { transfer, matrix, primaries, range } = tags;
  if (transfer === 'sdr' || matrix !== 'bt2020' || primaries !== 'bt2020' || range !== 'limited') return undefined;
  if (pixelFormat !== 'yuv420p10le' || interlaced || source.needsDolbyVision) return undefined;
  if (decoded.width % 4 !== 0 || decoded.height % 2 !== 0 || decoded.width > MAX_MAPPED_WIDTH) return undefined;
  return { transfer, peakNits };
}

/** Returns the format of the frames after tone mapping. */
export function toneMappedFormat<Format extends FrameFormat>(source: Format): Format {
  return { ...source, pixelFormat: 'yuv420p', tags: BT709_TAGS };
}

const BT709_TAGS: ColorTags = { matrix: 'bt709', primaries: 'bt709', transfer: 'sdr', range: 'limited' };

export function filterSteps(source: FrameFormat): readonly FilterStep[] {
  if (toneMappingOf(source)) return filterSteps(toneMappedFormat(source));
  return [
    ...(source.interlaced ? [{ filter: 'bwdif', args: 'mode=send_frame:deint=interlaced' }] : []),
    ...evenSteps(source.decoded),
    ...colorSteps(source),
    ...squareSteps(source),
    ...orientationSteps(source.orientation),
    FINAL_FORMAT,
  ];
}

/** Fits frames of other sizes, of a video that changes its size, into the size of the largest. */
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

/** Multiplying a frame by its alpha flattens it onto black. */
function flattenSteps(): readonly FilterStep[] {
  return [
    { filter: 'scale', args: TO_BT709 },
    { filter: 'format', args: 'pix_fmts=yuva444p' },
    { filter: 'premultiply', args: 'inplace=1' },
    { filter: 'format', args: 'pix_fmts=yuv444p' },
  ];
}

/** Converts to RGB, applies the tone curve, then converts the wide primaries to BT.709. */
function tonemapSteps(
  { transfer, matrix, primaries, range }: ColorTags,
  _: string,
  peakNits: number,
): readonly FilterStep[] {
  const curve = toneCurve(transfer === 'hlg' ? 'hlg' : 'pq', peakNits)
    .map(([x, y]) => `${x.toFixed(5)}/${y.toFixed(5)}`)
    .join(' ');
  const source = `matrixin=${ZSCALE_MATRICES[matrix]}:rangein=${range}`;
  const gamut = `primariesin=${ZSCALE_PRIMARIES[primaries]}:primaries=709:transferin=bt470m:transfer=bt470m`;
  return [
    { filter: 'zscale', args: `${source}:matrix=gbr:range=full` },
    { filter: 'format', args: 'pix_fmts=gbrp10le' },
    { filter: 'curves', args: `all=${curve}:interp=pchip` },
    { filter: 'zscale', args: `${gamut}:matrixin=gbr:matrix=709:rangein=full:range=limited:dither=ordered` },
    { filter: 'format', args: 'pix_fmts=yuv420p' },
  ];
}

/** Dolby Vision profile 5 has its own color space, which only the metadata of each frame can convert. */
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

/** The formats that the `colorspace` filter supports. It takes a third of the time of the general scaler. */
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
  const isBt709 = matrix === 'bt709' && primaries === 'bt709' && tags.range === 'limited';
  if (isBt709) return [{ filter: 'scale', args: TO_BT709 }];
  const from = `ispace=${matrix}:iprimaries=${primaries}:itrc=bt709:irange=${tags.range === 'full' ? 'pc' : 'tv'}`;
  const to = `space=bt709:primaries=bt709:trc=bt709:range=tv:format=yuv${sampling}p`;
  return [{ filter: 'colorspace', args: `${from}:${to}` }];
}

/** Handles RGB, gray and packed formats. Wide primaries need a second conversion once the frame is planar. */
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
    const directions = { none: 'cclock_flip', x: 'clock', y: 'cclock', both: 'clock_flip' } as const;
    const flip = flipX && flipY ? 'both' : flipX ? 'x' : flipY ? 'y' : 'none';
    return [
      { filter: 'format', args: 'pix_fmts=yuv420p' },
      { filter: 'transpose', args: `dir=${directions[flip]}` },
    ];
  }
  return [...(flipX ? [{ filter: 'hflip', args: '' }] : []), ...(flipY ? [{ filter: 'vflip', args: '' }] : [])];
}

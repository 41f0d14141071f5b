// The filters between decoder and bars, as data. A pure function of what the probe found: the same clip always gets the
// same list, and tests read it as text. Colour comes first, while the frame is as stored; turning comes last, when the
// frame is eight bits and 4:2:0 and cheap to move.

import type { Size } from '../../layout/geometry.ts';
import { type ColourTags, type ColourTreatment, hasAlphaChannel, treatmentFor } from './colour.ts';
import type { Orientation } from './orientation.ts';

export interface FilterStep {
  readonly filter: string;
  readonly args: string;
}

export interface PictureSource {
  readonly decoded: Size;
  /** Stored orientation, square pixels. */
  readonly square: Size;
  readonly orientation: Orientation;
  readonly pixelFormat: string;
  /** Nothing unspecified left but primaries. */
  readonly tags: ColourTags;
  readonly interlaced: boolean;
}

const FINAL_FORMAT: FilterStep = { filter: 'format', args: 'pix_fmts=yuv420p:color_spaces=bt709:color_ranges=tv' };
const TO_BT709 = 'out_color_matrix=bt709:out_range=tv:flags=bicubic+accurate_rnd+full_chroma_int';

export function pictureSteps(source: PictureSource): readonly FilterStep[] {
  return [
    ...(source.interlaced ? [{ filter: 'bwdif', args: 'mode=send_frame:deint=interlaced' }] : []),
    ...colourSteps(source),
    ...squareSteps(source),
    ...turnSteps(source.orientation),
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

function colourSteps({ tags, pixelFormat }: PictureSource): readonly FilterStep[] {
  if (hasAlphaChannel(pixelFormat)) return flattenSteps();
  return COLOUR_STEPS[treatmentFor(tags, pixelFormat)](tags, pixelFormat);
}

const COLOUR_STEPS = {
  keep: () => [],
  matrix: convertSteps,
  gamut: convertSteps,
  tonemap: tonemapSteps,
} as const satisfies Record<ColourTreatment, (tags: ColourTags, pixelFormat: string) => readonly FilterStep[]>;

/** Multiplied by its own alpha, a picture is what it would be on black. */
function flattenSteps(): readonly FilterStep[] {
  return [
    { filter: 'scale', args: TO_BT709 },
    { filter: 'format', args: 'pix_fmts=yuva444p' },
    { filter: 'premultiply', args: 'inplace=1' },
    { filter: 'format', args: 'pix_fmts=yuv444p' },
  ];
}

function tonemapSteps({ range }: ColourTags): readonly FilterStep[] {
  const output = 'transfer=bt709:matrix=bt709:primaries=bt709:range=tv:format=yuv420p';
  const full = range === 'full' ? [{ filter: 'scale', args: 'out_range=tv' }] : [];
  return [
    ...full,
    { filter: 'format', args: 'pix_fmts=yuv420p10le' },
    { filter: 'tonemapx', args: `tonemap=bt2390:${output}` },
  ];
}

/** The formats the fast colour filter reads; it needs a third of the general scaler's time. */
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

function convertSteps(tags: ColourTags, pixelFormat: string): readonly FilterStep[] {
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
function generalSteps(tags: ColourTags): readonly FilterStep[] {
  const planar = [
    { filter: 'scale', args: TO_BT709 },
    { filter: 'format', args: 'pix_fmts=yuv444p' },
  ];
  if (tags.primaries !== 'bt2020' && tags.primaries !== 'p3') return planar;
  return [...planar, ...convertSteps({ ...tags, matrix: 'bt709', range: 'limited' }, 'yuv444p')];
}

function squareSteps({ decoded, square }: PictureSource): readonly FilterStep[] {
  if (decoded.width !== square.width || decoded.height !== square.height) {
    return [{ filter: 'scale', args: `w=${evenUp(square.width)}:h=${evenUp(square.height)}:flags=lanczos` }];
  }
  const right = square.width % 2;
  const bottom = square.height % 2;
  if (right + bottom === 0) return [];
  // One more row or column, a copy of its neighbour: no pixel is resampled and none is lost.
  return [
    { filter: 'format', args: 'pix_fmts=yuv420p' },
    { filter: 'pad', args: `w=${square.width + right}:h=${square.height + bottom}:x=0:y=0` },
    { filter: 'fillborders', args: `right=${right}:bottom=${bottom}:mode=smear` },
  ];
}

function turnSteps({ transpose, flipX, flipY }: Orientation): readonly FilterStep[] {
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

function evenUp(side: number): number {
  return side + (side % 2);
}

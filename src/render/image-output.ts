// The encoding of an image or a transparent overlay, as part of its recipe.

import { formatFor, type RequestedOutput } from '../caption/format-field.ts';
import { COLOR_SPACES, type FormatOf, isLossy, type LossyFormat, OUTPUT_FORMATS } from '../caption/output-format.ts';
import { DEFAULT_QUALITY } from '../caption/request-fields.ts';
import type { Size } from '../layout/geometry.ts';
import { AppError } from '../errors.ts';
import { assertImageCanFit } from './size-limit.ts';

export type ImageOutput =
  | { readonly format: Exclude<FormatOf<'image'>, LossyFormat> }
  | { readonly format: Exclude<LossyFormat, 'jpeg'>; readonly quality: number; readonly maxBytes?: number }
  | {
      readonly format: 'jpeg';
      readonly quality: number;
      /** The most bytes. Then the best quality that fits replaces the one above. */
      readonly maxBytes?: number;
      /**
       * The EXIF orientation of a JPEG whose compressed data is kept outside the bars, and turned upright, if its encoding
       * allows it. The quality is for other JPEGs.
       */
      readonly keptOrientation?: number;
      /** A JPEG that is kept also keeps its color profile, if the colors of bars can be converted to it. */
      readonly keepsProfile?: true;
      /** A JPEG that can't be kept is encoded with its own tables, unless they are too coarse for text. */
      readonly likeSource?: { readonly orientation: number };
    };

/** The output of a transparent overlay. Every format is lossless here. */
export interface TransparentOutput {
  readonly format: FormatOf<'canvas'>;
}

/** EXIF orientation of an image that is stored as it is shown. */
const UPRIGHT = 1;

export interface SourceFacts {
  readonly isScaled: boolean;
  /** The decoded pixels are converted to sRGB. */
  readonly isConverted: boolean;
  /** The EXIF orientation. Upright by default. */
  readonly orientation?: number | undefined;
}

export function imageOutput(requested: RequestedOutput, source: SourceFacts): ImageOutput {
  const output = qualityOutput(requested, source);
  const { maxBytes } = requested;
  return maxBytes === undefined || output.format === 'png' ? output : { ...output, maxBytes };
}

function qualityOutput(requested: RequestedOutput, source: SourceFacts): ImageOutput {
  const { isScaled, isConverted, orientation = UPRIGHT } = source;
  const format = formatFor('image', requested);
  const { quality, colorSpace = COLOR_SPACES[0] } = requested;
  if (!isLossy(format)) return { format };
  if (format !== 'jpeg') return { format, quality: quality ?? DEFAULT_QUALITY };
  if (quality !== undefined || isScaled) return { format, quality: quality ?? DEFAULT_QUALITY };
  const keptColors = { keepsProfile: true, likeSource: { orientation } } as const;
  const output = { format, quality: DEFAULT_QUALITY, ...(colorSpace === 'source' && keptColors) };
  return isConverted ? output : { ...output, keptOrientation: orientation };
}

export function transparentOutput(requested: RequestedOutput): TransparentOutput {
  return { format: formatFor('canvas', requested) };
}

export function assertEncodable({ width, height }: Size, output: ImageOutput): void {
  const { format } = output;
  if (output.format !== 'png' && output.maxBytes !== undefined) {
    assertImageCanFit({ width, height }, output.format, output.maxBytes);
  }
  const side = Math.max(width, height);
  const limit = OUTPUT_FORMATS[format].maxSide;
  if (side <= limit) return;
  const advice = format === 'png' ? 'Send a smaller image.' : 'Send a smaller image, or use the format png.';
  const detail = `The image is ${width}x${height}; the limit for ${format} is ${limit} pixels per side. ${advice}`;
  throw new AppError('asset_dimensions_too_large', detail, { limit: { limit, actual: side } });
}

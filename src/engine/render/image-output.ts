// The encoding of an image or a transparent overlay, as part of its recipe.

import { formatFor, type RequestedOutput } from '../caption/format-field.ts';
import { COLOR_SPACES, isLossy, OUTPUT_FORMATS } from '../caption/output-format.ts';
import { DEFAULT_QUALITY } from '../caption/request-fields.ts';
import type { Size } from '../layout/geometry.ts';
import { AppError } from '../../shared/errors.ts';
import type { RecipeOf } from './recipe-schema.ts';
import { assertImageCanFit } from './size-limit.ts';

export type ImageOutput = RecipeOf<'image'>['output'];

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

export function transparentOutput(requested: RequestedOutput): RecipeOf<'transparent'>['output'] {
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

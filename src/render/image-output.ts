// How the file of an image or a transparent overlay is encoded: part of its recipe.

import { DEFAULT_QUALITY, FORMATS_OF, type OutputFormat, type RequestedOutput } from '../caption/output-format.ts';
import type { Size } from '../layout/geometry.ts';
import { AppError } from '../errors.ts';

export type ImageOutput =
  | { readonly format: 'png' }
  | { readonly format: 'webp'; readonly quality: number }
  | {
      readonly format: 'jpeg';
      readonly quality: number;
      /** Keep the compressed data of a JPEG outside the bars if its encoding allows it. The quality is for the others. */
      readonly keepsSource: boolean;
      /**
       * An EXIF orientation from 2 to 8: the same, but turn the compressed data upright. `keepsSource` is false then, because
       * workers of older versions would leave the image as it is stored.
       */
      readonly turnsSource?: number;
    };

/** WebP is lossless here. */
export type TransparentOutput = { readonly format: 'png' } | { readonly format: 'webp' };

/** The largest side that an encoder accepts. */
const MAX_SIDE: Readonly<Record<ImageOutput['format'], number>> = { png: 65_535, jpeg: 65_500, webp: 16_383 };

export interface SourceFacts {
  /** The pixels of the asset can't stay as they are, because they are scaled or converted to sRGB. */
  readonly isConverted: boolean;
  /** From EXIF, 2 to 8. */
  readonly orientation?: number | undefined;
}

export function imageOutput(
  { format = FORMATS_OF.image[0], quality }: RequestedOutput,
  { isConverted, orientation }: SourceFacts,
): ImageOutput {
  switch (format) {
    case 'png':
      return { format };
    case 'webp':
      return { format, quality: quality ?? DEFAULT_QUALITY };
    case 'jpeg': {
      if (quality !== undefined || isConverted)
        return { format, quality: quality ?? DEFAULT_QUALITY, keepsSource: false };
      const output = { format, quality: DEFAULT_QUALITY };
      if (orientation === undefined) return { ...output, keepsSource: true };
      return { ...output, keepsSource: false, turnsSource: orientation };
    }
    case 'mp4':
      throw unexpected(format, 'an image');
  }
}

export function transparentOutput({ format = FORMATS_OF.canvas[0] }: RequestedOutput): TransparentOutput {
  if (format !== 'png' && format !== 'webp') throw unexpected(format, 'a transparent overlay');
  return { format };
}

export function assertEncodable({ width, height }: Size, { format }: ImageOutput): void {
  const side = Math.max(width, height);
  const limit = MAX_SIDE[format];
  if (side <= limit) return;
  const advice = format === 'png' ? 'Send a smaller image.' : 'Send a smaller image, or use the format png.';
  const detail = `The image is ${width}x${height}; the limit for ${format} is ${limit} pixels per side. ${advice}`;
  throw new AppError('asset_dimensions_too_large', detail, { limit: { limit, actual: side } });
}

/** Requests with such a format are refused when they are parsed. */
function unexpected(format: OutputFormat, source: string): Error {
  return new Error(`${format} isn't a format for ${source}`);
}

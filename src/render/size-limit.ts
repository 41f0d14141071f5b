// `max_bytes`: finds the best quality of an image whose file is small enough.

import type { LossyFormat } from '../caption/output-format.ts';
import { AppError } from '../errors.ts';
import type { Size } from '../layout/geometry.ts';

export interface SizedFile {
  readonly bytes: Buffer;
  readonly quality: number;
}

const MAX_QUALITY = 100;

/**
 * Searches by halving, because files grow with the quality. Every quality is a whole number, so the next better one of the result
 * doesn't fit.
 */
export async function encodeWithin(maxBytes: number, encode: (quality: number) => Promise<Buffer>): Promise<SizedFile> {
  let best: SizedFile | undefined;
  let smallest = Number.POSITIVE_INFINITY;
  let [low, high] = [1, MAX_QUALITY];
  while (low <= high) {
    const quality = Math.floor((low + high) / 2);
    const bytes = await encode(quality);
    smallest = Math.min(smallest, bytes.length);
    if (bytes.length <= maxBytes) {
      best = { bytes, quality };
      low = quality + 1;
    } else {
      high = quality - 1;
    }
  }
  if (best) return best;
  throw cannotFit(maxBytes, smallest, 'The image');
}

/**
 * The fewest bits that a pixel can have. A JPEG has at least two bits for each of the six blocks of 256 pixels. WebP has no
 * such bound.
 */
const MIN_BITS_PER_PIXEL: Readonly<Record<LossyFormat, number>> = { jpeg: 12 / 256, webp: 0 };

/** Refuses a limit that no quality can meet, before anything is encoded. */
export function assertImageCanFit({ width, height }: Size, format: LossyFormat, maxBytes: number): void {
  const least = Math.ceil((width * height * MIN_BITS_PER_PIXEL[format]) / 8);
  if (least > maxBytes) throw cannotFit(maxBytes, least, `Any ${format} of ${width}x${height} pixels`);
}

export function cannotFit(maxBytes: number, least: number, what: string): AppError {
  const detail =
    `${what} takes at least ${least} bytes; max_bytes is ${maxBytes}. Raise max_bytes, or make the file smaller ` +
    'with fit, width and height.';
  return new AppError('cannot_fit', detail, { limit: { limit: maxBytes, actual: least } });
}

// `max_bytes`: finds the best quality of an image whose file is small enough. A large image is searched on a sample of
// its rows, because each of its encodes takes seconds. Its quality may be a few steps below the best one.

import type { LossyFormat } from '../caption/output-format.ts';
import { AppError } from '../../shared/errors.ts';
import type { Size } from '../layout/geometry.ts';
import type { RawImage } from '../raster/blend.ts';

export interface SizedFile {
  readonly bytes: Buffer;
  readonly quality: number;
}

const MAX_QUALITY = 100;
/** Halving a hundred qualities takes at most seven encodes. */
const SEARCH_ENCODES = 7;
/** Images with more pixels are searched on a sample. */
const MAX_SEARCHED_PIXELS = 8_000_000;
const MAX_FULL_ENCODES = 3;
/** The last encode of a large image uses a quality this far below the expected one. If its file is too large, the render fails. */
const SAFETY_STEPS = 2;
/** Encoders compress blocks of up to 16 rows, so a sample of thicker strips compresses much like the whole image. */
const STRIP_ROWS = 64;
const ROWS_PER_STRIP = 512;

export function isSearchedOnSample({ width, height }: Size): boolean {
  return width * height > MAX_SEARCHED_PIXELS;
}

/** Returns how many encodes of the whole image a search takes. The sample of a large one counts as one. */
export function encodesWithin(size: Size): number {
  return isSearchedOnSample(size) ? MAX_FULL_ENCODES + 1 : SEARCH_ENCODES;
}

/**
 * Searches by halving, because files grow with the quality. Every quality is a whole number, so the next better one of the result
 * doesn't fit.
 */
export async function encodeWithin(maxBytes: number, encode: Encode): Promise<SizedFile> {
  let best: SizedFile | undefined;
  let smallest = Number.POSITIVE_INFINITY;
  await bestOf(1, MAX_QUALITY, async (quality) => {
    const bytes = await encode(quality);
    smallest = Math.min(smallest, bytes.length);
    if (bytes.length > maxBytes) return false;
    best = { bytes, quality };
    return true;
  });
  if (best) return best;
  throw cannotFit(maxBytes, smallest, 'The image');
}

type Encode = (quality: number) => Promise<Buffer>;

/** A part of an image, which is encoded faster. */
interface Sample {
  readonly encode: Encode;
  /** How many times as large the whole image is. */
  readonly factor: number;
}

/**
 * Expects the file to be larger than that of the sample by a factor, and learns from each encode of the whole image how the
 * factor changes with the quality.
 */
export async function encodeLargeWithin(maxBytes: number, encode: Encode, sample: Sample): Promise<SizedFile> {
  const sizes = new Map<number, number>();
  const sampleBytes = async (quality: number): Promise<number> => {
    const bytes = sizes.get(quality) ?? (await sample.encode(quality)).length;
    sizes.set(quality, bytes);
    return bytes;
  };
  let best: SizedFile | undefined;
  let smallest = Number.POSITIVE_INFINITY;
  const known: KnownFactor[] = [];
  let [low, high] = [1, MAX_QUALITY];
  for (let count = 1; count <= MAX_FULL_ENCODES && low <= high; count += 1) {
    const expected = await bestOf(low, high, async (quality) => {
      return (await sampleBytes(quality)) * factorAt(quality, known, sample.factor) <= maxBytes;
    });
    // The file that fits is already the best one.
    if (best && expected === undefined) break;
    const isLast = count === MAX_FULL_ENCODES;
    const quality = Math.max(low, (expected ?? low) - (isLast ? SAFETY_STEPS : 0));
    const bytes = await encode(quality);
    known.push({ quality, factor: bytes.length / (await sampleBytes(quality)) });
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

interface KnownFactor {
  readonly quality: number;
  readonly factor: number;
}

/** Draws a line through the factors that are known. */
function factorAt(quality: number, [one, other]: readonly KnownFactor[], initial: number): number {
  if (one === undefined) return initial;
  if (other === undefined) return one.factor;
  const slope = (other.factor - one.factor) / (other.quality - one.quality);
  return other.factor + slope * (quality - other.quality);
}

/** Returns the highest quality that fits, or undefined if none does. */
async function bestOf(
  lowest: number,
  highest: number,
  fits: (quality: number) => Promise<boolean>,
): Promise<number | undefined> {
  let best: number | undefined;
  let [low, high] = [lowest, highest];
  while (low <= high) {
    const quality = Math.floor((low + high) / 2);
    if (await fits(quality)) {
      best = quality;
      low = quality + 1;
    } else {
      high = quality - 1;
    }
  }
  return best;
}

/** Returns every eighth strip of rows. */
export function sampleRows(image: RawImage): RawImage {
  const { width, height, channels, data } = image;
  const rowBytes = width * channels;
  const strips: Uint8Array[] = [];
  for (let top = 0; top < height; top += ROWS_PER_STRIP) {
    strips.push(data.subarray(top * rowBytes, Math.min(height, top + STRIP_ROWS) * rowBytes));
  }
  const sampled = Buffer.concat(strips);
  return { width, height: sampled.length / rowBytes, channels, data: sampled };
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

// HEIF and AVIF files: their boxes, up to the coded images, which FFmpeg decodes.

import { AppError } from '../../../src/shared/errors.ts';
import { probeHeif, readStillImage } from '../../../src/engine/media/heif/still-image.ts';
import { allowing, check } from '../check.ts';

const isRefusal = (error: unknown): boolean => error instanceof AppError && error.code === 'asset_undecodable';

/** An accepted file has a size, and its images lie on the canvas and in the file. */
export function fuzz(file: Buffer): void {
  const still = allowing(isRefusal, () => readStillImage(file));
  const probe = allowing(isRefusal, () => probeHeif(file));
  check((still === undefined) === (probe === undefined), 'probe and decoder accept the same files');
  if (still === undefined) return;
  for (const { width, height, images } of [still.layout, ...(still.alpha ? [still.alpha.layout] : [])]) {
    check(Number.isInteger(width) && width > 0 && Number.isInteger(height) && height > 0, 'the image has a size');
    for (const { item, clip } of images) {
      check(clip.left >= 0 && clip.top >= 0, 'the visible part starts on the canvas');
      check(clip.right <= width && clip.bottom <= height, 'the visible part ends on the canvas');
      const data = allowing(isRefusal, () => still.file.dataOf(item));
      check((data?.length ?? 0) <= file.length, 'a coded image has at most the bytes of the file');
    }
  }
}

import { AppError } from '../../../shared/errors.ts';
import type { Size } from '../../layout/geometry.ts';

/** Called for the container header, the decoder and the size with square pixels, because each can differ. */
export function assertMaxSide(maxSide: number, { width, height }: Size): void {
  const actual = Math.max(width, height);
  if (actual <= maxSide) return;
  const detail = `The video is ${width}x${height}; the limit is ${maxSide} pixels per side. Scale it down and try again.`;
  throw new AppError('asset_dimensions_too_large', detail, { limit: { limit: maxSide, actual } });
}

/**
 * Returns the pixel limit for the decoder. Decoders allocate whole blocks, so a frame needs more room than its size.
 */
export function decoderPixels(maxSide: number): number {
  return (maxSide + 64) ** 2;
}

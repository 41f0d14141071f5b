import { AppError } from '../../errors.ts';
import type { Size } from '../../layout/geometry.ts';

/** Refused wherever it shows first: in the header, in the decoder, or after the pixels were made square. */
export function assertMaxSide(maxSide: number, { width, height }: Size): void {
  const actual = Math.max(width, height);
  if (actual <= maxSide) return;
  const detail = `The video is ${width}x${height}; the limit is ${maxSide} pixels a side.`;
  throw new AppError('asset_dimensions_too_large', detail, { limit: { limit: maxSide, actual } });
}

/** Decoders count whole blocks, so a frame needs more room than its size. */
export function decoderPixels(maxSide: number): number {
  return (maxSide + 64) ** 2;
}

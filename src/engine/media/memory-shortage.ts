// Tells a file that can't be decoded from one for which this process has too little memory. Decoders report both in the same way.
// The kernel's limit for a worker refuses an allocation before the server notices that the worker grows.

import { AppError } from '../../shared/errors.ts';

const MEGABYTE = 1024 ** 2;
/** Without an image, a worker that has less than this left can't do anything. */
const LEAST_BYTES = 128 * MEGABYTE;
/** The peak of the most expensive format, a WebP with alpha. */
export const PEAK_BYTES_PER_MEGAPIXEL = 17.5 * MEGABYTE;
/** Operators change memory limits by restarting a server or a worker. */
export const OUT_OF_MEMORY_RETRY_SECONDS = 60;

/**
 * Returns true if this process can't allocate what an image with so many pixels may take. The memory is never touched and given
 * back immediately, so this costs nothing.
 */
export function isMemoryShort(pixels: number): boolean {
  const bytes = LEAST_BYTES + Math.ceil((pixels / 1e6) * PEAK_BYTES_PER_MEGAPIXEL);
  try {
    const buffer = new ArrayBuffer(0, { maxByteLength: bytes });
    buffer.resize(bytes);
    buffer.resize(0);
    return false;
  } catch {
    return true;
  }
}

export function outOfMemory(cause?: unknown): AppError {
  const detail = 'Rendering the asset needs more memory than workers of this server have. Send a smaller file.';
  return new AppError('out_of_memory', detail, { retryAfterSeconds: OUT_OF_MEMORY_RETRY_SECONDS, cause });
}

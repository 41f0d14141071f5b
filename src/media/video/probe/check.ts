import { FFmpegError, PosixError } from 'node-av/lib';

/** "Nothing now, ask again": how decoders, filters and encoders say that they want more input first. */
export const AGAIN: number = FFmpegError.AVERROR(PosixError.EAGAIN);

/** For calls that can only fail by our own mistake or for want of memory. */
export function check(result: number, doing: string): number {
  if (result < 0) throw new Error(`${doing}: ${FFmpegError.strerror(result)}`);
  return result;
}

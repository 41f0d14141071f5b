import { FFmpegError, PosixError } from 'node-av/lib';

/** EAGAIN: a decoder, filter or encoder needs more input before it has output. */
export const AGAIN: number = FFmpegError.AVERROR(PosixError.EAGAIN);

/** Checks FFmpeg calls that fail only because of a bug or a lack of memory. */
export function check(result: number, operation: string): number {
  if (result < 0) throw new Error(`FFmpeg failed to ${operation}: ${FFmpegError.strerror(result)}`);
  return result;
}

import type { Timestamp } from '../frames/frame-clock.ts';
import type { Ratio } from '../frames/geometry.ts';

/** A finer time base would overflow MP4's 32-bit durations without adding useful precision. */
const MAX_TICKS_PER_SECOND = 1_000_000;
const DEFAULT_TIME_BASE: Ratio = { num: 1, den: 90_000 };

/** Keeps the time base of the source where MP4 supports it, so that no timestamp is rounded. */
export function outputTimeBase(source: Ratio): Ratio {
  const isUsable = source.num > 0 && source.den > 0 && source.den <= MAX_TICKS_PER_SECOND;
  return isUsable ? source : DEFAULT_TIME_BASE;
}

/** Returns the frame rate as the fraction that the encoder's rate control expects. */
export function toFrameRate(framesPerSecond: number): Ratio {
  const bounded = Math.min(Math.max(framesPerSecond, 1), 1_000);
  return { num: Math.round(bounded * 1_000), den: 1_000 };
}

/**
 * Returns the time to subtract from all timestamps so that the clip starts at zero. Tracks keep their relative offset.
 */
export function startOffset(videoStart: number, audioStart: number | undefined): number {
  if (videoStart < 0) return videoStart;
  return Math.max(0, Math.min(videoStart, audioStart ?? videoStart));
}

/** Returns when the first frame of a video is shown. */
export function firstFrameOf({ start, timeBase }: { readonly start: number; readonly timeBase: Ratio }): Timestamp {
  return { pts: BigInt(Math.round((start * timeBase.den) / timeBase.num)), timeBase };
}

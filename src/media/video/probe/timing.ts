import type { Ratio } from '../frames/geometry.ts';

/** Clocks finer than this do not fit MP4's 32-bit durations and tell nothing more. */
const FINEST_TICKS_PER_SECOND = 1_000_000;
const FALLBACK: Ratio = { num: 1, den: 90_000 };

/** The source's own clock wherever MP4 can keep it, so that no timestamp is ever rounded. */
export function outputTimeBase(source: Ratio): Ratio {
  const usable = source.num > 0 && source.den > 0 && source.den <= FINEST_TICKS_PER_SECOND;
  return usable ? source : FALLBACK;
}

/** For the encoder's rate control, which wants a fraction. */
export function toFrameRate(framesPerSecond: number): Ratio {
  const bounded = Math.min(Math.max(framesPerSecond, 1), 1_000);
  return { num: Math.round(bounded * 1_000), den: 1_000 };
}

/** What to take off every timestamp so that the clip begins at zero, keeping any lead of one track over the other. */
export function startOffset(videoStart: number, audioStart: number | undefined): number {
  if (videoStart < 0) return videoStart;
  return Math.max(0, Math.min(videoStart, audioStart ?? videoStart));
}

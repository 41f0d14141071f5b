// What a render costs. Every price rule is in this file; everything else passes the result on.

import type { KeyMode } from './api-key.ts';

/** When a video's first frame starts, its last frame starts and its last frame ends, in seconds. */
export interface PricedSpan {
  readonly start: number;
  readonly lastStart: number;
  readonly end: number;
}

/** The part of a probed asset, or of an empty canvas, that the price depends on. */
export type PricedMedia =
  | { readonly kind: 'canvas' | 'image' }
  | { readonly kind: 'video'; readonly video: PricedSpan };

export interface PriceTerms {
  readonly mode: KeyMode;
  /** The render was delivered and paid for before, under the same idempotency key. */
  readonly isReplay: boolean;
}

const IMAGE_CREDITS = 1;
export const SECONDS_PER_CREDIT = 5;
/** The end of a video that doesn't count, because a clip cut at five seconds runs a little longer than five seconds. */
export const UNCOUNTED_END_SECONDS = 0.1;

/** The credits to reserve for a render, and to charge once it's delivered. Test keys and replays are free. */
export function priceOf(media: PricedMedia, { mode, isReplay }: PriceTerms): number {
  if (mode === 'test' || isReplay) return 0;
  return media.kind === 'video' ? videoCredits(media.video) : IMAGE_CREDITS;
}

/**
 * One credit per started five seconds. A block of five seconds has started when a frame starts in it, or when the last
 * frame is still shown in it for longer than the uncounted end.
 */
function videoCredits({ start, lastStart, end }: PricedSpan): number {
  const seconds = Math.max(lastStart, end - UNCOUNTED_END_SECONDS) - start;
  return Math.floor(Math.max(seconds, 0) / SECONDS_PER_CREDIT) + 1;
}

// The prices of renders. Every price rule is in this file, which the service and the playground use. Browsers load it,
// so it imports nothing.

/** The part of a probed asset, or of an empty canvas, that the price depends on. */
export type PricedMedia =
  | { readonly kind: 'canvas' | 'image' }
  /**
   * The duration of the result, from the first frame or audio sample to the last. Players and other tools show the same
   * one.
   */
  | { readonly kind: 'video'; readonly durationSeconds: number }
  /** One frame of a video, and how much of the video has to be decoded for it, from the keyframe before it. */
  | { readonly kind: 'cover'; readonly decodedSeconds: number };

export interface PriceTerms {
  readonly mode: 'live' | 'test';
  /** True when the render was already delivered and paid for with the same idempotency key. */
  readonly isReplay: boolean;
  /** The seconds of sound that are transcribed, for captions from speech. */
  readonly speechSeconds?: number | undefined;
}

const IMAGE_CREDITS = 1;
const MS_PER_CREDIT = 5_000;
/** A cover that takes more decoding than this has the price of a video. */
const MAX_COVER_SECONDS = 10;
const SPEECH_MS_PER_CREDIT = 30_000;
/** The end of a video that isn't charged, because a clip cut at five seconds runs a little longer than five seconds. */
const UNCOUNTED_MS = 100;

/** Returns the credits to reserve for a render, and to charge once it's delivered. Test keys and replays are free. */
export function priceOf(media: PricedMedia, { mode, isReplay, speechSeconds }: PriceTerms): number {
  if (mode === 'test' || isReplay) return 0;
  if (media.kind === 'cover') {
    return media.decodedSeconds <= MAX_COVER_SECONDS
      ? IMAGE_CREDITS
      : startedParts(media.decodedSeconds, MS_PER_CREDIT);
  }
  const speech = speechSeconds === undefined ? 0 : startedParts(speechSeconds, SPEECH_MS_PER_CREDIT);
  return speech + (media.kind === 'video' ? startedParts(media.durationSeconds, MS_PER_CREDIT) : IMAGE_CREDITS);
}

/** Returns the price of a video when only its duration is known, or that of an image without a duration. */
export function quoteFor(durationSeconds: number | undefined, mode: PriceTerms['mode']): number {
  const media =
    durationSeconds === undefined ? ({ kind: 'image' } as const) : { kind: 'video' as const, durationSeconds };
  return priceOf(media, { mode, isReplay: false });
}

/**
 * Charges one credit per started part. A remainder below `UNCOUNTED_MS` doesn't start another one. Whole milliseconds are
 * compared, because the same duration may be a sum here and a decimal number there.
 */
function startedParts(seconds: number, msPerPart: number): number {
  const counted = Math.max(Math.round(seconds * 1_000) - UNCOUNTED_MS, 0);
  return Math.floor(counted / msPerPart) + 1;
}

// The limits of visitors without an account in the playground: watermarked images and clips of a limited size, a
// limited number per day.

/** The longer side of a preview or result, in pixels. */
export const GUEST_MAX_SIDE = 1_280;

/** The length of `captions` in bytes. */
export const GUEST_CAPTIONS_BYTES = 64 * 1024;

/** The page requests a new preview for every change, so there are many previews for each result. */
export const PREVIEWS_PER_RENDER = 40;

/** A video of up to this length is free once per address and day, with a watermark. */
export const FREE_CLIP_SECONDS = 10;

/** The longer side of such a video, and its size in bytes. */
export const FREE_CLIP_SIDE = 1_920;
export const MAX_CLIP_BYTES = 50_000_000;

/** The longer side of a preview without a watermark, for accounts with credits, and how many of them an hour has. */
export const UNMARKED_SIDE = 720;
export const UNMARKED_PREVIEWS_PER_HOUR = 60;

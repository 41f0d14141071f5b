// What visitors without an account get in the playground: watermarked images of a limited size, a limited number per day.

/** The longer side of a preview or result, in pixels. */
export const GUEST_MAX_SIDE = 1_280;

/** The page requests a new preview for every change, so there are many of them for each result. */
export const PREVIEWS_PER_RENDER = 40;

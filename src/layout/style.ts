// The look, in numbers (docs/look.md says where they were measured). Lengths are in em unless a name says otherwise.

import type { Size } from './geometry.ts';

/** Font size as a share of the reference length, `min(width, height)`: by width alone, landscape bars would collide. */
const FONT_SHARE = 0.048;
const LINE_HEIGHT = 1.2;
const PADDING = 0.4;
/** Captions wrap inside this share of the width. */
const WRAP_SHARE = 0.92;

/** Where the baseline sits below the middle of its line: half the capital height, so capitals are centred. */
const BASELINE_BELOW_MIDDLE = 0.3635;

/** Emoji are drawn smaller than their nominal size, which is 1.25 em wide, and raised so that they stay centred. */
const EMOJI_SCALE = 0.9;
const EMOJI_RAISE = 0.05;

export const BAR_ALPHA = 0.6;

/** The sizes of one canvas, in pixels; everything else scales with `fontSize`. */
export interface Scale {
  readonly fontSize: number;
  readonly wrapWidth: number;
}

export const style = {
  lineHeight: LINE_HEIGHT,
  padding: PADDING,
  baselineBelowMiddle: BASELINE_BELOW_MIDDLE,
  emojiScale: EMOJI_SCALE,
  emojiRaise: EMOJI_RAISE,
} as const;

export function scaleFor(canvas: Size): Scale {
  return {
    fontSize: FONT_SHARE * Math.min(canvas.width, canvas.height),
    wrapWidth: WRAP_SHARE * canvas.width,
  };
}

// The numbers behind the look, whose measurements are in docs/look.md. Lengths are in em by default.

import type { Size } from './geometry.ts';
import { type Look, lookOf, SPACINGS, type Spacing } from './look.ts';
import type { Margins } from '../caption/safe-area.ts';
import { NO_MARGINS } from './safe-area.ts';

/** Font size as a share of the shorter side. As a share of the width, bars on landscape canvases would collide. */
const FONT_SHARE = 0.048;
/** A panorama is viewed at the width of a screen. From 4:1 on, text therefore stays this share of its width. */
const PANORAMA_FONT_SHARE = FONT_SHARE / 4;
/** The largest font on a panorama, as a share of its height. Four bars with one line each still fit. */
const PANORAMA_MAX_SHARE = 0.12;
const LINE_HEIGHT = 1.2;
/** The share of the canvas width that lines can use. */
const WRAP_SHARE = 0.92;

/** Distance of the baseline below the middle of its line. It is half the cap height, so that capitals are centered. */
const BASELINE_BELOW_MIDDLE = 0.3635;

/** The share of its font size to which a caption shrinks at most, so that a long word needs no cut. */
const LEAST_UNCUT_SIZE = 0.85;

/** Emoji are nominally 1.25 em wide. They are drawn smaller, and raised so that they stay centered. */
const EMOJI_SCALE = 0.9;
const EMOJI_RAISE = 0.05;

/** The sizes for one canvas, in pixels. Everything else scales with `fontSize`. */
export interface Scale {
  readonly fontSize: number;
  /** The width of the lines together with the space beside them. */
  readonly wrapWidth: number;
  readonly spacing: Spacing;
}

export const style = {
  lineHeight: LINE_HEIGHT,
  baselineBelowMiddle: BASELINE_BELOW_MIDDLE,
  leastUncutSize: LEAST_UNCUT_SIZE,
  emojiScale: EMOJI_SCALE,
  emojiRaise: EMOJI_RAISE,
} as const;

const DEFAULT_LOOK = lookOf();

export function scaleFor({ width, height }: Size, look: Look = DEFAULT_LOOK, margins: Margins = NO_MARGINS): Scale {
  const normal = FONT_SHARE * Math.min(width, height);
  const onPanorama = Math.min(PANORAMA_FONT_SHARE * width, PANORAMA_MAX_SHARE * height);
  return {
    fontSize: Math.max(normal, onPanorama) * look.size,
    wrapWidth: wrapWidthFor(width, look, margins),
    spacing: SPACINGS[look.surround],
  };
}

/** Centered text stays centered on the canvas, so both its margins are as wide as the wider one. */
function wrapWidthFor(width: number, { align }: Look, { left, right }: Margins): number {
  const free = align === 'center' ? width - 2 * Math.max(left, right) : lineMargins(width, { left, right }).free;
  return Math.min(WRAP_SHARE * width, free);
}

/** Returns where aligned lines start and end: at the usual margin or, if it is wider, that of the safe area. */
export function lineMargins(
  width: number,
  margins: Pick<Margins, 'left' | 'right'>,
): { readonly left: number; readonly right: number; readonly free: number } {
  const usual = ((1 - WRAP_SHARE) / 2) * width;
  const [left, right] = [Math.max(usual, margins.left), Math.max(usual, margins.right)];
  return { left, right, free: width - left - right };
}

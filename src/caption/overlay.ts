// The overlay a client requests, and the limits of the API contract for it.

import type { SafeAreaName } from './safe-area-field.ts';
import type { CaptionStyle } from './style-field.ts';
import type { ShownTimes } from './timing-field.ts';

/** A caption at a vertical position; `null` means the default position for its index. Without times, it is always shown. */
export interface Overlay extends ShownTimes {
  readonly text: string;
  readonly position: number | null;
  /** BCP 47 tag of the language of the text, where the client named it. */
  readonly lang?: string;
  readonly style?: CaptionStyle;
  /** The same for all overlays of a request; absent for `none`. */
  readonly safeArea?: SafeAreaName;
  /** A cue of subtitles, which moves up while another one is shown at its position. */
  readonly isCue?: true;
}

export const MAX_TEXT_GRAPHEMES = 180;
export const MAX_TEXT_BYTES = 2_000;
export const MAX_OVERLAYS = 10;

/** Of subtitles. */
export const MAX_CUES = 500;
export const MAX_CAPTIONS_BYTES = 64 * 1024;

/** By index: from the middle to the bottom edge, then from just above the middle to the top. */
const DEFAULT_POSITIONS = [50, 60, 70, 80, 90, 100, 40, 30, 20, 10] as const;

/** Below the middle, where subtitles usually are. */
export const DEFAULT_CUE_POSITION = 80;

export function defaultPosition(index: number): number {
  const position = DEFAULT_POSITIONS[index];
  if (position === undefined) throw new RangeError(`no default position for overlay ${index}`);
  return position;
}

/** Size of a transparent overlay. */
export const MIN_SIDE = 16;
export const MAX_SIDE = 8_192;
export const MAX_CANVAS_PIXELS = 33_200_000;

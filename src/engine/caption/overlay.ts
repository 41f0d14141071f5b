// The overlay a client requests, and the limits of the API contract for it.

import type { Json, ValueOf, ValuesOf } from '../../shared/json-schema.ts';
import type { SafeAreaName } from './safe-area.ts';
import type { TimedWord } from './words/timed-words.ts';
import { type CaptionStyle, NAME_OR_STYLE, type RequestedStyle } from './style.ts';

export const MAX_TEXT_GRAPHEMES = 180;
export const MAX_TEXT_BYTES = 2_000;
export const MAX_OVERLAYS = 10;

/** The maximum number of cues in subtitles and transcripts. */
export const MAX_CUES = 500;
export const MAX_CAPTIONS_BYTES = 1024 * 1024;
/** Of one cue or transcript before its tags are removed, in UTF-16 units. Far more than all words of captions need. */
export const MAX_CUE_LENGTH = 200_000;

/** How captions are split into pages. */
export interface Paging {
  readonly maxWords?: number;
  readonly maxLines: number;
}

export const DEFAULT_MAX_LINES = 2;

/** RFC 5646 recommends that implementations support at least 35 characters. */
export const MAX_LANGUAGE_LENGTH = 35;

/** The fields of an overlay. Only `text` is required; the others can also be null. */
export const OVERLAY_FIELDS = {
  text: {
    type: 'string',
    maxLength: MAX_TEXT_BYTES,
    description: `Up to ${MAX_TEXT_GRAPHEMES} characters (grapheme clusters).`,
  },
  /** A percentage of the height. */
  position: {
    type: 'number',
    minimum: 0,
    maximum: 100,
    description:
      'Vertical center of the bar, in percent of the height: 0 touches the top edge, 100 the bottom edge. If omitted ' +
      'or null, the default depends on the order of the overlays.',
  },
  /** The language of the text, as a BCP 47 tag. */
  lang: {
    type: 'string',
    maxLength: MAX_LANGUAGE_LENGTH,
    description: 'Language of this caption as a BCP 47 tag. If omitted or null, that of the request.',
  },
  /** Seconds from the first frame of a video. A bar is shown from `start` on, until just before `end`. */
  start: {
    type: 'number',
    minimum: 0,
    description: 'Seconds from the first frame of a video at which the bar appears. Default: 0. Ignored for images.',
  },
  end: {
    type: 'number',
    exclusiveMinimum: 0,
    description:
      'Seconds from the first frame at which the bar disappears. Must be later than `start`. By default, the bar stays ' +
      'until the end.',
  },
  /** A name, or an object that changes what it stands for. */
  style: {
    ...NAME_OR_STYLE,
    description:
      'Look of this caption. With a preset or a saved style, it replaces the `style` of the request. Without one, it changes only the keys it has.',
  },
} as const satisfies Readonly<Record<string, Json>>;

type ScalarFields = Omit<typeof OVERLAY_FIELDS, 'text' | 'style'>;

/** An overlay as a client sends it. */
export type RequestedOverlay = { readonly text: string } & {
  readonly [Name in keyof ScalarFields]?: ValueOf<ScalarFields[Name]> | null;
} & { readonly style?: RequestedStyle | null };

/** A caption at a vertical position; `null` means the default position for its index. Without times, it is always shown. */
export interface Overlay extends Omit<ValuesOf<ScalarFields>, 'position'> {
  readonly text: string;
  readonly position: number | null;
  readonly style?: CaptionStyle;
  /** The same for all overlays of a request. Absent for `none`. */
  readonly safeArea?: SafeAreaName;
  /** True for a cue of subtitles, which moves up while another one is shown at its position. */
  readonly isCue?: true;
  /** When the words of a cue are spoken, where that matters. */
  readonly words?: readonly TimedWord[];
  /** Set where the times of words were estimated from those of the cue. */
  readonly isEstimated?: true;
  /** The cue is a phrase that becomes as many pages as it needs. Without it, it is one page. */
  readonly paging?: Paging;
}

/** Positions by index: from the middle to the bottom edge, then from just above the middle to the top. */
const DEFAULT_POSITIONS = [50, 60, 70, 80, 90, 100, 40, 30, 20, 10] as const;

/** The position is below the middle, where subtitles usually are. */
export const DEFAULT_CUE_POSITION = 80;

export function defaultPosition(index: number): number {
  const position = DEFAULT_POSITIONS[index];
  if (position === undefined) throw new RangeError(`no default position for overlay ${index}`);
  return position;
}

/** The limits of the sides of a transparent overlay. */
export const MIN_SIDE = 16;
export const MAX_SIDE = 8_192;
export const MAX_CANVAS_PIXELS = 33_200_000;

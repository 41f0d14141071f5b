// Converts the style that a client requests to the look of one caption: its colors, and the space around its text.

import {
  type Alignment,
  type CaptionStyle,
  HIGHLIGHT_COLORS,
  type HighlightMode,
  highlightOf,
  takesHighlightColor,
  type Weight,
} from '../caption/style.ts';
import { DEFAULT_FONT } from '../caption/fonts.ts';
import { presetOf, type Surround } from '../caption/style-presets.ts';
import { must } from '../../shared/must.ts';
import { type Color, contrast, luminance } from './contrast.ts';

/** Spaces in em. */
export interface Spacing {
  /** The space above the first and below the last line. */
  readonly padding: number;
  /** The space left and right of each line, inside the margins of the canvas. */
  readonly aside: number;
  /** The minimum distance of tall or deep ink (Tibetan, Javanese, stacked marks) from the edge of the bar, as measured. Marks
   * can be drawn a little higher than measured. */
  readonly clearance: number;
}

/** How the word that is being spoken stands out. */
export interface Highlight {
  readonly mode: Exclude<HighlightMode, 'none'>;
  /** The color of the word. `reveal` doesn't use it. */
  readonly color: Color;
  /** The color of the box behind the word. */
  readonly background: Color;
}

export interface Look {
  readonly surround: Surround;
  readonly color: Color;
  /** Undefined where the text lies directly on the photo. */
  readonly background: Color | undefined;
  readonly size: number;
  readonly align: Alignment;
  readonly weight: Weight;
  /** The name of a bundled font, or the id of an own one. Undefined for the default font. */
  readonly font: string | undefined;
  /** Undefined where words don't stand out. */
  readonly highlight: Highlight | undefined;
  /** True if the client asks for bold text, instead of getting it by default. */
  readonly isBoldRequested: boolean;
}

/** The contrast that WCAG 2 requires for large text. */
export const MIN_TEXT_CONTRAST = 3;

/** The width of the outline outside the letters, in em. */
export const OUTLINE_WIDTH = 0.08;

/** A box looks evenly padded when the space beside its text equals that above capitals and below the baseline. */
export const SPACINGS: Readonly<Record<Surround, Spacing>> = {
  bar: { padding: 0.4, aside: 0, clearance: 0.1 },
  box: { padding: 0.2, aside: 0.44, clearance: 0.18 },
  outline: { padding: 0.2, aside: 0.1, clearance: 0.2 },
  shadow: { padding: 0.4, aside: 0, clearance: 0.4 },
};

export function lookOf({ preset, ...style }: CaptionStyle = {}): Look {
  const defaults = presetOf(preset);
  const background = style.background ?? defaults.background;
  return {
    surround: defaults.surround,
    color: parseColor(style.color ?? defaults.color),
    background: background === undefined ? undefined : parseColor(background),
    size: style.size ?? defaults.size ?? 1,
    align: style.align ?? 'center',
    font: style.font === DEFAULT_FONT ? undefined : style.font,
    weight: style.weight ?? defaults.weight ?? 'regular',
    isBoldRequested: style.weight === 'bold',
    highlight: highlightLook(style),
  };
}

function highlightLook(style: CaptionStyle): Highlight | undefined {
  const { mode, color, background } = highlightOf(style);
  if (mode === 'none') return undefined;
  const usual = mode === 'box' ? HIGHLIGHT_COLORS.boxText : HIGHLIGHT_COLORS.color;
  return {
    mode,
    color: parseColor(color ?? usual),
    background: parseColor(background ?? HIGHLIGHT_COLORS.boxBackground),
  };
}

/**
 * Returns whether text, or a word that stands out, is hard to read on an opaque background. Over a transparent one, it
 * depends on the photo.
 */
export function isLowContrast({ color, background, highlight }: Look): boolean {
  if (isHardToRead(color, background)) return true;
  if (highlight === undefined || !takesHighlightColor(highlight.mode)) return false;
  return isHardToRead(highlight.color, highlight.mode === 'box' ? highlight.background : background);
}

function isHardToRead(color: Color, background: Color | undefined): boolean {
  if (background === undefined || background.alpha < 255) return false;
  const seen = (channel: 'red' | 'green' | 'blue'): number =>
    (color[channel] * color.alpha + background[channel] * (255 - color.alpha)) / 255;
  const text = luminance(seen('red'), seen('green'), seen('blue'));
  const behind = luminance(background.red, background.green, background.blue);
  return contrast(text, behind) < MIN_TEXT_CONTRAST;
}

/** Parses `#rrggbb` or `#rrggbbaa`. */
function parseColor(text: string): Color {
  const byte = (at: number): number => Number.parseInt(text.slice(at, at + 2), 16);
  return { red: byte(1), green: byte(3), blue: byte(5), alpha: text.length > 7 ? byte(7) : 255 };
}

/** The opacity of the default preset's bar. */
export const BAR_ALPHA: number = must(lookOf().background, 'the background of a bar').alpha / 255;

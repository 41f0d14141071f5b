// Warnings about renders that succeed. Codes are documented, and more may be added.

import type { Overlay } from '../caption/overlay.ts';
import { areShownTogether, isTimed, type ShownTimes } from '../caption/timing-field.ts';
import { highlightOf } from '../caption/style.ts';
import type { Bar, Layout } from '../layout/layout.ts';
import { isLowContrast } from '../layout/look.ts';
import { must } from '../../shared/must.ts';
import { scaleFor, style } from '../layout/style.ts';
import type { RenderRecipe } from './compose.ts';

/** Warnings about captions, known before anything is drawn. `strict` turns these into an error. */
export const LAYOUT_WARNINGS = [
  'missing_glyphs',
  'text_shrunk',
  'bars_overlap',
  'never_shown',
  'timing_ignored',
  'safe_area_moved',
  'low_contrast',
  'no_bold',
  'font_fallback',
  'word_times_estimated',
  'text_too_small',
  'logo_moved',
] as const;
/** Warnings about the asset. */
export const MEDIA_WARNINGS = ['audio_dropped', 'hdr_tonemapped', 'frames_dropped', 'upscaled'] as const;

/** Warnings about a transcript, which the server knows and not a worker. */
export const SPEECH_WARNINGS = ['sample_transcript', 'speech_uncertain', 'language_differs', 'words_cut'] as const;

/** Warnings that `strict` accepts, because requests with it succeeded before these existed. */
const ACCEPTED_BY_STRICT: ReadonlySet<RenderWarning> = new Set(['text_too_small']);

/** Text below this size is hard to read, in pixels. */
const READABLE_FONT_SIZE = 8;

export function strictWarnings(warnings: readonly RenderWarning[]): RenderWarning[] {
  return warnings.filter((warning) => !ACCEPTED_BY_STRICT.has(warning));
}

export type LayoutWarning = (typeof LAYOUT_WARNINGS)[number];
export type MediaWarning = (typeof MEDIA_WARNINGS)[number];
type SpeechWarning = (typeof SPEECH_WARNINGS)[number];
export type RenderWarning = LayoutWarning | MediaWarning | SpeechWarning;

/** Facts about a caption that only the fonts know. */
export interface FontFacts {
  /** The number of characters that no font supports. */
  readonly missingGlyphs: number;
  /** True if the caption should be bold and has letters without a bold font. */
  readonly lacksBold: boolean;
  /** True if the style names a font that lacks characters of the caption. */
  readonly needsFallback: boolean;
}

/** Returns one list per bar. `times` is when each bar is shown. */
export function layoutWarnings(
  { canvas, bars }: Layout,
  fontFacts: readonly FontFacts[],
  times: readonly ShownTimes[],
): LayoutWarning[][] {
  return bars.map((bar, index) => {
    const warnings: LayoutWarning[] = [];
    const facts = fontFacts[index];
    if (facts && facts.missingGlyphs > 0) warnings.push('missing_glyphs');
    // A caption that is a little smaller to keep a long word whole looks as intended.
    const leastSize = style.leastUncutSize * scaleFor(canvas, bar.look).fontSize;
    if (bar.fontSize < leastSize) warnings.push('text_shrunk');
    const isTogether = (other: number): boolean =>
      areShownTogether(must(times[index], 'the times of the bar'), must(times[other], 'the times of the other bar'));
    const isCovered = (other: Bar, at: number): boolean => other !== bar && isOverlapping(bar, other) && isTogether(at);
    if (bars.some(isCovered)) warnings.push('bars_overlap');
    if (bar.isMoved) warnings.push('safe_area_moved');
    if (isLowContrast(bar.look)) warnings.push('low_contrast');
    if (facts?.lacksBold === true) warnings.push('no_bold');
    if (facts?.needsFallback === true) warnings.push('font_fallback');
    if (bar.fontSize < READABLE_FONT_SIZE) warnings.push('text_too_small');
    return warnings;
  });
}

/** About the times of a page of an overlay. `lastFrame` is undefined for still images. */
export function timingWarnings(overlay: Overlay, page: Overlay, lastFrame: number | undefined): LayoutWarning[] {
  const isHighlighted = highlightOf(overlay.style).mode !== 'none';
  const warnings: LayoutWarning[] = [];
  const isIgnored = (isTimed(overlay) && lastFrame === undefined) || (isHighlighted && overlay.isCue !== true);
  if (isIgnored) warnings.push('timing_ignored');
  if (lastFrame !== undefined && isTimed(page)) {
    const lastMilliseconds = Math.round(lastFrame * 1_000);
    if ((page.start ?? 0) > lastMilliseconds / 1_000) warnings.push('never_shown');
  }
  const areWordsNeeded = isHighlighted || overlay.paging !== undefined;
  if (overlay.isEstimated === true && areWordsNeeded) warnings.push('word_times_estimated');
  return warnings;
}

/** Returns the warnings that follow from the recipe alone. */
export function mediaWarnings(recipe: RenderRecipe): readonly MediaWarning[] {
  const warnings: MediaWarning[] = [];
  const isVideo = recipe.kind === 'video' || recipe.kind === 'cover';
  if (isVideo && recipe.video.tags.transfer !== 'sdr') warnings.push('hdr_tonemapped');
  if (recipe.kind === 'video') {
    if (recipe.isAudioDropped === true) warnings.push('audio_dropped');
    if (recipe.frameStep > 1) warnings.push('frames_dropped');
  }
  if (recipe.kind === 'image' && recipe.decode.color?.from === 'encoding') {
    const { transfer } = recipe.decode.color.encoding;
    if (transfer === 'pq' || transfer === 'hlg') warnings.push('hdr_tonemapped');
  }
  if (recipe.isUpscaled) warnings.push('upscaled');
  return warnings;
}

/** Returns each warning once, in the documented order. */
export function uniqueWarnings<Warning extends RenderWarning>(warnings: readonly Warning[]): Warning[] {
  const order: readonly RenderWarning[] = [...LAYOUT_WARNINGS, ...MEDIA_WARNINGS, ...SPEECH_WARNINGS];
  return [...new Set(warnings)].toSorted((a, b) => order.indexOf(a) - order.indexOf(b));
}

function isOverlapping(a: Bar, b: Bar): boolean {
  const isSameRows = a.top < b.top + b.height && b.top < a.top + a.height;
  return isSameRows && a.left < b.right && b.left < a.right;
}

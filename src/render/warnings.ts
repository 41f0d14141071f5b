// What a render wants its caller to know although it succeeds. Codes are documented, and more may be added.

import type { Bar, Layout } from '../layout/layout.ts';
import { scaleFor } from '../layout/style.ts';
import type { Recipe } from './compose.ts';

/** About captions, known before anything is drawn. `strict` turns these into an error. */
export const LAYOUT_WARNINGS = ['missing_glyphs', 'text_shrunk', 'bars_overlap'] as const;
/** About the asset. */
export const MEDIA_WARNINGS = ['audio_dropped', 'hdr_tonemapped', 'frames_dropped'] as const;

export type LayoutWarning = (typeof LAYOUT_WARNINGS)[number];
export type MediaWarning = (typeof MEDIA_WARNINGS)[number];
export type RenderWarning = LayoutWarning | MediaWarning;

/** One list per bar. `missingGlyphs` is the number of missing characters of each bar. */
export function layoutWarnings({ canvas, bars }: Layout, missingGlyphs: readonly number[]): LayoutWarning[][] {
  const { fontSize } = scaleFor(canvas);
  return bars.map((bar, index) => {
    const warnings: LayoutWarning[] = [];
    if ((missingGlyphs[index] ?? 0) > 0) warnings.push('missing_glyphs');
    if (bar.fontSize < fontSize) warnings.push('text_shrunk');
    if (bars.some((other) => other !== bar && isOverlapping(bar, other))) warnings.push('bars_overlap');
    return warnings;
  });
}

/** Follows from the recipe alone. */
export function mediaWarnings(recipe: Recipe): readonly MediaWarning[] {
  const warnings: MediaWarning[] = [];
  if (recipe.kind === 'video') {
    if (recipe.isAudioDropped === true) warnings.push('audio_dropped');
    if (recipe.video.tags.transfer !== 'sdr') warnings.push('hdr_tonemapped');
    if (recipe.frameStep > 1) warnings.push('frames_dropped');
  }
  if (recipe.kind === 'image' && recipe.decode.color?.from === 'encoding') {
    const { transfer } = recipe.decode.color.encoding;
    if (transfer === 'pq' || transfer === 'hlg') warnings.push('hdr_tonemapped');
  }
  return warnings;
}

/** Each warning once, in the documented order. */
export function uniqueWarnings<Warning extends RenderWarning>(warnings: readonly Warning[]): Warning[] {
  const order: readonly RenderWarning[] = [...LAYOUT_WARNINGS, ...MEDIA_WARNINGS];
  return [...new Set(warnings)].toSorted((a, b) => order.indexOf(a) - order.indexOf(b));
}

function isOverlapping(a: Bar, b: Bar): boolean {
  return a.top < b.top + b.height && b.top < a.top + a.height;
}

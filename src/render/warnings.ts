// What a render does to the media of a caller that they may want to know. Follows from the recipe alone.

import type { Recipe } from './compose.ts';

export type MediaWarning = 'audio_dropped' | 'frames_dropped' | 'hdr_tonemapped';

export function mediaWarnings(recipe: Recipe): readonly MediaWarning[] {
  const warnings: MediaWarning[] = [];
  if (recipe.kind === 'video') {
    if (recipe.isAudioDropped === true) warnings.push('audio_dropped');
    if (recipe.frameStep > 1) warnings.push('frames_dropped');
    if (recipe.video.tags.transfer !== 'sdr') warnings.push('hdr_tonemapped');
  }
  if (recipe.kind === 'image' && recipe.decode.color?.from === 'encoding') {
    const { transfer } = recipe.decode.color.encoding;
    if (transfer === 'pq' || transfer === 'hlg') warnings.push('hdr_tonemapped');
  }
  return warnings;
}

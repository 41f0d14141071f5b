import { BYTES_PER_SAMPLE, SPEECH_RATE, WAV_HEADER_BYTES } from '../../../../engine/media/video/sound/wav-format.ts';
import { MAX_STORED_FONT_BYTES } from '../../../../engine/media/font/font-limits.ts';
import type { Recipe } from '../../../../engine/render/compose.ts';

/** The slack for headers, and for compression that makes noise larger. */
const SLACK_BYTES = 1_000_000;

/**
 * Returns the largest output to accept for a recipe. The recipe of a video comes from a worker's probe, which may be
 * false, so the operator's limit applies to every output.
 */
export function maxOutputBytes(recipe: Recipe, limit: number): number {
  return Math.min(limit, expectedBytes(recipe) + SLACK_BYTES);
}

function expectedBytes(recipe: Recipe): number {
  switch (recipe.kind) {
    case 'layout':
      return 0;
    case 'font':
      return MAX_STORED_FONT_BYTES;
    case 'sound':
      return WAV_HEADER_BYTES + Math.ceil(recipe.seconds * SPEECH_RATE) * BYTES_PER_SAMPLE;
    case 'transparent':
    case 'cover':
      return recipe.canvas.width * recipe.canvas.height * 4;
    case 'image':
      return recipe.decode.maxPixels * 4;
    case 'clip':
      return recipe.canvas.width * recipe.canvas.height * recipe.frames * 4;
    case 'video':
      return recipe.bounds.bytes;
  }
}

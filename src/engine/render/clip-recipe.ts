// Composes the recipe of a transparent video: only the captions, over time.

import { type CaptionClip, formatFor, type RequestedOutput } from '../caption/format-field.ts';
import type { Overlay } from '../caption/overlay.ts';
import { AppError } from '../../shared/errors.ts';
import type { Size } from '../layout/geometry.ts';
import { assertMaxSide } from '../media/video/dimensions.ts';
import type { RecipeOf } from './recipe-schema.ts';
import type { VideoLimits } from './video-recipe.ts';

export type ClipRecipe = RecipeOf<'clip'>;

/** ProRes has about this many bytes per pixel where there is text, and every frame is stored. */
const MOV_BYTES_PER_PIXEL = 0.5;
/** The other formats store a frame only where something changes. */
const BYTES_PER_PIXEL = 0.05;

export function composeClipRecipe(
  canvas: Size,
  overlays: readonly Overlay[],
  limits: VideoLimits,
  requested: RequestedOutput & { readonly clip: CaptionClip },
): ClipRecipe {
  const { seconds, fps } = requested.clip;
  const format = formatFor('clip', requested);
  assertMaxSide(limits.videoSide, canvas);
  assertAtMost('asset_too_long', seconds, limits.videoSeconds, 'seconds long');
  assertAtMost('asset_frame_rate_too_high', fps, limits.videoFps, 'frames per second fast');
  const frames = Math.max(1, Math.round(seconds * fps));
  const pixels = canvas.width * canvas.height * frames;
  const estimated = Math.round(pixels * (format === 'mov' ? MOV_BYTES_PER_PIXEL : BYTES_PER_PIXEL));
  assertAtMost('asset_too_heavy', estimated, limits.outputBytes ?? Infinity, 'bytes large, as estimated,');
  return {
    kind: 'clip',
    canvas,
    overlays,
    lastFrame: (frames - 1) / fps,
    durationSeconds: frames / fps,
    fps,
    frames,
    output: { format },
  };
}

function assertAtMost(
  code: 'asset_too_long' | 'asset_frame_rate_too_high' | 'asset_too_heavy',
  actual: number,
  limit: number,
  unit: string,
): void {
  if (actual <= limit) return;
  const detail = `The video would be ${actual} ${unit}; the limit is ${limit}. Make it shorter, smaller or slower.`;
  throw new AppError(code, detail, { limit: { limit, actual } });
}

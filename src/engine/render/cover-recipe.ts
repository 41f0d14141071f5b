// Composes the recipe of a cover: one frame of a video as an image.

import type { RequestedOutput } from '../caption/format-field.ts';
import type { Overlay } from '../caption/overlay.ts';
import { AppError } from '../../shared/errors.ts';
import type { VideoProbe } from '../media/probe-schema.ts';
import { assertEncodable, imageOutput } from './image-output.ts';
import type { RecipeOf } from './recipe-schema.ts';
import { composeVideoRecipe, type VideoLimits } from './video-recipe.ts';

export type CoverRecipe = RecipeOf<'cover'>;

/** The limits are those of a render of the whole video. */
export function composeCoverRecipe(
  probe: VideoProbe,
  overlays: readonly Overlay[],
  limits: VideoLimits,
  requested: RequestedOutput & { readonly at: number },
): CoverRecipe {
  const { canvas, lastFrame, soundLead, format, video, steps, fit, source, isUpscaled, bounds } = composeVideoRecipe(
    probe,
    overlays,
    limits,
    requested,
  );
  const { at } = requested;
  assertWithin(at, video.end - video.start);
  const output = imageOutput(requested, { isScaled: true, isConverted: true });
  assertEncodable(canvas, output);
  return {
    kind: 'cover',
    canvas,
    overlays,
    lastFrame,
    format,
    video,
    steps,
    bounds,
    ...(soundLead !== undefined && { soundLead }),
    ...(fit && { fit }),
    ...(source && { source }),
    ...(isUpscaled && { isUpscaled }),
    shownAt: Math.round(at * 1_000),
    decodedSeconds: decodedSeconds(probe, at),
    output,
  };
}

export function assertWithin(at: number, seconds: number): void {
  if (at <= seconds) return;
  const length = Math.floor(seconds * 1_000) / 1_000;
  throw new AppError(
    'at_out_of_range',
    `The video is ${length} seconds long; at is ${at}. Use a time before its end.`,
    {
      limit: { limit: length, actual: at },
    },
  );
}

function decodedSeconds({ keyframes }: VideoProbe, at: number): number {
  return at - (keyframes.findLast((time) => time <= at) ?? 0);
}

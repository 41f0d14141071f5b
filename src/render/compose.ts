// From what was asked, what was sent and what is allowed, to the recipe of a render.

import type { Overlay } from '../caption/overlay.ts';
import type { Size } from '../layout/geometry.ts';
import type { ImageProbe } from '../media/image.ts';
import type { VideoProbe } from '../media/video/probe/probe.ts';
import {
  composeImageRecipe,
  composeTransparentRecipe,
  type ImageLimits,
  type ImageRecipe,
  type TransparentRecipe,
} from './recipe.ts';
import { composeVideoRecipe, type VideoLimits, type VideoRecipe } from './video-recipe.ts';

export type AssetProbe = ImageProbe | VideoProbe;
export type AssetLimits = ImageLimits & VideoLimits;
export type Recipe = TransparentRecipe | ImageRecipe | VideoRecipe;

/** What the captions go on: an asset, or an empty canvas. */
export type BaseLayer = AssetProbe | ({ readonly kind: 'canvas' } & Size);

export interface ComposeOptions {
  readonly watermark?: boolean;
}

export function composeRecipe(
  ground: BaseLayer,
  overlays: readonly Overlay[],
  limits: AssetLimits,
  { watermark = false }: ComposeOptions = {},
): Recipe {
  return marked(composeUnmarked(ground, overlays, limits), watermark);
}

/** An image that nobody has looked at yet: all of its recipe but what the probe will say. Plain JSON, like a recipe. */
export interface ImageDraft {
  readonly overlays: readonly Overlay[];
  readonly limits: AssetLimits;
  readonly watermark: boolean;
}

export function completeDraft({ overlays, limits, watermark }: ImageDraft, probe: ImageProbe): ImageRecipe {
  return marked(composeImageRecipe(probe, overlays, limits), watermark);
}

export const IMAGE_CREDITS = 1;

/** An image or an overlay costs one; a video by its length. */
export function creditsOf(recipe: Recipe): number {
  return recipe.kind === 'video' ? recipe.credits : IMAGE_CREDITS;
}

function marked<Of extends Recipe>(recipe: Of, watermark: boolean): Of {
  return watermark ? { ...recipe, watermark } : recipe;
}

function composeUnmarked(ground: BaseLayer, overlays: readonly Overlay[], limits: AssetLimits): Recipe {
  switch (ground.kind) {
    case 'canvas':
      return composeTransparentRecipe({ width: ground.width, height: ground.height }, overlays);
    case 'image':
      return composeImageRecipe(ground, overlays, limits);
    case 'video':
      return composeVideoRecipe(ground, overlays, limits);
  }
}

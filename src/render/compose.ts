// Composes the recipe of a render from the overlays, the probe of the asset and the limits of the caller.

import type { Overlay } from '../caption/overlay.ts';
import type { Size } from '../layout/geometry.ts';
import type { ImageProbe } from '../media/image.ts';
import type { AssetKind } from '../media/sniff.ts';
import type { VideoProbe } from '../media/video/probe/probe.ts';
import {
  composeImageRecipe,
  composeTransparentRecipe,
  type ImageLimits,
  type ImageRecipe,
  type LayoutRecipe,
  type TransparentRecipe,
} from './recipe.ts';
import { composeVideoRecipe, type VideoLimits, type VideoRecipe } from './video-recipe.ts';

export type AssetProbe = ImageProbe | VideoProbe;
export type AssetLimits = ImageLimits & VideoLimits;
export type Recipe = TransparentRecipe | LayoutRecipe | ImageRecipe | VideoRecipe;

/** What the captions are drawn on: an asset or an empty canvas. */
export type BaseLayer = AssetProbe | ({ readonly kind: 'canvas' } & Size);

/** The kind of workers that execute the recipe. */
export function workerKindOf({ kind }: Pick<Recipe, 'kind'>): AssetKind {
  return kind === 'video' ? 'video' : 'image';
}

export interface ComposeOptions {
  readonly watermark?: boolean;
  /** An image with a longer side is scaled down to it. */
  readonly maxSide?: number;
}

export function composeRecipe(
  base: BaseLayer,
  overlays: readonly Overlay[],
  limits: AssetLimits,
  { watermark = false, maxSide }: ComposeOptions = {},
): Recipe {
  const recipe = composeFor(base, overlays, limits, maxSide);
  return watermark ? { ...recipe, watermark } : recipe;
}

function composeFor(
  base: BaseLayer,
  overlays: readonly Overlay[],
  limits: AssetLimits,
  maxSide: number | undefined,
): Recipe {
  switch (base.kind) {
    case 'canvas':
      return composeTransparentRecipe({ width: base.width, height: base.height }, overlays);
    case 'image':
      return composeImageRecipe(base, overlays, limits, maxSide);
    case 'video':
      return composeVideoRecipe(base, overlays, limits);
  }
}

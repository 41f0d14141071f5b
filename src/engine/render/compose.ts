// Composes the recipe of a render from the overlays, the probe of the asset and the limits of the caller.

import type { RequestedOutput } from '../caption/format-field.ts';
import type { OutputFormat } from '../caption/output-format.ts';
import type { Overlay } from '../caption/overlay.ts';
import type { RecipeLogo } from './logo.ts';
import type { Size } from '../layout/geometry.ts';
import type { ImageProbe, VideoProbe } from '../media/probe-schema.ts';
import type { AssetKind } from '../media/sniff.ts';
import { composeImageRecipe, composeTransparentRecipe, type ImageComposeOptions, type ImageLimits } from './recipe.ts';
import { composeClipRecipe } from './clip-recipe.ts';
import { composeCoverRecipe } from './cover-recipe.ts';
import type { Recipe, RecipeOf } from './recipe-schema.ts';
import { composeVideoRecipe, type VideoLimits } from './video-recipe.ts';

export type { Recipe } from './recipe-schema.ts';

export type AssetProbe = ImageProbe | VideoProbe;
export type AssetLimits = ImageLimits & VideoLimits;
/** A recipe that produces a file. */
export type RenderRecipe = RecipeOf<'transparent' | 'image' | 'video' | 'cover' | 'clip'>;

/** The base that captions are drawn on: an asset or an empty canvas. */
export type BaseLayer = AssetProbe | ({ readonly kind: 'canvas' } & Size);

/** The recipes that need the libraries for videos. */
const VIDEO_KINDS: ReadonlySet<Recipe['kind']> = new Set(['video', 'cover', 'clip', 'sound']);

/** Returns the kind of workers that execute the recipe. */
export function workerKindOf(recipe: Recipe): AssetKind {
  const needsVideoDecoders = recipe.kind === 'image' && recipe.decode.decoder !== undefined;
  return VIDEO_KINDS.has(recipe.kind) || needsVideoDecoders ? 'video' : 'image';
}

/** Returns the format of the file that the recipe produces. */
export function outputFormatOf(recipe: RenderRecipe): OutputFormat {
  return recipe.kind === 'video' ? 'mp4' : recipe.output.format;
}

export interface ComposeOptions extends ImageComposeOptions {
  readonly watermark?: boolean;
  readonly logo?: RecipeLogo | undefined;
}

export function composeRecipe(
  base: BaseLayer,
  overlays: readonly Overlay[],
  limits: AssetLimits,
  { watermark = false, logo, ...options }: ComposeOptions = {},
): RenderRecipe {
  const recipe = composeFor(base, overlays, limits, options);
  return { ...recipe, ...(watermark && { watermark }), ...(logo && { logo }) };
}

function composeFor(
  base: BaseLayer,
  overlays: readonly Overlay[],
  limits: AssetLimits,
  options: ImageComposeOptions,
): RenderRecipe {
  switch (base.kind) {
    case 'canvas':
      return composeForCanvas({ width: base.width, height: base.height }, overlays, limits, options.output);
    case 'image':
      return composeImageRecipe(base, overlays, limits, options);
    case 'video':
      return composeForVideo(base, overlays, limits, options.output);
  }
}

function composeForVideo(
  probe: VideoProbe,
  overlays: readonly Overlay[],
  limits: VideoLimits,
  output: RequestedOutput = {},
): RecipeOf<'video' | 'cover'> {
  const { at } = output;
  if (at === undefined) return composeVideoRecipe(probe, overlays, limits, output);
  return composeCoverRecipe(probe, overlays, limits, { ...output, at });
}

function composeForCanvas(
  canvas: Size,
  overlays: readonly Overlay[],
  limits: VideoLimits,
  output: RequestedOutput = {},
): RecipeOf<'transparent' | 'clip'> {
  const { clip } = output;
  if (clip === undefined) return composeTransparentRecipe(canvas, overlays, output);
  return composeClipRecipe(canvas, overlays, limits, { ...output, clip });
}

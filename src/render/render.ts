// The use case. Knows nothing of HTTP, stores or settings: a recipe and an asset in, a file's bytes and its facts out.

import { setImmediate } from 'node:timers/promises';
import type { Rows } from '../layout/placement.ts';
import { decodeImage } from '../media/image.ts';
import { bakeBands } from '../raster/blend.ts';
import { encodePng } from '../raster/png/opaque.ts';
import { writeTransparentPng } from '../raster/png/transparent.ts';
import { drawBands } from './bands.ts';
import type { ImageRecipe, TransparentRecipe } from './recipe.ts';
import type { RenderTools } from './renderer-tools.ts';
import { Stopwatch, type Timings } from './timing.ts';

export interface RenderFacts {
  readonly width: number;
  readonly height: number;
  /** The rows of each bar, in the order of the overlays. */
  readonly bars: readonly Rows[];
  readonly missingGlyphs: number;
  readonly timings: Timings;
}

export interface Rendered extends RenderFacts {
  readonly bytes: Buffer;
}

export async function renderTransparent(recipe: TransparentRecipe, tools: RenderTools): Promise<Rendered> {
  const watch = new Stopwatch();
  const { bands, bars, missingGlyphs } = await drawBands(recipe, tools, watch);
  // Nothing else here waits, and Skia's memory goes back in finalizers, which run between turns of the loop: without one,
  // overlays rendered in a row each pay for fresh memory.
  await setImmediate();
  const bytes = await watch.step('encode', () => writeTransparentPng(recipe.canvas, bands, tools.zeros));
  return { bytes, ...recipe.canvas, bars, missingGlyphs, timings: watch.timings };
}

export async function renderOnImage(
  recipe: ImageRecipe,
  asset: Uint8Array,
  tools: RenderTools,
  signal?: AbortSignal,
): Promise<Rendered> {
  const watch = new Stopwatch();
  // The decoder works on a thread of its own; meanwhile this one draws for the size the header states.
  const [image, expected] = await Promise.all([
    watch.step('decode', () => decodeImage(asset, recipe.decode)),
    drawBands(recipe, tools, watch),
  ]);
  // The decoded size decides: a header may say one thing and the pixels another.
  const canvas = { width: image.width, height: image.height };
  const isAsStated = canvas.width === recipe.canvas.width && canvas.height === recipe.canvas.height;
  const { bands, bars, missingGlyphs } = isAsStated ? expected : await drawBands({ ...recipe, canvas }, tools, watch);
  signal?.throwIfAborted();
  await watch.step('blend', () => bakeBands(image, bands));
  const bytes = await watch.step('encode', () => encodePng(image, signal));
  return { bytes, ...canvas, bars, missingGlyphs, timings: watch.timings };
}

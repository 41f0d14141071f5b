// Renders the cover of a video: one frame as an image, with the captions that it shows.

import { decodeFrameAt } from '../media/video/cover.ts';
import { bakeBands } from '../raster/blend.ts';
import { strokeImage } from '../raster/strokes.ts';
import { drawBands } from './bands.ts';
import type { CoverRecipe } from './cover-recipe.ts';
import { encodeImage } from './encode.ts';
import type { Rendered } from './render.ts';
import type { RenderTools } from './renderer-tools.ts';
import { Stopwatch } from './timing.ts';

export async function renderCover(
  recipe: CoverRecipe,
  assetPath: string,
  tools: RenderTools,
  signal?: AbortSignal,
): Promise<Rendered> {
  const stopwatch = new Stopwatch();
  const image = await stopwatch.step('decode', () => decodeFrameAt(recipe, assetPath, recipe.shownAt, signal));
  const { bands, strokes, drawnBars: _, ...facts } = await drawBands(recipe, tools, stopwatch);
  signal?.throwIfAborted();
  await stopwatch.step('blend', () => {
    bakeBands(image, bands);
    if (strokes) strokeImage(strokes, image);
  });
  const asset = new Uint8Array();
  const encoded = await stopwatch.step('encode', () => encodeImage(image, recipe.output, { asset, signal }));
  return { ...encoded, ...recipe.canvas, ...facts, timings: stopwatch.timings };
}

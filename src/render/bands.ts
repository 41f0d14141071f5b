import { layoutOverlays } from '../layout/layout.ts';
import type { Rows } from '../layout/placement.ts';
import type { Band } from '../raster/band.ts';
import { compositeWatermark } from '../raster/watermark.ts';
import type { RecipeBase } from './recipe.ts';
import type { RenderTools } from './renderer-tools.ts';
import type { Stopwatch } from './timing.ts';

export interface DrawnBands {
  readonly bands: readonly Band[];
  /** The rows of each bar, in the order of the overlays. */
  readonly bars: readonly Rows[];
  /** The number of characters that no font supports. */
  readonly missingGlyphs: number;
}

/** Lays out and draws the overlays. The result is the same for images, videos and transparent PNGs. */
export async function drawBands(
  recipe: Pick<RecipeBase, 'canvas' | 'overlays' | 'watermark'>,
  tools: RenderTools,
  stopwatch: Stopwatch,
): Promise<DrawnBands> {
  const overlays = recipe.overlays.map(({ text, ...overlay }) => ({ ...overlay, ...tools.text.drawable(text) }));
  const layout = await stopwatch.step('layout', () =>
    layoutOverlays(overlays, recipe.canvas, (caption, lang) => tools.text.measurerFor(caption, lang)),
  );
  const bands = await stopwatch.step('draw', () => {
    const drawn = tools.text.draw(layout);
    return recipe.watermark ? compositeWatermark(drawn, tools.text.drawWatermark(recipe.canvas)) : drawn;
  });
  const bars = layout.bars.map(({ top, height }) => ({ top, height }));
  return { bands, bars, missingGlyphs: overlays.reduce((sum, { missingGlyphs }) => sum + missingGlyphs, 0) };
}

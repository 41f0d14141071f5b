import { layoutOverlays } from '../layout/layout.ts';
import type { Rows } from '../layout/placement.ts';
import type { Band } from '../raster/band.ts';
import { compositeWatermark } from '../raster/watermark.ts';
import type { RecipeBase } from './recipe.ts';
import type { RenderTools } from './renderer-tools.ts';
import type { Stopwatch } from './timing.ts';

export interface DrawnBands {
  readonly bands: readonly Band[];
  /** Where each overlay's bar is, in the order of the overlays. */
  readonly bars: readonly Rows[];
  /** Characters of the captions that no font can draw. */
  readonly missingGlyphs: number;
}

/** The overlay's pixels: the same for every kind of output. */
export async function drawBands(
  recipe: Pick<RecipeBase, 'canvas' | 'overlays' | 'watermark'>,
  tools: RenderTools,
  watch: Stopwatch,
): Promise<DrawnBands> {
  const drawable = recipe.overlays.map(({ text }) => tools.text.drawable(text));
  const overlays = recipe.overlays.map(({ position }, index) => ({ position, text: drawable[index]?.text ?? '' }));
  const layout = await watch.step('layout', () =>
    layoutOverlays(overlays, recipe.canvas, (caption) => tools.text.measurerFor(caption)),
  );
  const bands = await watch.step('draw', () => {
    const drawn = tools.text.draw(layout);
    return recipe.watermark ? compositeWatermark(drawn, tools.text.drawWatermark(recipe.canvas)) : drawn;
  });
  const bars = layout.bars.map(({ top, height }) => ({ top, height }));
  return { bands, bars, missingGlyphs: drawable.reduce((sum, { missingGlyphs }) => sum + missingGlyphs, 0) };
}

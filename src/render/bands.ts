import { layoutOverlays } from '../layout/layout.ts';
import type { Band } from '../raster/band.ts';
import type { RecipeBase } from './recipe.ts';
import type { RenderTools } from './renderer-tools.ts';
import type { Stopwatch } from './timing.ts';

export interface DrawnBands {
  readonly bands: readonly Band[];
  /** Characters of the captions that no font can draw. */
  readonly missingGlyphs: number;
}

/** The overlay's pixels: the same for every kind of output. */
export async function drawBands(
  recipe: Pick<RecipeBase, 'canvas' | 'overlays'>,
  tools: RenderTools,
  watch: Stopwatch,
): Promise<DrawnBands> {
  const layout = await watch.step('layout', () =>
    layoutOverlays(recipe.overlays, recipe.canvas, (caption) => tools.text.measurerFor(caption)),
  );
  const bands = await watch.step('draw', () => tools.text.draw(layout));
  const missing = recipe.overlays.map(({ text }) => tools.text.fontsFor(text).missingGlyphs);
  return { bands, missingGlyphs: missing.reduce((sum, count) => sum + count, 0) };
}

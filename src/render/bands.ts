import { type Layout, layoutOverlays } from '../layout/layout.ts';
import type { Rows } from '../layout/placement.ts';
import type { Band } from '../raster/band.ts';
import { compositeWatermark } from '../raster/watermark.ts';
import type { RecipeBase } from './recipe.ts';
import type { RenderTools } from './renderer-tools.ts';
import type { Stopwatch } from './timing.ts';
import { type LayoutWarning, layoutWarnings, uniqueWarnings } from './warnings.ts';

interface LayoutFacts {
  /** The rows of each bar, in the order of the overlays. */
  readonly bars: readonly Rows[];
  /** The number of characters that no font supports. */
  readonly missingGlyphs: number;
  readonly warnings: readonly LayoutWarning[];
}

export interface DrawnBands extends LayoutFacts {
  readonly bands: readonly Band[];
}

interface LaidOut extends LayoutFacts {
  readonly layout: Layout;
  /** One list per bar. */
  readonly warningsOfBars: readonly (readonly LayoutWarning[])[];
}

type Drawing = Pick<RecipeBase, 'canvas' | 'overlays' | 'watermark'>;

/** Decides where everything goes. Rendering and the layout endpoint both start here, so they agree. */
export async function layOut(recipe: Drawing, tools: RenderTools, stopwatch: Stopwatch): Promise<LaidOut> {
  const overlays = recipe.overlays.map(({ text, ...overlay }) => ({ ...overlay, ...tools.text.drawable(text) }));
  const layout = await stopwatch.step('layout', () =>
    layoutOverlays(overlays, recipe.canvas, (caption, lang) => tools.text.measurerFor(caption, lang)),
  );
  const missing = overlays.map(({ missingGlyphs }) => missingGlyphs);
  const warningsOfBars = layoutWarnings(layout, missing);
  return {
    layout,
    bars: layout.bars.map(({ top, height }) => ({ top, height })),
    missingGlyphs: missing.reduce((sum, count) => sum + count, 0),
    warnings: uniqueWarnings(warningsOfBars.flat()),
    warningsOfBars,
  };
}

/** Lays out and draws the overlays. The result is the same for images, videos and transparent PNGs. */
export async function drawBands(recipe: Drawing, tools: RenderTools, stopwatch: Stopwatch): Promise<DrawnBands> {
  const { layout, bars, missingGlyphs, warnings } = await layOut(recipe, tools, stopwatch);
  const bands = await stopwatch.step('draw', () => {
    const drawn = tools.text.draw(layout);
    return recipe.watermark ? compositeWatermark(drawn, tools.text.drawWatermark(recipe.canvas)) : drawn;
  });
  return { bands, bars, missingGlyphs, warnings };
}

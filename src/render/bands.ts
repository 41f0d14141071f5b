import { setImmediate } from 'node:timers/promises';
import type { Overlay } from '../caption/overlay.ts';
import { isShownAt, withoutTimes } from '../caption/timing-field.ts';
import { type Layout, layoutOverlays } from '../layout/layout.ts';
import type { Rows } from '../layout/placement.ts';
import { type Strokes, strokesFor, strokesOn } from '../layout/watermark.ts';
import type { Band } from '../raster/band.ts';
import { must } from '../primitives/must.ts';
import { strokeBar } from '../raster/strokes.ts';
import { compositeWatermark } from '../raster/watermark.ts';
import type { RecipeBase, TransparentRecipe } from './recipe.ts';
import type { RenderTools } from './renderer-tools.ts';
import type { Stopwatch } from './timing.ts';
import { type LayoutWarning, layoutWarnings, timingWarnings, uniqueWarnings } from './warnings.ts';

interface LayoutFacts {
  /** The rows of each bar, in the order of the overlays. */
  readonly bars: readonly Rows[];
  /** The number of characters that no font supports. */
  readonly missingGlyphs: number;
  readonly warnings: readonly LayoutWarning[];
}

export interface DrawnBands extends LayoutFacts {
  readonly bands: readonly Band[];
  /** The watermark outside the bands, which is drawn over everything else. */
  readonly strokes: Strokes | undefined;
}

interface LaidOut extends LayoutFacts {
  readonly layout: Layout;
  /** One list of warnings per bar. */
  readonly warningsOfBars: readonly (readonly LayoutWarning[])[];
}

type Drawing = Pick<RecipeBase, 'canvas' | 'overlays' | 'watermark' | 'lastFrame'> & Pick<TransparentRecipe, 'shownAt'>;

/** Lays out everything. Rendering and the layout endpoint both start here, so they agree. */
export async function layOut(recipe: Drawing, tools: RenderTools, stopwatch: Stopwatch): Promise<LaidOut> {
  const { lastFrame } = recipe;
  const requested: readonly Overlay[] = lastFrame === undefined ? recipe.overlays.map(withoutTimes) : recipe.overlays;
  const overlays = requested.map(({ text, ...overlay }) => ({ ...overlay, ...tools.text.drawable(text) }));
  const layout = await stopwatch.step('layout', () =>
    layoutOverlays(overlays, recipe.canvas, (caption, lang, look) => tools.text.measurerFor(caption, lang, look)),
  );
  const fontFacts = layout.bars.map(({ text, lang, look }, index) => ({
    missingGlyphs: overlays[index]?.missingGlyphs ?? 0,
    lacksBold: look.weight === 'bold' && tools.text.lacksBold(text, lang),
  }));
  const warningsOfBars = layoutWarnings(layout, fontFacts, overlays).map((warnings, index) => [
    ...warnings,
    ...timingWarnings(must(recipe.overlays[index], 'the overlay of the bar'), lastFrame),
  ]);
  return {
    layout,
    bars: layout.bars.map(({ top, height }) => ({ top, height })),
    missingGlyphs: fontFacts.reduce((sum, { missingGlyphs }) => sum + missingGlyphs, 0),
    warnings: uniqueWarnings(warningsOfBars.flat()),
    warningsOfBars,
  };
}

/** Lays out and draws the overlays. The result is the same for images, videos and transparent PNGs. */
export async function drawBands(recipe: Drawing, tools: RenderTools, stopwatch: Stopwatch): Promise<DrawnBands> {
  const { layout, bars, missingGlyphs, warnings } = await layOut(recipe, tools, stopwatch);
  const bands = await stopwatch.step('draw', async () => {
    const shown = shownOf(layout, recipe);
    const steps = tools.text.drawInSteps(shown);
    for (;;) {
      const { done, value } = steps.next();
      if (done) return withWatermark(value, shown, recipe, tools);
      await setImmediate();
    }
  });
  return { bands, strokes: recipe.watermark && strokesFor(recipe.canvas), bars, missingGlyphs, warnings };
}

/** Returns the bars that are drawn: all of them, or those of one frame of a video. */
function shownOf(layout: Layout, { overlays, shownAt }: Pick<Drawing, 'overlays' | 'shownAt'>): Layout {
  if (shownAt === undefined) return layout;
  const bars = layout.bars.filter((_bar, index) => isShownAt(must(overlays[index], 'the overlay of the bar'), shownAt));
  return { ...layout, bars };
}

export function drawLayout(layout: Layout, recipe: Pick<Drawing, 'watermark'>, tools: RenderTools): Band[] {
  return withWatermark(tools.text.draw(layout), layout, recipe, tools);
}

function withWatermark(
  bands: Band[],
  { canvas, bars }: Layout,
  { watermark }: Pick<Drawing, 'watermark'>,
  { text }: RenderTools,
): Band[] {
  if (watermark === undefined) return bands;
  const marked = compositeWatermark(bands, text.drawWatermark(canvas));
  for (const bar of bars) strokeBar(strokesOn(bar, canvas), bar, marked);
  return marked;
}

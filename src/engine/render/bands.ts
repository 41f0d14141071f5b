import { setImmediate } from 'node:timers/promises';
import type { Overlay } from '../caption/overlay.ts';
import { isShownAt, withoutTimes } from '../caption/timing-field.ts';
import { upperCase } from '../caption/upper-case.ts';
import { mapWords, pageWords, toMilliseconds } from '../caption/words/timed-words.ts';
import { type Bar, type Layout, layoutOverlays } from '../layout/layout.ts';
import type { LogoPlace } from '../layout/logo-place.ts';
import { lookOf } from '../layout/look.ts';
import type { Rows } from '../layout/placement.ts';
import { type Strokes, strokesFor } from '../layout/watermark.ts';
import { type Band, compositeBand } from '../raster/band.ts';
import { must } from '../../shared/must.ts';
import type { DrawnPages } from '../raster/text-engine.ts';
import { strokeText } from '../raster/strokes.ts';
import { litAt } from './lit-word.ts';
import { type DrawnLogo, drawLogo, logoPlaceOf, withLogo } from './logo.ts';
import type { LayoutRecipe, TransparentRecipe } from './recipe.ts';
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
  readonly drawnBars: readonly Bar[];
  /** The watermark outside the bands, which is drawn over everything else. */
  readonly strokes: Strokes | undefined;
}

interface LaidOut extends LayoutFacts {
  /** Where the logo goes, if there is one and a place for it. */
  readonly logoPlace: LogoPlace | undefined;
  readonly layout: Layout;
  /** The text of each bar before characters that no font has were replaced. */
  readonly texts: readonly string[];
  /** One list of warnings per bar. */
  readonly warningsOfBars: readonly (readonly LayoutWarning[])[];
}

type Drawing = Pick<LayoutRecipe, 'canvas' | 'overlays' | 'logo' | 'watermark' | 'lastFrame' | 'soundLead'> &
  Pick<TransparentRecipe, 'shownAt'>;

/** Lays out everything. Rendering and the layout endpoint both start here, so they agree. */
export async function layOut(recipe: Drawing, tools: RenderTools, stopwatch: Stopwatch): Promise<LaidOut> {
  const { lastFrame, soundLead = 0 } = recipe;
  const written = recipe.overlays.map((overlay) => inCase(overlay, tools));
  const overlays = written
    .map((overlay) => (lastFrame === undefined ? withoutTimes(overlay) : fromFirstFrame(overlay, soundLead)))
    .map((overlay) => withTexts(overlay, (text) => tools.text.drawable(text, fontOf(overlay)).text));
  const layout = await stopwatch.step('layout', () =>
    layoutOverlays(overlays, recipe.canvas, (caption, lang, look) => tools.text.measurerFor(caption, lang, look)),
  );
  const texts = layout.bars.map((bar) => textOf(bar, must(written[bar.source.overlay], 'the overlay of the bar')));
  const fontFacts = layout.bars.map(({ text, lang, look }, index) => ({
    missingGlyphs: tools.text.drawable(must(texts[index], 'the text of the bar'), look.font).missingGlyphs,
    lacksBold: look.isBoldRequested && tools.text.lacksBold(text, lang, look.font),
    needsFallback: tools.text.needsFallback(text, look.font),
  }));
  const pages = layout.bars.map(({ page }) => page);
  const warningsOfBars = layoutWarnings(layout, fontFacts, pages).map((warnings, index) => {
    const { page, source } = must(layout.bars[index], 'the bar');
    const overlay = must(recipe.overlays[source.overlay], 'the overlay of the bar');
    return [...warnings, ...timingWarnings(overlay, page, lastFrame)];
  });
  const logoPlace = logoPlaceOf(recipe, layout);
  const isLogoMoved = recipe.logo !== undefined && logoPlace?.isMoved !== false;
  return {
    layout,
    logoPlace,
    texts,
    bars: layout.bars.map(({ top, height }) => ({ top, height })),
    missingGlyphs: fontFacts.reduce((sum, { missingGlyphs }) => sum + missingGlyphs, 0),
    warnings: uniqueWarnings([...warningsOfBars.flat(), ...(isLogoMoved ? (['logo_moved'] as const) : [])]),
    warningsOfBars,
  };
}

function fontOf({ style }: Overlay): string | undefined {
  return lookOf(style).font;
}

/** Changes a text, or each word of one with timed words. */
function withTexts(overlay: Overlay, change: (text: string) => string): Overlay {
  const { text, words } = overlay;
  return words === undefined
    ? { ...overlay, text: change(text) }
    : { ...overlay, ...mapWords({ text, words }, change) };
}

/** In capitals, where the style wants them and the fonts have them. */
function inCase(overlay: Overlay, { text: engine }: RenderTools): Overlay {
  if (overlay.style?.case !== 'upper') return overlay;
  const missing = (text: string): number => engine.drawable(text, fontOf(overlay)).missingGlyphs;
  return withTexts(overlay, (text) => {
    const upper = upperCase(text, overlay.lang);
    return missing(upper) > missing(text) ? text : upper;
  });
}

/** Cues count from the start of the sound, if it starts before the first frame. */
function fromFirstFrame(overlay: Overlay, soundLead: number): Overlay {
  if (soundLead === 0 || overlay.isCue !== true) return overlay;
  const { start = 0, end = Number.POSITIVE_INFINITY, words, ...rest } = overlay;
  const moved = (time: number): number => toMilliseconds(time - soundLead);
  const movedWords = words?.map((word) => ({ ...word, start: moved(word.start), end: moved(word.end) }));
  return { ...rest, start: moved(start), end: moved(end), ...(movedWords && { words: movedWords }) };
}

function textOf({ page, source: { firstWord } }: Bar, { text, words }: Overlay): string {
  if (page.words === undefined || words === undefined) return text;
  return pageWords({ text, words }, firstWord, page.words.length).text;
}

/** Lays out and draws the overlays. The result is the same for images, videos and transparent PNGs. */
export async function drawBands(recipe: Drawing, tools: RenderTools, stopwatch: Stopwatch): Promise<DrawnBands> {
  const { layout, logoPlace, bars, missingGlyphs, warnings } = await layOut(recipe, tools, stopwatch);
  const bands = await stopwatch.step('draw', async () => {
    const logo = await drawLogo(recipe, logoPlace);
    const shown = shownOf(layout, recipe);
    const steps = tools.text.drawInSteps(shown);
    for (;;) {
      const { done, value } = steps.next();
      if (done) return withWatermark(withLogo(value, logo, recipe.canvas), shown, recipe, tools);
      await setImmediate();
    }
  });
  return {
    bands,
    drawnBars: shownOf(layout, recipe).bars,
    strokes: recipe.watermark && strokesFor(recipe.canvas),
    bars,
    missingGlyphs,
    warnings,
  };
}

/** Returns the bars that are drawn: all of them, or those of one frame of a video. */
function shownOf(layout: Layout, { shownAt }: Pick<Drawing, 'shownAt'>): Layout {
  if (shownAt === undefined) return layout;
  const bars = layout.bars.filter(({ page }) => isShownAt(page, shownAt)).map((bar) => litAt(bar, shownAt));
  return { ...layout, bars };
}

/** `pages` keeps what has been drawn of pages whose words stand out. `logo` is drawn already. */
export function drawLayout(
  layout: Layout,
  recipe: Pick<Drawing, 'watermark'>,
  tools: RenderTools,
  { pages, logo }: { readonly pages?: DrawnPages; readonly logo?: DrawnLogo | undefined } = {},
): Band[] {
  return withWatermark(withLogo(tools.text.draw(layout, pages), logo, layout.canvas), layout, recipe, tools);
}

function withWatermark(
  bands: Band[],
  { canvas, bars }: Layout,
  { watermark }: Pick<Drawing, 'watermark'>,
  { text }: RenderTools,
): Band[] {
  if (watermark === undefined) return bands;
  // The strokes can be in any column.
  const open = bands.map(({ ink: _ink, ...band }): Band => band);
  const marked = compositeBand(open, text.drawWatermark(canvas));
  for (const bar of bars) strokeText(bar, marked);
  return marked;
}

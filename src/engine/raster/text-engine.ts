// Measures text and draws bars with Skia. There is one engine per process. It reuses one canvas, because canvases are
// freed by finalizers, which never run while the event loop is busy.

import './own-fonts-only.ts';
import { type Canvas, createCanvas, GlobalFonts, type SKRSContext2D } from '@napi-rs/canvas';
import { graphemes } from '../caption/graphemes.ts';
import { isEmoji } from '../layout/emoji.ts';
import type { Size } from '../layout/geometry.ts';
import type { Bar, Layout } from '../layout/layout.ts';
import { type Look, OUTLINE_WIDTH } from '../layout/look.ts';
import type { Extent, LetterInk, Measurer, Run } from '../layout/measurer.ts';
import { type Band, type ColumnRange, compositeOver, wordsOf } from './band.ts';
import { BarPixels, inkedColumns, type PaintedRun, TRUE_COVERAGE_GRAY } from './bar-pixels.ts';
import { type BarGroup, groupOverlapping } from './bar-groups.ts';
import type { FontFile } from './font-files.ts';
import { type DrawableCaption, type FontChoice, FontIndex, type OwnFont } from './font-index.ts';
import { paintLabel } from './label-path.ts';
import { emojiBox, emojiRims, type EmojiRims, FaintEmoji } from './emoji-rim.ts';
import { LetterInkMeter } from './letter-ink.ts';
import { emojiRuns, paintedRuns } from './painted-runs.ts';
import { canvasHeight, MAX_CANVAS_PIXELS, type PaintedStrips, stripsOf } from './painted-strips.ts';
import { PageDrawing, type PaintedPart, type WordZoom } from './page-drawing.ts';
import { blankAt, measureRun, paintRuns, type RunFonts, scaleOf, setFont } from './run-fonts.ts';
import { type Layers, SurroundPixels } from './surround-pixels.ts';
import { patternCuts } from './syllable-patterns.ts';
import { zoomedRims, zoomTo } from './zoom.ts';
import { paintWatermark, placeWatermark, WATERMARK } from './watermark.ts';

/** Chooses the fonts of a caption. */
export type FontSource = Pick<FontIndex, 'drawable' | 'fontsFor' | 'needsFallback' | 'useOwn'>;

export class TextEngine {
  readonly #index: FontSource;
  readonly #registered = new Set<string>();
  /** By the name of the file, because weights differ. */
  readonly #scales = new Map<string, number>();
  readonly #maxCanvasPixels: number;
  readonly #inkMeter = new LetterInkMeter();
  readonly #faintEmoji = new FaintEmoji();
  #canvas: Canvas = createCanvas(1, 1);

  /** A smaller canvas needs less memory, and more time for large captions. */
  constructor(index: FontSource = new FontIndex(), maxCanvasPixels: number = MAX_CANVAS_PIXELS) {
    this.#index = index;
    this.#maxCanvasPixels = maxCanvasPixels;
  }

  /** Registers a font that was uploaded, permanently. Skia has a font once, so its name must follow from its content. */
  addOwnFont(alias: string, file: Uint8Array): void {
    if (GlobalFonts.register(Buffer.from(file), alias) === null) throw new Error(`cannot load font ${alias}`);
    this.#registered.add(alias);
  }

  /** Makes these uploaded fonts known by their ids, and no others. */
  useOwnFonts(fonts: readonly OwnFont[]): void {
    this.#index.useOwn(fonts);
  }

  drawable(caption: string, font?: string): DrawableCaption {
    return this.#index.drawable(caption, font);
  }

  /** Also registers the fonts permanently, because measuring and drawing must use the same ones. */
  #fontsFor(caption: string, lang?: string, choice?: FontChoice): RunFonts {
    const { lead, ...fonts } = this.#index.fontsFor(caption, lang, choice);
    for (const file of [...fonts.text, fonts.emoji]) this.#register(file);
    if (fonts.cjk?.marks) this.#register(fonts.cjk.marks);
    if (lead === undefined) return { ...fonts, lead };
    this.#register(lead.file);
    const scale = this.#scales.get(lead.file.alias) ?? scaleOf(this.#canvas.getContext('2d'), lead);
    this.#scales.set(lead.file.alias, scale);
    return { ...fonts, lead: { ...lead, scale } };
  }

  /** Returns the families that draw a caption, in order of preference. */
  fontFamilies(caption: string, lang?: string, font?: string): string[] {
    const { text, emoji, lead } = this.#index.fontsFor(caption, lang, { font });
    const hasEmoji = graphemes(caption).some(isEmoji);
    const leads = lead ? [lead.file] : [];
    return [...new Set([...leads, ...text, ...(hasEmoji ? [emoji] : [])].map(({ familyId }) => familyId))];
  }

  /** Returns whether a bold caption has letters that can be drawn only in regular weight. */
  lacksBold(caption: string, lang?: string, font?: string): boolean {
    return this.#index.fontsFor(caption, lang, { weight: 'bold', font }).lacksBold;
  }

  /** Returns whether some of a caption comes from other fonts than the one that its style names. */
  needsFallback(caption: string, font: string | undefined): boolean {
    return font !== undefined && this.#index.needsFallback(caption, font);
  }

  measurerFor(caption: string, lang?: string, look?: Look): Measurer {
    const fonts = this.#fontsFor(caption, lang, look);
    const isTight = look !== undefined && look.surround !== 'bar';
    const context = this.#canvas.getContext('2d');
    const cache = new Map<string, Extent>();
    const measure = (run: Run, fontSize: number): Extent => {
      const key = `${fontSize}|${run.kind}|${run.rtl}|${run.text}`;
      const extent = cache.get(key) ?? measureRun(context, fonts, run, fontSize, isTight);
      cache.set(key, extent);
      return extent;
    };
    const inks = new Map<string, LetterInk | undefined>();
    return {
      measure,
      letterInk: (runs) => {
        const key = runs.map(({ rtl, text }) => `${rtl}|${text}`).join('|');
        const ink = inks.has(key) ? inks.get(key) : this.#letterInk(fonts, runs);
        inks.set(key, ink);
        return ink;
      },
      blankAt: (side, run) => blankAt(context, fonts, side, run),
      patternCuts,
    };
  }

  #letterInk(fonts: RunFonts, runs: readonly Run[]): LetterInk | undefined {
    const context = this.#canvas.getContext('2d');
    const widthOf = (): number => runs.reduce((sum, run) => sum + measureRun(context, fonts, run, 1).width, 0);
    return this.#inkMeter.measure(runs, widthOf, (canvas, run, x, baseline, fontSize) => {
      paintRuns(canvas, [{ ...run, x, right: x, baseline }], fonts, fontSize, 'fillText');
      return measureRun(canvas, fonts, run, fontSize).width;
    });
  }

  /** Draws the bars as bands that don't overlap, from top to bottom. */
  draw(layout: Layout, pages?: DrawnPages): Band[] {
    const steps = this.drawInSteps(layout, pages);
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
    }
  }

  /**
   * Like `draw`, with a step after each part that needs much memory. Pixels read from a canvas are freed by finalizers,
   * so the event loop should turn between the steps.
   */
  *drawInSteps({ bars: all, canvas }: Layout, pages: DrawnPages = new Map()): Generator<undefined, Band[]> {
    const bands: Band[] = [];
    for (const { top, bottom, bars } of groupOverlapping(all)) {
      const [first] = bars;
      if (bars.length === 1 && first)
        bands.push({ ...rowsOf(first), ...(yield* this.#drawBar(first, canvas.width, pages)) });
      else bands.push(yield* this.#merge({ top, bottom, bars }, canvas.width, pages));
    }
    return bands;
  }

  /** Draws the watermark of a canvas as a separate band. */
  drawWatermark(canvas: Size): Band {
    const run: Run = { text: WATERMARK, kind: 'text', rtl: false };
    const fonts = this.#fontsFor(WATERMARK);
    const referenceSize = 100;
    const { width } = measureRun(this.#canvas.getContext('2d'), fonts, run, referenceSize);
    const box = placeWatermark(canvas, width / referenceSize);
    const context = this.#contextOf(canvas.width, box.height);
    context.clearRect(0, 0, canvas.width, box.height);
    setFont(context, fonts, run, box.fontSize);
    paintWatermark(context, box);
    const { data } = context.getImageData(0, 0, canvas.width, box.height);
    return { top: box.top, height: box.height, width: canvas.width, pixels: data };
  }

  *#merge({ top, bottom, bars }: BarGroup, width: number, pages: DrawnPages): Generator<undefined, Band> {
    const pixels = new Uint8ClampedArray(width * (bottom - top) * 4);
    for (const bar of bars) {
      const drawn = yield* this.#drawBar(bar, width, pages);
      compositeOver(wordsOf(pixels), (bar.top - top) * width, wordsOf(drawn.pixels));
    }
    return { top, height: bottom - top, width, pixels };
  }

  *#drawBar(bar: Bar, width: number, pages: DrawnPages): Generator<undefined, BarImage> {
    if (bar.look.highlight === undefined || bar.words.length === 0) return yield* this.#drawPlain(bar, width);
    // A page is drawn once, and then word after word is drawn over it.
    let page = pages.get(bar.lines);
    if (page === undefined) {
      const isPop = bar.look.highlight.mode === 'pop';
      const range = isPop ? { left: 0, columns: width } : inkedColumns(bar, width);
      const pixels = new SurroundPixels(bar, width, { rims: this.#rimsOf(bar), range });
      yield* this.#readLayers(bar, width, pixels);
      page = new PageDrawing(bar, width, pixels, (part) => this.#partOf(bar, width, range, part));
      pages.set(bar.lines, page);
    }
    return { width, pixels: page.at(bar.lit) };
  }

  *#drawPlain(bar: Bar, width: number): Generator<undefined, BarImage> {
    const rims = this.#rimsOf(bar);
    const isBar = bar.look.surround === 'bar';
    const pixels = isBar ? new BarPixels(bar, width, emojiRuns(bar), rims) : new SurroundPixels(bar, width, { rims });
    yield* this.#readLayers(bar, width, pixels);
    return { width, ...pixels.finish() };
  }

  /** Finds the emoji that need a rim on their bar or label. */
  #rimsOf(bar: Bar): EmojiRims | undefined {
    const { background } = bar.look;
    const runs = emojiRuns(bar);
    if (background === undefined || runs.length === 0) return undefined;
    const { fontSize } = bar;
    const fonts = this.#fontsFor(bar.text, bar.lang, bar.look);
    const isFaint = (emoji: string): boolean =>
      this.#faintEmoji.has(emoji, background, (context, text, x, baseline, size) => {
        const run = { text, kind: 'emoji', rtl: false } as const;
        paintRuns(context, [{ ...run, x, right: x, baseline }], fonts, size, 'fillText');
      });
    const context = this.#canvas.getContext('2d');
    const boxes = runs.flatMap((run) => {
      const emoji = graphemes(run.text);
      if (!emoji.some(isFaint)) return [];
      const endOf = (count: number): number =>
        measureRun(context, fonts, { ...run, text: emoji.slice(0, count).join('') }, fontSize).width;
      return emoji.flatMap((grapheme, index) => {
        const [start, end] = [endOf(index), endOf(index + 1)];
        const [left, right] = run.rtl ? [run.right - end, run.right - start] : [run.x + start, run.x + end];
        return isFaint(grapheme) ? [emojiBox(left, right, run.baseline, fontSize)] : [];
      });
    });
    return boxes.length === 0 ? undefined : emojiRims(boxes, background, fontSize);
  }

  *#readLayers(bar: Bar, width: number, pixels: BarPixels | SurroundPixels, part?: PaintedPart): Generator<undefined> {
    const { surround } = bar.look;
    const fonts = this.#fontsFor(bar.text, bar.lang, bar.look);
    const zoom = part?.zoom;
    const runs = bar.lines.filter((_, line) => part === undefined || line === part.line).flatMap(paintedRuns);
    // A label is the same, whatever becomes of its words.
    const hasShape =
      (surround === 'outline' && (part === undefined || zoom !== undefined)) || (surround === 'box' && !part);
    const kinds = { hasEmoji: runs.some(({ kind }) => kind === 'emoji'), hasShape };
    for (const strips of stripsOf({ width, height: bar.height }, kinds, this.#maxCanvasPixels)) {
      pixels.add(this.#paintStrips(bar, { runs, fonts, width, zoom }, strips), strips);
      if (width * canvasHeight(strips) > STEP_PIXELS) yield;
    }
  }

  /** A line of a bar by itself, or a larger word of it. */
  #partOf(bar: Bar, width: number, range: ColumnRange, part: PaintedPart): Layers {
    const rims = part.zoom && zoomedRims(this.#rimsOf(bar), part.zoom);
    const pixels = new SurroundPixels(bar, width, { range, rims });
    const steps = this.#readLayers(bar, width, pixels, part);
    while (steps.next().done !== true);
    return pixels.layers;
  }

  #paintStrips(bar: Bar, { runs, fonts, width, zoom }: BarText, strips: PaintedStrips): SKRSContext2D {
    const height = canvasHeight(strips);
    const context = this.#contextOf(width, height);
    context.clearRect(0, 0, width, height);
    context.fillStyle = TRUE_COVERAGE_GRAY;
    context.strokeStyle = TRUE_COVERAGE_GRAY;
    context.lineJoin = 'round';
    context.lineWidth = Math.max(2, 2 * OUTLINE_WIDTH * bar.fontSize);
    const reach = MAX_INK * bar.fontSize * Math.max(1, fonts.lead?.scale ?? 1);
    const isNear = ({ baseline }: PaintedRun): boolean =>
      baseline > strips.top - reach && baseline < strips.top + strips.rows + reach;
    const shown = runs.filter(isNear);
    const letters = shown.filter(({ kind }) => kind !== 'emoji');
    const emoji = shown.filter(({ kind }) => kind === 'emoji');
    const paintIn = (strip: number | undefined, paint: () => void): void => {
      if (strip === undefined) return;
      paintClipped(context, { width, strip, ...strips }, () => {
        if (zoom) zoomTo(context, zoom);
        paint();
      });
    };
    paintIn(strips.text, () => paintRuns(context, letters, fonts, bar.fontSize, 'fillText'));
    paintIn(strips.emoji, () => paintRuns(context, emoji, fonts, bar.fontSize, 'fillText'));
    paintIn(strips.shape, () => {
      if (bar.look.surround === 'box') paintLabel(context, bar, 0);
      else paintRuns(context, letters, fonts, bar.fontSize, 'strokeText');
    });
    return context;
  }

  /** Never shrinks the canvas while the width stays the same, so that its memory is reused. */
  #contextOf(width: number, height: number): SKRSContext2D {
    if (this.#canvas.width !== width || this.#canvas.height < height) {
      this.#canvas.width = width;
      this.#canvas.height = height;
    }
    return this.#canvas.getContext('2d');
  }

  #register({ alias, file }: FontFile): void {
    if (this.#registered.has(alias)) return;
    if (GlobalFonts.registerFromPath(file, alias) === null) throw new Error(`cannot load font ${file}`);
    this.#registered.add(alias);
  }
}

type BarImage = Pick<Band, 'width' | 'pixels' | 'ink'>;

interface BarText {
  readonly runs: readonly PaintedRun[];
  readonly fonts: RunFonts;
  readonly width: number;
  readonly zoom: WordZoom | undefined;
}

/** Pages whose words stand out, by their lines. */
export type DrawnPages = Map<Bar['lines'], PageDrawing>;

/** This is 8 MB of a canvas. */
const STEP_PIXELS = 2_000_000;
/** No ink is farther from its baseline than this, in em: stacked marks of Tibetan and Javanese are the tallest. */
const MAX_INK = 4;

interface StripArea extends Pick<PaintedStrips, 'top' | 'rows'> {
  /** The start of the strip on the canvas. */
  readonly strip: number;
  readonly width: number;
}

/**
 * Paints as if the bar started at the top of the canvas. Ink that extends beyond the strip must not get into the next
 * one.
 */
function paintClipped(context: SKRSContext2D, { strip, top, rows, width }: StripArea, paint: () => void): void {
  context.save();
  try {
    context.beginPath();
    context.rect(0, strip, width, rows);
    context.clip();
    context.translate(0, strip - top);
    paint();
  } finally {
    context.restore();
  }
}

function rowsOf(bar: Bar): Pick<Band, 'top' | 'height'> {
  return { top: bar.top, height: bar.height };
}

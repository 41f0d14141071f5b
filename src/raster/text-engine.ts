// Measures text and draws bars with Skia. There is one engine per process. It reuses one canvas, because canvases are
// freed by finalizers, which never run while the event loop is busy.

import './own-fonts-only.ts';
import { type Canvas, createCanvas, GlobalFonts, type SKRSContext2D } from '@napi-rs/canvas';
import { graphemes } from '../caption/graphemes.ts';
import type { Weight } from '../caption/style-field.ts';
import { isEmoji } from '../layout/emoji.ts';
import type { Size } from '../layout/geometry.ts';
import type { Bar, Layout } from '../layout/layout.ts';
import { type Look, OUTLINE_WIDTH } from '../layout/look.ts';
import type { Extent, Measurer, Run } from '../layout/measurer.ts';
import { style } from '../layout/style.ts';
import { type Band, compositeOver, wordsOf } from './band.ts';
import { compositeEmoji, type PaintedRun, readTextOnBar, TRUE_COVERAGE_GRAY } from './bar-pixels.ts';
import type { FontFile } from './font-files.ts';
import { type CaptionFonts, type DrawableCaption, FontIndex } from './font-index.ts';
import { paintLabel } from './label-path.ts';
import { runParts } from './run-parts.ts';
import { readSurrounded } from './surround-pixels.ts';
import { paintWatermark, placeWatermark, WATERMARK } from './watermark.ts';

/** Chooses the fonts of a caption. */
export type FontSource = Pick<FontIndex, 'drawable' | 'fontsFor'>;

export class TextEngine {
  readonly #index: FontSource;
  readonly #registered = new Set<string>();
  #canvas: Canvas = createCanvas(1, 1);

  constructor(index: FontSource = new FontIndex()) {
    this.#index = index;
  }

  drawable(caption: string): DrawableCaption {
    return this.#index.drawable(caption);
  }

  /** Also registers the fonts permanently, because measuring and drawing must use the same ones. */
  #fontsFor(caption: string, lang?: string, weight?: Weight): CaptionFonts {
    const fonts = this.#index.fontsFor(caption, lang, weight);
    for (const file of [...fonts.text, fonts.emoji]) this.#register(file);
    if (fonts.cjk?.marks) this.#register(fonts.cjk.marks);
    return fonts;
  }

  /** The families that draw a caption, in order of preference. */
  fontFamilies(caption: string, lang?: string): string[] {
    const { text, emoji } = this.#index.fontsFor(caption, lang);
    const hasEmoji = graphemes(caption).some(isEmoji);
    return [...new Set([...text, ...(hasEmoji ? [emoji] : [])].map(({ familyId }) => familyId))];
  }

  /** Whether a bold caption has letters that can be drawn only in regular weight. */
  lacksBold(caption: string, lang?: string): boolean {
    return this.#index.fontsFor(caption, lang, 'bold').lacksBold;
  }

  measurerFor(caption: string, lang?: string, look?: Look): Measurer {
    const fonts = this.#fontsFor(caption, lang, look?.weight);
    const isTight = look !== undefined && look.surround !== 'bar';
    const context = this.#canvas.getContext('2d');
    const cache = new Map<string, Extent>();
    return {
      measure: (run, fontSize) => {
        const key = `${fontSize}|${run.kind}|${run.rtl}|${run.text}`;
        const extent = cache.get(key) ?? measureRun(context, fonts, run, fontSize, isTight);
        cache.set(key, extent);
        return extent;
      },
    };
  }

  /** Draws the bars as bands that don't overlap, from top to bottom. */
  draw(layout: Layout): Band[] {
    return groupOverlapping(layout.bars).map(({ top, bottom, bars }) => {
      const [first] = bars;
      if (bars.length === 1 && first) return { ...rowsOf(first), ...this.#drawBar(first, layout.canvas.width) };
      return this.#merge(top, bottom, bars, layout.canvas.width);
    });
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

  #merge(top: number, bottom: number, bars: readonly Bar[], width: number): Band {
    const pixels = new Uint8ClampedArray(width * (bottom - top) * 4);
    for (const bar of bars) {
      const drawn = this.#drawBar(bar, width);
      compositeOver(wordsOf(pixels), (bar.top - top) * width, wordsOf(drawn.pixels));
    }
    return { top, height: bottom - top, width, pixels };
  }

  /** Paints everything in strips on the same canvas before reading any, because drawing again after reading would be slow. */
  #drawBar(bar: Bar, width: number): Pick<Band, 'width' | 'pixels'> {
    const { surround } = bar.look;
    const fonts = this.#fontsFor(bar.text, bar.lang, bar.look.weight);
    const runs = bar.lines.flatMap(paintedRuns);
    const emoji = runs.filter(({ kind }) => kind === 'emoji');
    // A gap keeps ink that reaches out of one strip out of the next.
    const pitch = bar.height + (surround === 'bar' ? 0 : Math.ceil(bar.fontSize / 2));
    const strips = {
      text: 0,
      emoji: emoji.length > 0 ? pitch : undefined,
      shape: surround === 'box' || surround === 'outline' ? 2 * pitch : undefined,
    };
    const height = (strips.shape ?? strips.emoji ?? 0) + bar.height;
    const context = this.#contextOf(width, height);
    context.clearRect(0, 0, width, height);
    context.fillStyle = TRUE_COVERAGE_GRAY;
    context.strokeStyle = TRUE_COVERAGE_GRAY;
    context.lineJoin = 'round';
    context.lineWidth = Math.max(2, 2 * OUTLINE_WIDTH * bar.fontSize);
    for (const run of runs) {
      const y = run.baseline - (run.kind === 'text' ? 0 : style.emojiRaise * bar.fontSize);
      for (const part of partsOf(context, fonts, run, bar.fontSize)) {
        setFont(context, part.fonts, run, bar.fontSize);
        const x = run.x + part.x;
        context.fillText(part.text, x, y + ((run.kind === 'emoji' ? strips.emoji : strips.text) ?? 0));
        if (surround === 'outline' && run.kind !== 'emoji') context.strokeText(part.text, x, y + (strips.shape ?? 0));
      }
    }
    if (surround === 'box') paintLabel(context, bar, strips.shape ?? 0);
    if (surround !== 'bar') return { width, pixels: readSurrounded(context, bar, width, strips) };
    const pixels = readTextOnBar(context, bar, width);
    if (emoji.length > 0) compositeEmoji(context, bar, emoji, { width, pixels });
    return { width, pixels };
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

function paintedRuns({ runs, x: left, width, baseline, emojiBaseline }: Bar['lines'][number]): PaintedRun[] {
  return runs.map((run, index) => ({
    ...run,
    x: left + run.x,
    right: left + (runs[index + 1]?.x ?? width),
    baseline: run.kind === 'text' ? baseline : emojiBaseline,
  }));
}

function setFont(context: SKRSContext2D, fonts: CaptionFonts, run: Run, fontSize: number): void {
  const files = run.kind === 'text' ? fonts.text : [fonts.emoji, ...fonts.text];
  const size = run.kind === 'text' ? fontSize : fontSize * style.emojiScale;
  context.font = `400 ${size}px ${files.map((file) => file.alias).join(', ')}`;
  // Some variable fonts default to hairline weight.
  context.fontVariationSettings = fonts.weight === 'bold' ? '"wght" 700' : '"wght" 400';
  context.lang = fonts.lang;
  context.textAlign = 'left';
  context.textBaseline = 'alphabetic';
  context.direction = run.rtl ? 'rtl' : 'ltr';
}

interface PlacedPart {
  readonly text: string;
  readonly fonts: CaptionFonts;
  /** Relative to the left end of the run. */
  readonly x: number;
}

/** The parts of a run that are drawn separately: nearly always the whole run. */
function partsOf(context: SKRSContext2D, fonts: CaptionFonts, run: Run, fontSize: number): PlacedPart[] {
  const { cjk } = fonts;
  const parts = cjk && run.kind === 'text' && !run.rtl ? runParts(run.text, cjk.region) : [];
  if (!cjk || (parts.length < 2 && !parts[0]?.isHanMark)) return [{ text: run.text, fonts, x: 0 }];
  const marks = cjk.marks ? { ...fonts, text: [cjk.marks, ...fonts.text] } : fonts;
  let end = 0;
  return parts.map(({ text, isHanMark, pull }) => {
    const part = { text, fonts: isHanMark ? marks : fonts, x: end - pull * fontSize };
    setFont(context, part.fonts, run, fontSize);
    end = part.x + context.measureText(text).width;
    return part;
  });
}

/**
 * Skia reports the ink of only a part of a run with several words. The padding of a bar hides that; with `isTight`, words are
 * measured one by one.
 */
function measureRun(context: SKRSContext2D, fonts: CaptionFonts, run: Run, fontSize: number, isTight = false): Extent {
  let [width, ascent, descent] = [0, 0, 0];
  for (const part of partsOf(context, fonts, run, fontSize)) {
    setFont(context, part.fonts, run, fontSize);
    const metrics = context.measureText(part.text);
    width = part.x + metrics.width;
    const words = isTight ? part.text.split(/\s+/u).map((word) => context.measureText(word)) : [];
    ascent = Math.max(ascent, ...[metrics, ...words].map((ink) => ink.actualBoundingBoxAscent));
    descent = Math.max(descent, ...[metrics, ...words].map((ink) => ink.actualBoundingBoxDescent));
  }
  // Emoji are always centered on the line and never make it taller.
  return run.kind === 'text' ? { width, ascent, descent } : { width, ascent: 0, descent: 0 };
}

interface Group {
  top: number;
  bottom: number;
  readonly bars: Bar[];
}

function groupOverlapping(bars: readonly Bar[]): Group[] {
  const groups: Group[] = [];
  for (const bar of bars.toSorted((a, b) => a.top - b.top)) {
    const last = groups.at(-1);
    if (last && bar.top < last.bottom) {
      last.bars.push(bar);
      last.bottom = Math.max(last.bottom, bar.top + bar.height);
    } else {
      groups.push({ top: bar.top, bottom: bar.top + bar.height, bars: [bar] });
    }
  }
  // Within a group, bars stay in the order of the request, because a later bar is drawn over an earlier one.
  return groups.map((group) => ({ ...group, bars: bars.filter((bar) => group.bars.includes(bar)) }));
}

function rowsOf(bar: Bar): Pick<Band, 'top' | 'height'> {
  return { top: bar.top, height: bar.height };
}

// Measures text and draws bars with Skia. There is one engine per process. It reuses one canvas, because canvases are
// freed by finalizers, which never run while the event loop is busy.

import './own-fonts-only.ts';
import { type Canvas, createCanvas, GlobalFonts, type SKRSContext2D } from '@napi-rs/canvas';
import type { Size } from '../layout/geometry.ts';
import type { Bar, Layout } from '../layout/layout.ts';
import type { Extent, Measurer, Run } from '../layout/measurer.ts';
import { BAR_ALPHA, style } from '../layout/style.ts';
import { type Band, compositeOver, PLAIN_BAR, wordsOf } from './band.ts';
import type { FontFile } from './font-files.ts';
import { type CaptionFonts, type DrawableCaption, FontIndex } from './font-index.ts';
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
  #fontsFor(caption: string): CaptionFonts {
    const fonts = this.#index.fontsFor(caption);
    for (const file of [...fonts.text, fonts.emoji]) this.#register(file);
    return fonts;
  }

  measurerFor(caption: string): Measurer {
    const fonts = this.#fontsFor(caption);
    const context = this.#canvas.getContext('2d');
    const cache = new Map<string, Extent>();
    return {
      measure: (run, fontSize) => {
        const key = `${fontSize}|${run.kind}|${run.rtl}|${run.text}`;
        const extent = cache.get(key) ?? measureRun(context, fonts, run, fontSize);
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

  #drawBar(bar: Bar, width: number): Pick<Band, 'width' | 'pixels'> {
    const context = this.#contextOf(width, bar.height);
    context.clearRect(0, 0, width, bar.height);
    context.fillStyle = `rgba(0, 0, 0, ${BAR_ALPHA})`;
    context.fillRect(0, 0, width, bar.height);
    context.fillStyle = '#fff';
    const fonts = this.#fontsFor(bar.text);
    for (const line of bar.lines) {
      const left = (width - line.width) / 2;
      for (const run of line.runs) {
        setFont(context, fonts, run, bar.fontSize);
        const raise = run.kind === 'emoji' ? style.emojiRaise * bar.fontSize : 0;
        context.fillText(run.text, left + run.x, line.baseline - raise);
      }
    }
    return { width, pixels: readBar(context, bar, width) };
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

/** Reading pixels back is the most expensive part of drawing, so only the columns with text are read. */
function readBar(context: SKRSContext2D, bar: Bar, width: number): Uint8ClampedArray {
  const widest = Math.max(...bar.lines.map((line) => line.width));
  // Ink can extend beyond the advance width, but never by more than an em.
  const left = Math.max(0, Math.floor((width - widest) / 2 - bar.fontSize));
  const columns = Math.min(width - left, Math.ceil(widest + 2 * bar.fontSize) + 1);
  const { data } = context.getImageData(left, 0, columns, bar.height);
  const pixels = new Uint8ClampedArray(width * bar.height * 4);
  wordsOf(pixels).fill(PLAIN_BAR);
  for (let row = 0; row < bar.height; row += 1) {
    pixels.set(data.subarray(row * columns * 4, (row + 1) * columns * 4), (row * width + left) * 4);
  }
  return pixels;
}

function setFont(context: SKRSContext2D, fonts: CaptionFonts, run: Run, fontSize: number): void {
  const files = run.kind === 'emoji' ? [fonts.emoji, ...fonts.text] : fonts.text;
  const size = run.kind === 'emoji' ? fontSize * style.emojiScale : fontSize;
  context.font = `400 ${size}px ${files.map((file) => file.alias).join(', ')}`;
  // Some variable fonts default to hairline weight.
  context.fontVariationSettings = '"wght" 400';
  context.textAlign = 'left';
  context.textBaseline = 'alphabetic';
  context.direction = run.rtl ? 'rtl' : 'ltr';
}

function measureRun(context: SKRSContext2D, fonts: CaptionFonts, run: Run, fontSize: number): Extent {
  setFont(context, fonts, run, fontSize);
  const metrics = context.measureText(run.text);
  // Emoji are always centered on the line and never make it taller.
  if (run.kind === 'emoji') return { width: metrics.width, ascent: 0, descent: 0 };
  return {
    width: metrics.width,
    ascent: Math.max(0, metrics.actualBoundingBoxAscent),
    descent: Math.max(0, metrics.actualBoundingBoxDescent),
  };
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

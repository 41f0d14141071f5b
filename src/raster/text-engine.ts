// Skia, behind two questions: how large is this run, and what do these bars look like. One engine per process; it keeps one
// canvas, because canvases are freed by finalizers that a busy loop never lets run.

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

export class TextEngine {
  readonly #index = new FontIndex();
  readonly #registered = new Set<string>();
  #canvas: Canvas = createCanvas(1, 1);

  drawable(caption: string): DrawableCaption {
    return this.#index.drawable(caption);
  }

  /** Fonts are registered for good as a side effect: measuring and drawing must find the same ones. */
  #fontsFor(caption: string): CaptionFonts {
    const fonts = this.#index.fontsFor(caption);
    for (const file of [...fonts.text, fonts.emoji]) this.#register(file);
    return fonts;
  }

  measurerFor(caption: string): Measurer {
    const fonts = this.#fontsFor(caption);
    const context = this.#canvas.getContext('2d');
    const known = new Map<string, Extent>();
    return {
      measure: (run, fontSize) => {
        const key = `${fontSize}|${run.kind}|${run.rtl}|${run.text}`;
        const extent = known.get(key) ?? measureRun(context, fonts, run, fontSize);
        known.set(key, extent);
        return extent;
      },
    };
  }

  /** The bars' pixels as disjoint bands, from top to bottom. */
  draw(layout: Layout): Band[] {
    return groupOverlapping(layout.bars).map(({ top, bottom, bars }) => {
      const [first] = bars;
      if (bars.length === 1 && first) return { ...rowsOf(first), ...this.#drawBar(first, layout.canvas.width) };
      return this.#merge(top, bottom, bars, layout.canvas.width);
    });
  }

  /** The watermark of a canvas, as a band of its own. */
  drawWatermark(canvas: Size): Band {
    const run: Run = { text: WATERMARK, kind: 'text', rtl: false };
    const fonts = this.#fontsFor(WATERMARK);
    const unit = 100;
    const { width } = measureRun(this.#canvas.getContext('2d'), fonts, run, unit);
    const box = placeWatermark(canvas, width / unit);
    const context = this.#sized(canvas.width, box.height);
    context.clearRect(0, 0, canvas.width, box.height);
    prepare(context, fonts, run, box.fontSize);
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
    const context = this.#sized(width, bar.height);
    context.clearRect(0, 0, width, bar.height);
    context.fillStyle = `rgba(0, 0, 0, ${BAR_ALPHA})`;
    context.fillRect(0, 0, width, bar.height);
    context.fillStyle = '#fff';
    const fonts = this.#fontsFor(bar.text);
    for (const line of bar.lines) {
      const left = (width - line.width) / 2;
      for (const run of line.runs) {
        prepare(context, fonts, run, bar.fontSize);
        const raise = run.kind === 'emoji' ? style.emojiRaise * bar.fontSize : 0;
        context.fillText(run.text, left + run.x, line.baseline - raise);
      }
    }
    return { width, pixels: readBar(context, bar, width) };
  }

  /** Grows and never shrinks within a width, so that bars of one size reuse the same memory. */
  #sized(width: number, height: number): SKRSContext2D {
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

/** Reading pixels back is most of the cost of drawing, so only the columns with text are read; the rest is the plain bar. */
function readBar(context: SKRSContext2D, bar: Bar, width: number): Uint8ClampedArray {
  const widest = Math.max(...bar.lines.map((line) => line.width));
  // Ink may stand out of its box: an em is more than any letter does.
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

function prepare(context: SKRSContext2D, fonts: CaptionFonts, run: Run, fontSize: number): void {
  const files = run.kind === 'emoji' ? [fonts.emoji, ...fonts.text] : fonts.text;
  const size = run.kind === 'emoji' ? fontSize * style.emojiScale : fontSize;
  context.font = `400 ${size}px ${files.map((file) => file.alias).join(', ')}`;
  // Some of the variable fonts start at hairline weight unless told otherwise.
  context.fontVariationSettings = '"wght" 400';
  context.textAlign = 'left';
  context.textBaseline = 'alphabetic';
  context.direction = run.rtl ? 'rtl' : 'ltr';
}

function measureRun(context: SKRSContext2D, fonts: CaptionFonts, run: Run, fontSize: number): Extent {
  prepare(context, fonts, run, fontSize);
  const metrics = context.measureText(run.text);
  // Emoji are centred on the line whatever their box says, and never make it taller.
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
  // Inside a group, the order of the request decides which bar lies on top.
  return groups.map((group) => ({ ...group, bars: bars.filter((bar) => group.bars.includes(bar)) }));
}

function rowsOf(bar: Bar): Pick<Band, 'top' | 'height'> {
  return { top: bar.top, height: bar.height };
}

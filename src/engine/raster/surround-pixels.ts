// Converts a transparent canvas that Skia has drawn on to the pixels of a box, of text with an outline or a shadow, or of
// any caption whose words stand out one after the other. Letters and shapes are kept only as coverage, because a caption
// can fill an image of 50 megapixels.

import type { SKRSContext2D } from '@napi-rs/canvas';
import type { Bar } from '../layout/layout.ts';
import type { Look } from '../layout/look.ts';
import { type Band, type ColumnRange, compositeOver, mix, wordsByCoverage, wordsOf } from './band.ts';
import { inkedColumns } from './bar-pixels.ts';
import { addRims, type EmojiRims } from './emoji-rim.ts';
import type { PaintedStrips } from './painted-strips.ts';
import { blurred, FULL_SHARE, SHARES } from './soft-shadow.ts';

const BLACK = { red: 0, green: 0, blue: 0, alpha: 255 };

/** The shadow's reach from the letters and its offset downward, in em. */
const SHADOW_REACH = 0.33;
const SHADOW_DROP = 0.03;
/** Raises a blurred stroke, which is thinner than the blur, to about this much of full black. */
const SHADOW_GAIN = 2.6;
const SHADOW_MAX_ALPHA = 0.74 * 255;
/**
 * The shadow by its share of the blur. It approaches the maximum smoothly, because a hard limit would give the shadow a
 * visible edge.
 */
const SHADOW_WORDS: Int32Array = Int32Array.from(
  { length: SHARES },
  (_, share) => Math.round(SHADOW_MAX_ALPHA * (1 - Math.exp((-SHADOW_GAIN * share) / FULL_SHARE))) << 24,
);

/** What was drawn, by what becomes of it: coverage of letters and of shapes, and emoji as RGBA words. */
export interface Layers {
  /** The columns of the canvas that they are about. */
  readonly left: number;
  readonly columns: number;
  readonly rows: number;
  readonly text: Uint8Array;
  /** The label of a box, or the stroke of an outline. */
  readonly shape: Uint8Array | undefined;
  readonly emoji: Int32Array | undefined;
}

/** Draws what is behind the letters on an empty part of a row, which starts at this index of the layers. */
export type SurroundPainter = (line: Int32Array, from: number) => void;

interface SurroundOptions {
  readonly rims?: EmojiRims | undefined;
  /** The columns that are read. By default, those that text can reach. */
  readonly range?: ColumnRange;
}

export class SurroundPixels {
  readonly #bar: Bar;
  readonly #width: number;
  readonly #left: number;
  readonly #columns: number;
  readonly #text: Uint8Array;
  readonly #rims: EmojiRims | undefined;
  readonly #spans: InkSpans;
  #shape: Uint8Array | undefined;
  #emoji: Int32Array | undefined;

  constructor(bar: Bar, width: number, { rims, range = inkedColumns(bar, width) }: SurroundOptions = {}) {
    const { left, columns } = range;
    this.#bar = bar;
    this.#width = width;
    this.#rims = rims;
    this.#left = left;
    this.#columns = columns;
    this.#text = new Uint8Array(columns * bar.height);
    this.#spans = new InkSpans(columns, bar.height);
  }

  add(context: SKRSContext2D, { top, rows, text, shape, emoji }: PaintedStrips): void {
    const [columns, size] = [this.#columns, this.#text.length];
    const read = (from: number): Int32Array => wordsOf(context.getImageData(this.#left, from, columns, rows).data);
    this.#spans.copyAlphas(read(text), this.#text, top);
    if (shape !== undefined) this.#spans.copyAlphas(read(shape), (this.#shape ??= new Uint8Array(size)), top);
    if (emoji === undefined) return;
    const words = read(emoji);
    const [left, right] = [this.#left, this.#left + columns];
    if (this.#rims) addRims({ words, left, right, top, bottom: top + rows }, this.#rims);
    this.#emoji ??= new Int32Array(size);
    this.#emoji.set(words, top * columns);
  }

  get layers(): Layers {
    const [left, columns, rows] = [this.#left, this.#columns, this.#bar.height];
    return { left, columns, rows, text: this.#text, shape: this.#shape, emoji: this.#emoji };
  }

  finish(): Pick<Band, 'pixels' | 'ink'> {
    const { look, height } = this.#bar;
    const surround = surroundOf(this.#bar, this.layers);
    const text = new TextColors(look);
    const pixels = new Uint8ClampedArray(this.#width * height * 4);
    const words = wordsOf(pixels);
    const [left, columns] = [this.#left, this.#columns];
    if (look.surround === 'bar') words.fill(wordsByCoverage(look.background ?? BLACK)[255] ?? 0);
    for (let row = 0; row < height; row += 1) {
      const line = words.subarray(row * this.#width + left, row * this.#width + left + columns);
      const start = row * columns;
      const { first, end } = this.#spans.of(row);
      // A shadow reaches beyond what casts it.
      if (look.surround === 'shadow') surround(line, start);
      if (first < end) {
        const inked = line.subarray(first, end);
        if (look.surround !== 'shadow') surround(inked, start + first);
        text.composite(inked, this.#text.subarray(start + first, start + end));
      }
      if (this.#emoji) compositeOver(line, 0, this.#emoji.subarray(start, start + columns));
    }
    return { pixels, ink: { left, columns } };
  }
}

/** Where each row starts and ends that has ink. Most of a row has none, and nothing is drawn there. */
class InkSpans {
  readonly #columns: number;
  readonly #firsts: Int32Array;
  readonly #ends: Int32Array;

  constructor(columns: number, rows: number) {
    this.#columns = columns;
    this.#firsts = new Int32Array(rows).fill(columns);
    this.#ends = new Int32Array(rows);
  }

  of(row: number): { readonly first: number; readonly end: number } {
    return { first: this.#firsts[row] ?? 0, end: this.#ends[row] ?? 0 };
  }

  /** Copies the coverage of drawn rows, of which `top` is the first. */
  copyAlphas(words: Int32Array, to: Uint8Array, top: number): void {
    const columns = this.#columns;
    for (let start = 0, row = top; start < words.length; start += columns, row += 1) {
      const target = row * columns - start;
      const stop = start + columns;
      let first = start;
      while (first < stop && words[first] === 0) first += 1;
      if (first === stop) continue;
      let end = stop;
      while (words[end - 1] === 0) end -= 1;
      for (let index = first; index < end; index += 1) to[target + index] = (words[index] as number) >>> 24;
      this.#firsts[row] = Math.min(this.#firsts[row] ?? 0, first - start);
      this.#ends[row] = Math.max(this.#ends[row] ?? 0, end - start);
    }
  }
}

/** Draws what is behind letters and emoji. */
export function surroundOf({ look, fontSize }: Bar, layers: Layers): SurroundPainter {
  if (look.surround === 'shadow') return shadowOf(layers, fontSize);
  if (look.surround === 'outline') return outlineOf(layers, look.color.alpha === 255);
  const label = wordsByCoverage(look.background ?? BLACK);
  const full = label[255] ?? 0;
  const shape = layers.shape;
  if (shape === undefined) return (line) => void line.fill(full);
  return (line, from) => {
    for (let x = 0; x < line.length; x += 1) line[x] = label[shape[from + x] ?? 0] ?? 0;
  };
}

/** Under opaque text the outline is solid, so that no gap shows between both. It must not shine through other text. */
function outlineOf({ text, shape }: Layers, isTextOpaque: boolean): SurroundPainter {
  const outline = shape ?? text;
  return (line, from) => {
    for (let x = 0; x < line.length; x += 1) {
      const stroke = outline[from + x] as number;
      const letter = text[from + x] as number;
      // Most of a row is between letters.
      if ((stroke | letter) === 0) continue;
      const coverage = stroke > letter ? stroke : letter;
      line[x] = (isTextOpaque ? coverage : Math.round((coverage * (255 - letter)) / 255)) << 24;
    }
  };
}

function shadowOf({ text, emoji, columns, rows }: Layers, em: number): SurroundPainter {
  const values = emoji ? alphasOf(emoji) : text;
  if (emoji) {
    for (let at = 0; at < values.length; at += 1) values[at] = Math.max(values[at] ?? 0, text[at] ?? 0);
  }
  const shadow = blurred({ width: columns, height: rows, values }, Math.max(1, Math.round((SHADOW_REACH * em) / 3)));
  const drop = Math.round(SHADOW_DROP * em);
  return (line, from) => {
    const row = Math.floor(from / columns);
    if (row >= drop) shadow.drawLine(row - drop, from % columns, line, SHADOW_WORDS);
  };
}

/** Letters are mostly on one word: the label, or the outline under them. Its mixtures are computed only once. */
export class TextColors {
  readonly #colored: Int32Array;
  readonly #usual: number;
  readonly #onUsual: Int32Array;

  constructor({ color, background }: Pick<Look, 'color' | 'background'>) {
    const usual = wordsByCoverage(background ?? BLACK)[255] ?? 0;
    this.#colored = wordsByCoverage(color);
    this.#usual = usual;
    this.#onUsual = this.#colored.map((word) => (word >>> 24 === 0 ? usual : mix(word, usual)));
  }

  composite(below: Int32Array, text: Uint8Array): void {
    const [colored, usual, onUsual] = [this.#colored, this.#usual, this.#onUsual];
    for (let index = 0; index < text.length; index += 1) {
      const coverage = text[index] as number;
      if (coverage === 0) continue;
      const word = colored[coverage] as number;
      const target = below[index] as number;
      if (target === usual) below[index] = onUsual[coverage] as number;
      else if (word >>> 24 > 0) below[index] = mix(word, target);
    }
  }
}

function alphasOf(words: Int32Array): Uint8Array {
  return Uint8Array.from(words, (word) => word >>> 24);
}

// Converts a transparent canvas that Skia has drawn on to the pixels of a box, of text with an outline or a shadow, or of
// any caption whose words stand out one after the other. Letters and shapes are kept only as coverage, because a caption
// can fill an image of 50 megapixels.

import type { SKRSContext2D } from '@napi-rs/canvas';
import type { Bar } from '../layout/layout.ts';
import type { Look } from '../layout/look.ts';
import { compositeOver, mix, wordsByCoverage, wordsOf } from './band.ts';
import { type ColumnRange, inkedColumns } from './bar-pixels.ts';
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

/** Draws what is behind the letters on a part of a row, which starts at this index of the layers. */
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
  }

  add(context: SKRSContext2D, { top, rows, text, shape, emoji }: PaintedStrips): void {
    const [columns, size] = [this.#columns, this.#text.length];
    const read = (from: number): Int32Array => wordsOf(context.getImageData(this.#left, from, columns, rows).data);
    copyAlphas(read(text), this.#text, top * columns);
    if (shape !== undefined) copyAlphas(read(shape), (this.#shape ??= new Uint8Array(size)), top * columns);
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

  finish(): Uint8ClampedArray {
    const { look, height } = this.#bar;
    const surround = surroundOf(this.#bar, this.layers);
    const text = new TextColors(look);
    const pixels = new Uint8ClampedArray(this.#width * height * 4);
    const words = wordsOf(pixels);
    if (look.surround === 'bar') words.fill(wordsByCoverage(look.background ?? BLACK)[255] ?? 0);
    for (let row = 0; row < height; row += 1) {
      const start = row * this.#width + this.#left;
      const line = words.subarray(start, start + this.#columns);
      const [from, to] = [row * this.#columns, (row + 1) * this.#columns];
      surround(line, from);
      text.composite(line, this.#text.subarray(from, to));
      if (this.#emoji) compositeOver(line, 0, this.#emoji.subarray(from, to));
    }
    return pixels;
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
  return (line, from) => {
    for (let x = 0; x < line.length; x += 1) {
      const letter = text[from + x] ?? 0;
      let coverage = Math.max(letter, shape?.[from + x] ?? 0);
      if (!isTextOpaque) coverage = Math.round((coverage * (255 - letter)) / 255);
      line[x] = coverage << 24;
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
      const coverage = text[index] ?? 0;
      if (coverage === 0) continue;
      const word = colored[coverage] ?? 0;
      const target = below[index] ?? 0;
      if (target === usual) below[index] = onUsual[coverage] ?? 0;
      else if (word >>> 24 > 0) below[index] = mix(word, target);
    }
  }
}

function copyAlphas(words: Int32Array, to: Uint8Array, start: number): void {
  for (let index = 0; index < words.length; index += 1) to[start + index] = (words[index] ?? 0) >>> 24;
}

function alphasOf(words: Int32Array): Uint8Array {
  const alphas = new Uint8Array(words.length);
  copyAlphas(words, alphas, 0);
  return alphas;
}

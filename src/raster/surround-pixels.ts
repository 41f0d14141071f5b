// Turns what Skia has drawn on a transparent canvas into the pixels of a box, or of text with an outline or a shadow.

import type { SKRSContext2D } from '@napi-rs/canvas';
import type { Bar } from '../layout/layout.ts';
import { type Look, OUTLINE_WIDTH } from '../layout/look.ts';
import { compositeOver, mix, wordsByCoverage, wordsOf } from './band.ts';
import { inkedColumns } from './bar-pixels.ts';
import { grown } from './grown-mask.ts';
import { blurred } from './soft-shadow.ts';

/** Where the parts of a caption are on the canvas, one bar height each. */
export interface Strips {
  readonly text: number;
  readonly emoji: number | undefined;
  /** The label of a box, or the stroke of an outline. */
  readonly shape: number | undefined;
}

const BLACK = { red: 0, green: 0, blue: 0, alpha: 255 };

/** The shadow, in em: how far it reaches from the letters, and how far it is moved down. */
const SHADOW_REACH = 0.33;
const SHADOW_DROP = 0.03;
/** Raises a blurred stroke, which is thinner than the blur, to about this much of full black. */
const SHADOW_GAIN = 2.6;
const SHADOW_MAX_ALPHA = 0.74 * 255;
/** What `blurred` returns has 24 bits, of which the lowest don't matter. */
const UNUSED_BITS = 12;
/** The alpha of the shadow. It approaches the maximum smoothly: a hard limit would give the shadow a visible edge. */
const SHADOW_ALPHA: Uint8Array = Uint8Array.from({ length: 0x1_00_0000 >> UNUSED_BITS }, (_, share) =>
  Math.round(SHADOW_MAX_ALPHA * (1 - Math.exp((-SHADOW_GAIN * share) / (0xff_0000 >> UNUSED_BITS)))),
);

interface Layers {
  readonly columns: number;
  readonly rows: number;
  /** RGBA words, of which only the alpha counts. */
  readonly text: Int32Array;
  readonly shape: Int32Array | undefined;
  readonly emoji: Int32Array | undefined;
}

export function readSurrounded(context: SKRSContext2D, bar: Bar, width: number, strips: Strips): Uint8ClampedArray {
  const { left, columns } = inkedColumns(bar, width);
  const read = (top: number): Int32Array => wordsOf(context.getImageData(left, top, columns, bar.height).data);
  const layers: Layers = {
    columns,
    rows: bar.height,
    text: read(strips.text),
    shape: strips.shape === undefined ? undefined : read(strips.shape),
    emoji: strips.emoji === undefined ? undefined : read(strips.emoji),
  };
  const composed = surroundOf(bar, layers);
  compositeText(composed, layers.text, bar.look);
  if (layers.emoji) compositeOver(composed, 0, layers.emoji);
  const pixels = new Uint8ClampedArray(width * bar.height * 4);
  const words = wordsOf(pixels);
  for (let row = 0; row < bar.height; row += 1) {
    words.set(composed.subarray(row * columns, (row + 1) * columns), row * width + left);
  }
  return pixels;
}

/** What is behind the letters, as RGBA words. */
function surroundOf({ look, fontSize }: Bar, layers: Layers): Int32Array {
  if (look.surround === 'shadow') return shadowOf(layers, fontSize);
  if (look.surround === 'outline') return outlineOf(layers, look.color.alpha === 255, fontSize);
  const label = wordsByCoverage(look.background ?? BLACK);
  const words = new Int32Array(layers.text.length);
  const { shape = words } = layers;
  for (let index = 0; index < words.length; index += 1) words[index] = label[(shape[index] ?? 0) >>> 24] ?? 0;
  return words;
}

/** Letters are mostly on one word: the label, or the outline under them. Its mixtures are computed only once. */
function compositeText(below: Int32Array, text: Int32Array, { color, background }: Look): void {
  const colored = wordsByCoverage(color);
  const usual = wordsByCoverage(background ?? BLACK)[255] ?? 0;
  const onUsual = colored.map((word) => (word >>> 24 === 0 ? usual : mix(word, usual)));
  for (let index = 0; index < text.length; index += 1) {
    const coverage = (text[index] ?? 0) >>> 24;
    if (coverage === 0) continue;
    const word = colored[coverage] ?? 0;
    const target = below[index] ?? 0;
    if (target === usual) below[index] = onUsual[coverage] ?? 0;
    else if (word >>> 24 > 0) below[index] = mix(word, target);
  }
}

/** Under opaque text the outline is solid, so that no gap shows between both. It must not shine through other text. */
function outlineOf({ text, shape, emoji, columns, rows }: Layers, isTextOpaque: boolean, em: number): Int32Array {
  const width = Math.max(1, OUTLINE_WIDTH * em);
  const aroundEmoji = emoji && grown({ width: columns, height: rows, values: alphasOf(emoji) }, width);
  const words = new Int32Array(text.length);
  for (let index = 0; index < words.length; index += 1) {
    const letter = (text[index] ?? 0) >>> 24;
    let coverage = Math.max(letter, (shape?.[index] ?? 0) >>> 24);
    if (!isTextOpaque) coverage = Math.round((coverage * (255 - letter)) / 255);
    if (aroundEmoji) coverage = Math.max(coverage, aroundEmoji[index] ?? 0);
    words[index] = coverage << 24;
  }
  return words;
}

function shadowOf({ text, emoji, columns, rows }: Layers, em: number): Int32Array {
  const values = alphasOf(text);
  if (emoji) {
    for (let index = 0; index < values.length; index += 1) {
      values[index] = Math.max(values[index] ?? 0, (emoji[index] ?? 0) >>> 24);
    }
  }
  const shadow = blurred({ width: columns, height: rows, values }, Math.max(1, Math.round((SHADOW_REACH * em) / 3)));
  const drop = Math.round(SHADOW_DROP * em) * columns;
  const words = new Int32Array(text.length);
  for (let index = drop; index < words.length; index += 1) {
    words[index] = (SHADOW_ALPHA[(shadow[index - drop] ?? 0) >> UNUSED_BITS] ?? 0) << 24;
  }
  return words;
}

function alphasOf(words: Int32Array): Uint8Array {
  const alphas = new Uint8Array(words.length);
  for (let index = 0; index < words.length; index += 1) alphas[index] = (words[index] ?? 0) >>> 24;
  return alphas;
}

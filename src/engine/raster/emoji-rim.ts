// Emoji that would vanish on their bar get a thin rim under them: light on dark bars, and dark on light ones. Their own
// pixels decide, at one size, so that an emoji looks the same on every image.

import { type Canvas, createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import { channelContrast, channelRanges, type Color, type ColorRange } from '../layout/contrast.ts';
import { BoundedMap } from '../../shared/bounded-map.ts';
import { mix, wordsByCoverage } from './band.ts';
import { grown } from './grown-mask.ts';

/** A pixel stands out if one of its channels has this contrast to all that the bar can have over a photo. */
const MIN_CONTRAST = 1.6;
/** An emoji is faint if more of its pixels than this share don't stand out. */
const MAX_FAINT_SHARE = 0.5;
/** The width of the rim, in em. */
const RIM_WIDTH = 0.045;
const RIM_ALPHA = 230;

const FONT_SIZE = 48;
const CANVAS_SIZE = 96;
const EDGE_ALPHA = 128;
const MAX_REMEMBERED = 4_096;

/** An emoji on the canvas, in pixels: the columns of its advance width, and the rows of its line. */
export interface EmojiBox {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Emoji reach this far from their baseline, in em. */
const REACH = { above: 1.25, below: 0.4 };

export function emojiBox(left: number, right: number, baseline: number, em: number): EmojiBox {
  return {
    left: Math.floor(left),
    right: Math.ceil(right),
    top: Math.floor(baseline - REACH.above * em),
    bottom: Math.ceil(baseline + REACH.below * em),
  };
}

/** The emoji of a bar that get a rim. */
export interface EmojiRims {
  readonly boxes: readonly EmojiBox[];
  readonly width: number;
  /** The color of the rim by its coverage, as words of `wordsOf`. */
  readonly shades: Int32Array;
}

/** Drawn emoji as RGBA words, with their place on the canvas. */
export interface EmojiPixels extends EmojiBox {
  readonly words: Int32Array;
}

/** Draws one emoji with its left end at `x`. */
export type DrawEmoji = (context: SKRSContext2D, emoji: string, x: number, baseline: number, fontSize: number) => void;

export class FaintEmoji {
  readonly #known = new BoundedMap<string, boolean>(MAX_REMEMBERED);
  #canvas: Canvas | undefined;

  /** Returns true if an emoji would vanish on this background over some photo. */
  has(emoji: string, background: Color, draw: DrawEmoji): boolean {
    const key = `${Object.values(background).join(',')} ${emoji}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const isFaint = this.#faintShare(emoji, channelRanges(background), draw) > MAX_FAINT_SHARE;
    this.#known.set(key, isFaint);
    return isFaint;
  }

  #faintShare(emoji: string, [red, green, blue]: ColorRange, draw: DrawEmoji): number {
    this.#canvas ??= createCanvas(CANVAS_SIZE, CANVAS_SIZE);
    const context = this.#canvas.getContext('2d');
    context.clearRect(0, 0, CANVAS_SIZE, CANVAS_SIZE);
    draw(context, emoji, FONT_SIZE / 4, FONT_SIZE * 1.5, FONT_SIZE);
    const { data } = context.getImageData(0, 0, CANVAS_SIZE, CANVAS_SIZE);
    let [pixels, faint] = [0, 0];
    for (let at = 0; at < data.length; at += 4) {
      if ((data[at + 3] ?? 0) < EDGE_ALPHA) continue;
      const contrast = Math.max(
        channelContrast(data[at] ?? 0, red),
        channelContrast(data[at + 1] ?? 0, green),
        channelContrast(data[at + 2] ?? 0, blue),
      );
      pixels += 1;
      if (contrast < MIN_CONTRAST) faint += 1;
    }
    return pixels === 0 ? 0 : faint / pixels;
  }
}

/** The rim is white or black, whichever has more contrast to the bar. */
export function emojiRims(boxes: readonly EmojiBox[], background: Color, fontSize: number): EmojiRims {
  const contrastOf = (value: number): number =>
    Math.min(...channelRanges(background).map((range) => channelContrast(value, range)));
  const value = contrastOf(255) >= contrastOf(0) ? 255 : 0;
  const color = { red: value, green: value, blue: value, alpha: RIM_ALPHA };
  return { boxes, width: Math.max(1, RIM_WIDTH * fontSize), shades: wordsByCoverage(color) };
}

/** Draws the rims under emoji that have been drawn. */
export function addRims(emoji: EmojiPixels, { boxes, width, shades }: EmojiRims): void {
  const columns = emoji.right - emoji.left;
  const reach = Math.ceil(width) + 1;
  for (const box of boxes) {
    const left = Math.max(emoji.left, box.left - reach);
    const right = Math.min(emoji.right, box.right + reach);
    const top = Math.max(emoji.top, box.top - reach);
    const bottom = Math.min(emoji.bottom, box.bottom + reach);
    if (left >= right || top >= bottom) continue;
    const size = { width: right - left, height: bottom - top };
    const indexOf = (row: number): number => (top + row - emoji.top) * columns + left - emoji.left;
    const values = new Uint8Array(size.width * size.height);
    // The columns beside the box are those of other emoji.
    const [first, last] = [Math.max(left, box.left) - left, Math.min(right, box.right) - left];
    for (let row = 0; row < size.height; row += 1) {
      for (let column = first; column < last; column += 1) {
        values[row * size.width + column] = (emoji.words[indexOf(row) + column] ?? 0) >>> 24;
      }
    }
    const rim = grown({ ...size, values }, width);
    for (let row = 0; row < size.height; row += 1) {
      for (let column = 0; column < size.width; column += 1) {
        const shade = shades[rim[row * size.width + column] ?? 0] ?? 0;
        const at = indexOf(row) + column;
        const word = emoji.words[at] ?? 0;
        if (shade !== 0) emoji.words[at] = word >>> 24 === 0 ? shade : mix(word, shade);
      }
    }
  }
}

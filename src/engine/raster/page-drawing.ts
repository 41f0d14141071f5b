// A page whose words stand out one after the other. It is drawn once; of every further state, only the pixels that differ from
// the plain page are computed.

import type { Color } from '../layout/contrast.ts';
import type { Bar } from '../layout/layout.ts';
import { type Highlight, OUTLINE_WIDTH } from '../layout/look.ts';
import type { PixelBox, WordPart } from '../layout/word-boxes.ts';
import { must } from '../../shared/must.ts';
import { compositeOver, mix, wordsByCoverage, wordsOf } from './band.ts';
import { grown } from './grown-mask.ts';
import { type Layers, type SurroundPainter, type SurroundPixels, surroundOf, TextColors } from './surround-pixels.ts';

/** What is painted larger around a point. Rows are relative to the bar. */
export interface WordZoom {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
  readonly columns: Pick<PixelBox, 'left' | 'right'>;
}

/** A line by itself, or a larger word of it. */
export interface PaintedPart {
  readonly line: number;
  readonly zoom?: WordZoom;
}

type PaintPart = (part: PaintedPart) => Layers;

/** How much larger a word pops: as much as the words beside it leave room, and hardly where they touch it. */
const POP_SCALE = { most: 1.12, least: 1.05 };
/** The distance that stays between its letters and others, in em. */
const POP_CLEARANCE = 0.1;
/** The radius of the corners of a box behind a word, in em. */
const BOX_RADIUS = 0.2;

/** What one state draws, in the order of drawing. All masks have the columns and rows of the page. */
interface State {
  readonly surround: SurroundPainter;
  readonly boxes?: readonly PixelBox[];
  /** Text in the color of the style. */
  readonly text: Uint8Array;
  /** Text in the color of the highlight. */
  readonly lit?: Uint8Array;
  readonly emoji: Int32Array | undefined;
}

export class PageDrawing {
  readonly #bar: Bar;
  readonly #width: number;
  readonly #highlight: Highlight;
  readonly #layers: Layers;
  /** The coverage of the letters of each line. Letters of two lines can be in the same rows. */
  readonly #lines: readonly Uint8Array[];
  readonly #plain: Uint8ClampedArray;
  readonly #paint: PaintPart;
  #plainSurround: SurroundPainter | undefined;

  /** `pixels` has read the plain page. */
  constructor(bar: Bar, width: number, pixels: SurroundPixels, paint: PaintPart) {
    this.#bar = bar;
    this.#width = width;
    this.#highlight = must(bar.look.highlight, 'the highlight of the page');
    this.#layers = pixels.layers;
    this.#lines = bar.lines.length === 1 ? [this.#layers.text] : bar.lines.map((_, line) => paint({ line }).text);
    this.#plain = pixels.finish().pixels;
    this.#paint = paint;
  }

  /** The pixels of the bar. `lit` is that of the bar; undefined for the plain page. */
  at(lit: number | undefined): Uint8ClampedArray {
    const pixels = this.#plain.slice();
    if (lit === undefined) return pixels;
    const parts = (this.#bar.words[lit] ?? []).filter(({ cell }) => cell.left < cell.right);
    switch (this.#highlight.mode) {
      case 'color':
        this.#draw(pixels, parts.map(columnsOf), this.#lit(parts));
        break;
      case 'box':
        this.#draw(pixels, [...parts.map(columnsOf), ...parts.map(({ box }) => box)], this.#boxed(parts));
        break;
      case 'pop':
        this.#draw(pixels, [ALL_COLUMNS], this.#popped(parts));
        break;
      case 'reveal':
        this.#draw(pixels, [ALL_COLUMNS], this.#revealed(this.#bar.words.slice(lit).flat()));
        break;
    }
    return pixels;
  }

  #surround(): SurroundPainter {
    this.#plainSurround ??= surroundOf(this.#bar, this.#layers);
    return this.#plainSurround;
  }

  #lit(parts: readonly WordPart[]): State {
    const lit = this.#textOf(parts);
    return { surround: this.#surround(), text: this.#textWithout(parts), lit, emoji: this.#layers.emoji };
  }

  /** On a box, letters have no outline. */
  #boxed(parts: readonly WordPart[]): State {
    const boxes = parts.map(({ box }) => box);
    const isOutline = this.#bar.look.surround === 'outline';
    const surround = isOutline ? surroundOf(this.#bar, this.#without(parts)) : this.#surround();
    return { ...this.#lit(parts), surround, boxes };
  }

  /** The letters of some words. */
  #textOf(parts: readonly WordPart[]): Uint8Array {
    const text = new Uint8Array(this.#layers.text.length);
    for (const { line, cell } of parts) {
      const letters = must(this.#lines[line], 'the letters of the line');
      this.#eachRow(cell, (from, to) => addCoverage(text, letters, from, to));
    }
    return text;
  }

  /** The letters of all other words. */
  #textWithout(parts: readonly WordPart[]): Uint8Array {
    const text = this.#layers.text.slice();
    const rest = this.#lines.map((letters, line) => {
      const others = letters.slice();
      for (const part of parts)
        if (part.line === line) this.#eachRow(part.cell, (from, to) => others.fill(0, from, to));
      return others;
    });
    for (const { cell } of parts) {
      this.#eachRow(cell, (from, to) => {
        text.fill(0, from, to);
        for (const letters of rest) addCoverage(text, letters, from, to);
      });
    }
    return text;
  }

  /** The page without some words, and with a part of them larger. */
  #popped(parts: readonly WordPart[]): State {
    const rest = this.#without(parts);
    const lit = new Uint8Array(rest.text.length);
    const all = { ...rest, text: rest.text.slice(), shape: rest.shape?.slice(), emoji: rest.emoji?.slice() };
    for (const part of parts) {
      const { text, shape, emoji } = this.#paint({ line: part.line, zoom: this.#zoomOf(part) });
      for (let at = 0; at < lit.length; at += 1) {
        lit[at] = Math.max(lit[at] ?? 0, text[at] ?? 0);
        all.text[at] = Math.max(all.text[at] ?? 0, text[at] ?? 0);
        if (shape && all.shape) all.shape[at] = Math.max(all.shape[at] ?? 0, shape[at] ?? 0);
      }
      if (emoji && all.emoji) compositeOver(all.emoji, 0, emoji);
    }
    return { surround: surroundOf(this.#bar, all), text: rest.text, lit, emoji: all.emoji };
  }

  /** Larger around the center of its letters, as far as other words, the canvas and the bar leave room. */
  #zoomOf({ box, cell, gap }: WordPart): WordZoom {
    const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
    const [halfWidth, halfHeight] = [(box.right - box.left) / 2, (box.bottom - box.top) / 2];
    const room = Math.min(
      Math.min(x, this.#width - x) / Math.max(1, halfWidth),
      Math.min(y, this.#bar.height - y) / Math.max(1, halfHeight),
    );
    const beside = 1 + (gap - POP_CLEARANCE * this.#bar.fontSize) / Math.max(1, halfWidth);
    const scale = Math.min(Math.max(beside, POP_SCALE.least), POP_SCALE.most, room);
    return { scale: Math.max(1, scale), x, y, columns: cell };
  }

  #revealed(hidden: readonly WordPart[]): State {
    const layers = this.#without(hidden);
    return { surround: surroundOf(this.#bar, layers), text: layers.text, emoji: layers.emoji };
  }

  /** The layers of the page without some of its words. Labels stay, and outlines of other words, too. */
  #without(parts: readonly WordPart[]): Layers {
    const [text, emoji] = [this.#textWithout(parts), this.#layers.emoji?.slice()];
    for (const { cell } of emoji ? parts : []) {
      this.#eachRow(cell, (from, to, row) => {
        if (row >= cell.top && row < cell.bottom) emoji?.fill(0, from, to);
      });
    }
    const { shape } = this.#layers;
    const isOutline = this.#bar.look.surround === 'outline';
    return { ...this.#layers, text, emoji, shape: isOutline && shape ? this.#outlineAround(text, shape) : shape };
  }

  /** What of an outline is around these letters. */
  #outlineAround(text: Uint8Array, outline: Uint8Array): Uint8Array {
    const { columns, rows } = this.#layers;
    const reach = Math.max(1, OUTLINE_WIDTH * this.#bar.fontSize) + 1;
    const around = grown({ width: columns, height: rows, values: text }, reach);
    return outline.map((coverage, at) => Math.min(coverage, around[at] ?? 0));
  }

  /** Calls back with the range of each row of the layers that is in these columns. */
  #eachRow(box: Columns, use: (from: number, to: number, row: number) => void): void {
    const { left, columns, rows } = this.#layers;
    const [start, end] = [Math.max(0, box.left - left), Math.min(columns, box.right - left)];
    if (start >= end) return;
    for (let row = 0; row < rows; row += 1) use(row * columns + start, row * columns + end, row);
  }

  /** Draws some columns of a state. */
  #draw(
    pixels: Uint8ClampedArray,
    regions: readonly Columns[],
    { surround, boxes = [], text, lit, emoji }: State,
  ): void {
    const { left, columns } = this.#layers;
    const { look, fontSize } = this.#bar;
    const words = wordsOf(pixels);
    const plain = new TextColors(look);
    const colored = new TextColors({ ...look, color: this.#highlight.color });
    const painters = boxes.map((box) => boxPainter(box, this.#highlight.background, BOX_RADIUS * fontSize));
    const isBoxBelow = look.surround === 'outline';
    const drawRow = (from: number, to: number, row: number): void => {
      const column = left + (from % columns);
      const start = row * this.#width + column;
      const line = words.subarray(start, start + to - from).fill(0);
      surround(line, from);
      for (const paintBox of painters) paintBox(line, column, row, isBoxBelow);
      plain.composite(line, text.subarray(from, to));
      if (lit) colored.composite(line, lit.subarray(from, to));
      if (emoji) compositeOver(line, 0, emoji.subarray(from, to));
    };
    for (const region of regions) this.#eachRow(region, drawRow);
  }
}

type Columns = Pick<PixelBox, 'left' | 'right'>;

const ALL_COLUMNS: Columns = { left: 0, right: Number.POSITIVE_INFINITY };

function columnsOf({ cell }: WordPart): Columns {
  return cell;
}

/** Adds letters to those of a mask. */
function addCoverage(mask: Uint8Array, letters: Uint8Array, from: number, to: number): void {
  for (let at = from; at < to; at += 1) {
    const coverage = letters[at] as number;
    if (coverage > (mask[at] as number)) mask[at] = coverage;
  }
}

type BoxPainter = (line: Int32Array, column: number, row: number, isBelow: boolean) => void;

/** Draws a row of a rounded box over, or below, what is there. */
function boxPainter(box: PixelBox, color: Color, radius: number): BoxPainter {
  const shades = wordsByCoverage(color);
  const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  const corner = Math.min(radius, x - box.left, y - box.top);
  const [straightWidth, straightHeight] = [x - box.left - corner, y - box.top - corner];
  return (line, column, row, isBelow) => {
    if (row < box.top || row >= box.bottom) return;
    const dy = Math.max(0, Math.abs(row + 0.5 - y) - straightHeight);
    const [first, last] = [Math.max(0, box.left - column), Math.min(line.length, box.right - column)];
    for (let at = first; at < last; at += 1) {
      const dx = Math.max(0, Math.abs(column + at + 0.5 - x) - straightWidth);
      const coverage = Math.min(1, Math.max(0, corner + 0.5 - Math.hypot(dx, dy)));
      const word = dx > 0 && dy > 0 ? (shades[Math.round(coverage * 255)] ?? 0) : (shades[255] ?? 0);
      const there = line[at] ?? 0;
      if (word !== 0) line[at] = isBelow ? below(word, there) : mix(word, there);
    }
  };
}

function below(word: number, above: number): number {
  return above >>> 24 === 0 ? word : mix(above, word);
}

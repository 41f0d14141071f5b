// Draws glyphs with HarfBuzz to learn how many points they have and where their ink is. What a file claims about the box of a glyph
// isn't read.

import { type HarfBuzz, wasmCallbacks } from './harfbuzz.ts';

/** The points of a glyph with all its components and subroutines, and the box around them in units of the font. */
export interface Outline {
  readonly points: number;
  readonly contours: number;
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
  readonly top: number;
}

/** The callbacks of HarfBuzz, and how many points each of them gets. */
const CALLBACKS = [
  { name: 'move_to', points: 1 },
  { name: 'line_to', points: 1 },
  { name: 'quadratic_to', points: 2 },
  { name: 'cubic_to', points: 3 },
] as const;
/** Pointers to the functions, the data and the state come before the points. */
const ARGUMENTS_BEFORE = 3;

export class OutlineReader {
  readonly #hb: HarfBuzz;
  readonly #functions: number;
  #points = 0;
  #contours = 0;
  readonly #box = { left: 0, bottom: 0, right: 0, top: 0 };

  constructor(hb: HarfBuzz) {
    this.#hb = hb;
    this.#functions = hb.call('hb_draw_funcs_create');
    const counts = CALLBACKS.map(({ points }) => points);
    const pointers = hb.addFunctions(
      wasmCallbacks(
        counts.map((points) => [ARGUMENTS_BEFORE, 2 * points]),
        CALLBACKS.map(({ name, points }) => (...values: number[]) => {
          if (name === 'move_to') this.#contours += 1;
          for (let at = 0; at < points; at += 1) {
            this.#add(values[ARGUMENTS_BEFORE + 2 * at] ?? 0, values[ARGUMENTS_BEFORE + 2 * at + 1] ?? 0);
          }
        }),
      ),
    );
    for (const [index, { name }] of CALLBACKS.entries()) {
      hb.call(`hb_draw_funcs_set_${name}_func`, this.#functions, pointers[index] ?? 0, 0, 0);
    }
  }

  /** Returns undefined for a glyph that can't be drawn. */
  read(font: number, glyph: number): Outline | undefined {
    this.#points = 0;
    this.#contours = 0;
    if (this.#hb.call('hb_font_draw_glyph_or_fail', font, glyph, this.#functions, 0) === 0) return undefined;
    return { points: this.#points, contours: this.#contours, ...this.#box };
  }

  #add(x: number, y: number): void {
    const box = this.#box;
    const isFirst = this.#points === 0;
    this.#points += 1;
    if (isFirst || x < box.left) box.left = x;
    if (isFirst || x > box.right) box.right = x;
    if (isFirst || y < box.bottom) box.bottom = y;
    if (isFirst || y > box.top) box.top = y;
  }
}

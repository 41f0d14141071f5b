// Finds out which characters of a font can be used: those whose glyph has ink of a sensible size.

import { HarfBuzz, tagNumber } from './harfbuzz.ts';
import { MAX_CHARACTERS } from './font-description.ts';
import { damagedFont } from './refusal.ts';

export interface InspectedFont {
  readonly unitsPerEm: number;
  /** In order. */
  readonly characters: readonly number[];
  /** The range of the weight axis, if there is one. */
  readonly weightAxis: WeightAxis | undefined;
}

export interface WeightAxis {
  readonly min: number;
  readonly max: number;
}

/** The weights that styles use. */
export const REGULAR_WEIGHT = 400;
export const BOLD_WEIGHT = 700;

/** No letter has ink farther from its baseline, or is wider, in em. */
const MAX_INK = 2;
const MAX_ADVANCE = 4;
/** A letter without a width of its own would lie on the next one. */
const MIN_ADVANCE = 0.02;
/** Spaces are between these widths. Others come from the default font. */
const MIN_SPACE = 0.05;
const MAX_SPACE = 2;

const SPACE = /^\p{Zs}$/u;
const MARK = /^\p{M}$/u;
/** Characters that are never drawn, and those that no caption contains. */
const UNUSED = /^[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]$/u;

const AXIS_INFO_BYTES = 32;
const EXTENTS_BYTES = 16;
/** Real fonts have up to about 20. */
const MAX_AXES = 64;

export function inspect(file: Uint8Array): InspectedFont {
  const hb = new HarfBuzz('harfbuzz');
  const face = hb.open(file);
  const unitsPerEm = hb.call('hb_face_get_upem', face);
  if (unitsPerEm < 16 || unitsPerEm > 16_384) throw damagedFont('its size is invalid');
  const font = hb.call('hb_font_create', face);
  const weightAxis = weightAxisOf(hb, face);
  if (weightAxis) setWeight(hb, font, clamp(REGULAR_WEIGHT, weightAxis));
  const glyphs = new GlyphReader(hb, font, unitsPerEm);
  return { unitsPerEm, characters: unicodes(hb, face).filter((point) => glyphs.isUsable(point)), weightAxis };
}

export function clamp(value: number, { min, max }: WeightAxis): number {
  return Math.min(max, Math.max(min, value));
}

function unicodes(hb: HarfBuzz, face: number): number[] {
  const set = hb.call('hb_set_create');
  hb.call('hb_face_collect_unicodes', face, set);
  const count = hb.call('hb_set_get_population', set) >>> 0;
  if (count > MAX_CHARACTERS) throw damagedFont('it has too many characters');
  const list = hb.allocate(4 * count + 4);
  const beforeFirst = -1;
  const read = hb.call('hb_set_next_many', set, beforeFirst, list, count);
  const view = hb.view(list, 4 * count);
  return Array.from({ length: Math.min(read, count) }, (_, index) => view.getUint32(4 * index, true));
}

/** Returns the glyph of each of these characters, which the font has. */
export function glyphsOf(file: Uint8Array, characters: readonly number[]): number[] {
  const hb = new HarfBuzz('harfbuzz');
  const glyphs = new GlyphReader(hb, hb.call('hb_font_create', hb.open(file)), 1);
  return characters.map((point) => glyphs.glyphOf(point));
}

class GlyphReader {
  readonly #hb: HarfBuzz;
  readonly #font: number;
  readonly #unitsPerEm: number;
  readonly #result: number;

  constructor(hb: HarfBuzz, font: number, unitsPerEm: number) {
    this.#hb = hb;
    this.#font = font;
    this.#unitsPerEm = unitsPerEm;
    this.#result = hb.allocate(EXTENTS_BYTES);
  }

  isUsable(point: number): boolean {
    const char = String.fromCodePoint(point);
    if (UNUSED.test(char)) return false;
    const glyph = this.glyphOf(point);
    if (glyph === 0) return false;
    const advance = this.#hb.call('hb_font_get_glyph_h_advance', this.#font, glyph) / this.#unitsPerEm;
    if (SPACE.test(char)) return advance >= MIN_SPACE && advance <= MAX_SPACE;
    if (advance > MAX_ADVANCE || advance < (MARK.test(char) ? -MAX_ADVANCE : MIN_ADVANCE)) return false;
    const ink = this.#inkOf(glyph);
    if (ink === undefined || ink.width === 0 || ink.height === 0) return false;
    const isNear = (value: number): boolean => Math.abs(value) <= MAX_INK;
    const [right, bottom] = [ink.left + ink.width - advance, ink.top - ink.height];
    return isNear(ink.left) && isNear(right) && isNear(ink.top) && isNear(bottom);
  }

  /** Returns 0 if there is none. */
  glyphOf(point: number): number {
    const isFound = this.#hb.call('hb_font_get_nominal_glyph', this.#font, point, this.#result) !== 0;
    return isFound ? this.#hb.view(this.#result, 4).getUint32(0, true) : 0;
  }

  /** The box around the ink, in em. */
  #inkOf(glyph: number): { left: number; top: number; width: number; height: number } | undefined {
    if (this.#hb.call('hb_font_get_glyph_extents', this.#font, glyph, this.#result) === 0) return undefined;
    const view = this.#hb.view(this.#result, EXTENTS_BYTES);
    const em = (at: number): number => view.getInt32(at, true) / this.#unitsPerEm;
    return { left: em(0), top: em(4), width: em(8), height: -em(12) };
  }
}

function weightAxisOf(hb: HarfBuzz, face: number): WeightAxis | undefined {
  const list = hb.allocate(AXIS_INFO_BYTES * MAX_AXES + 4);
  const count = list + AXIS_INFO_BYTES * MAX_AXES;
  hb.view(count, 4).setUint32(0, MAX_AXES, true);
  const total = hb.call('hb_ot_var_get_axis_infos', face, 0, count, list) >>> 0;
  if (total > MAX_AXES) throw damagedFont(`it has ${total} variation axes`);
  const view = hb.view(list, AXIS_INFO_BYTES * MAX_AXES);
  for (let at = 0; at < total * AXIS_INFO_BYTES; at += AXIS_INFO_BYTES) {
    if (view.getUint32(at + 4, true) !== tagNumber('wght')) continue;
    const [min, max] = [view.getFloat32(at + 16, true), view.getFloat32(at + 24, true)];
    if (!(min >= 1 && max <= 1_000 && min <= max)) throw damagedFont('its weights are invalid');
    return { min, max };
  }
  return undefined;
}

function setWeight(hb: HarfBuzz, font: number, weight: number): void {
  const variation = hb.allocate(8);
  const view = hb.view(variation, 8);
  view.setUint32(0, tagNumber('wght'), true);
  view.setFloat32(4, weight, true);
  hb.call('hb_font_set_variations', font, variation, 1);
}

// Refuses fonts that would make layout or drawing slow: glyphs with very many points or far away ink, and characters that
// substitutions and positioning make very long.

import { FontReader } from './font-bytes.ts';
import { HarfBuzz } from './harfbuzz.ts';
import { type Outline, OutlineReader } from './outlines.ts';
import { damagedFont, excessiveFont } from './refusal.ts';
import { largestGrowth } from './samples.ts';
import { readSfnt } from './sfnt.ts';

/** Of one glyph. Those of real fonts have up to about 4,000 points, in drawn letters, and 200 contours, in symbols. */
const MAX_POINTS = 5_000;
const MAX_CONTOURS = 500;
/** Of all glyphs together. Real fonts have up to about 6 million, with Chinese characters. */
const MAX_ALL_POINTS = 20_000_000;
/** How far ink may be above or below the baseline, or beside the width of its glyph, in em. Real fonts have up to 2.3. */
const MAX_INK = 3;
/** Of one glyph, in em. Ligatures of whole sentences are the widest. */
const MAX_ADVANCE = 16;
/** What may become of one character: glyphs, and their width in em. Real fonts have up to 3 of both. */
const MAX_GROWTH = 16;
const MAX_WIDTH = 5;

/** The font has no variations, and only glyphs that text can lead to. */
export function assertModest(file: Uint8Array, characters: readonly number[]): void {
  const hb = new HarfBuzz('harfbuzz');
  const face = hb.open(file);
  const font = hb.call('hb_font_create', face);
  const unitsPerEm = hb.call('hb_face_get_upem', face);
  const glyphs = new FontReader(readSfnt(file).get('maxp') ?? new Uint8Array(), 4).uint16();
  const outlines = new OutlineReader(hb);
  let points = 0;
  for (let glyph = 0; glyph < glyphs; glyph += 1) {
    const outline = outlines.read(font, glyph);
    if (outline === undefined) throw damagedFont(`the outline of glyph ${glyph} is invalid`);
    assertGlyph(outline, hb.call('hb_font_get_glyph_h_advance', font, glyph), unitsPerEm);
    points += outline.points;
    if (points > MAX_ALL_POINTS) throw excessiveFont('The font has', points, MAX_ALL_POINTS, 'points');
  }
  const growth = largestGrowth(hb, font, characters);
  const width = growth.width / unitsPerEm;
  if (growth.glyphs > MAX_GROWTH)
    throw excessiveFont('A character of the font can become', growth.glyphs, MAX_GROWTH, 'glyphs');
  if (width > MAX_WIDTH) throw excessiveFont('A character of the font can become', width, MAX_WIDTH, 'em wide');
}

function assertGlyph({ points, contours, ...ink }: Outline, advance: number, em: number): void {
  if (points > MAX_POINTS) throw excessiveFont('A glyph of the font has', points, MAX_POINTS, 'points');
  if (contours > MAX_CONTOURS) throw excessiveFont('A glyph of the font has', contours, MAX_CONTOURS, 'contours');
  if (advance > MAX_ADVANCE * em) throw excessiveFont('A glyph of the font is', advance / em, MAX_ADVANCE, 'em wide');
  if (points === 0) return;
  const farthest = Math.max(-ink.left, ink.right - advance, ink.top, -ink.bottom) / em;
  if (farthest > MAX_INK)
    throw excessiveFont('A glyph of the font has ink', farthest, MAX_INK, 'em away from its place');
}

// Refuses fonts that would make layout or drawing slow: outlines with very many points, and characters that substitutions and
// positioning make very long. Everything is checked for the glyphs that text can lead to, in whatever order and context.

import { FontReader } from './font-bytes.ts';
import { HarfBuzz } from './harfbuzz.ts';
import { glyphsOf } from './inspect.ts';
import { type Outline, OutlineReader } from './outlines.ts';
import { boundAdvances } from './positions.ts';
import { damagedFont, excessiveFont } from './refusal.ts';
import { readSfnt } from './sfnt.ts';
import { boundGrowth, readSubstitutions, substitutes } from './substitutions.ts';

/** Of one glyph. Those of real fonts have up to about 4,000 points, in drawn letters, and 200 contours, in symbols. */
const MAX_POINTS = 5_000;
const MAX_CONTOURS = 500;
/** Of all glyphs together. Real fonts have up to about 6 million, with Chinese characters. */
const MAX_ALL_POINTS = 20_000_000;
/** How far ink may be above or below the baseline, or beside the width of its glyph, in em. Real fonts have up to 2.3. */
const MAX_INK = 3;
/** What may become of one character: glyphs, most of them marks, and their width in em. Real fonts have up to 21 and 3.3. */
const MAX_GROWTH = 64;
const MAX_WIDTH = 5;

/** The font has no variations. */
export function assertModest(file: Uint8Array, characters: readonly number[]): void {
  const tables = readSfnt(file);
  const hb = new HarfBuzz('harfbuzz');
  const face = hb.open(file);
  const font = hb.call('hb_font_create', face);
  const unitsPerEm = hb.call('hb_face_get_upem', face);
  const glyphs = new FontReader(tables.get('maxp') ?? new Uint8Array(), 4).uint16();
  const gsub = tables.get('GSUB');
  const substitutions = gsub && readSubstitutions(gsub);
  const mapped = glyphsOf(file, characters);
  const advances = Float64Array.from({ length: glyphs }, (_, glyph) =>
    hb.call('hb_font_get_glyph_h_advance', font, glyph),
  );
  const outlines = new OutlineReader(hb);
  let points = 0;
  for (const glyph of new Set([...mapped, ...(substitutions ? substitutes(substitutions) : [])])) {
    const outline = outlines.read(font, glyph);
    if (outline === undefined) throw damagedFont(`the outline of glyph ${glyph} is invalid`);
    assertOutline(outline, advances[glyph] ?? 0, unitsPerEm);
    points += outline.points;
    if (points > MAX_ALL_POINTS) throw excessiveFont('The font has', points, MAX_ALL_POINTS, 'points');
  }
  const gpos = tables.get('GPOS');
  const widest = gpos ? boundAdvances(advances, gpos) : advances;
  const widths = widest.map((advance) => Math.max(0, advance) / unitsPerEm);
  const most = (sizes: Float64Array): number => {
    const bounds = substitutions ? boundGrowth(sizes, substitutions) : sizes;
    return mapped.reduce((largest, glyph) => Math.max(largest, bounds[glyph] ?? 0), 0);
  };
  const [growth, width] = [most(new Float64Array(glyphs).fill(1)), most(widths)];
  if (growth > MAX_GROWTH) throw excessiveFont('A character of the font can become', growth, MAX_GROWTH, 'glyphs');
  if (width > MAX_WIDTH) throw excessiveFont('A character of the font can become', width, MAX_WIDTH, 'em wide');
}

function assertOutline({ points, contours, left, right, top, bottom }: Outline, advance: number, em: number): void {
  if (points > MAX_POINTS) throw excessiveFont('A glyph of the font has', points, MAX_POINTS, 'points');
  if (contours > MAX_CONTOURS) throw excessiveFont('A glyph of the font has', contours, MAX_CONTOURS, 'contours');
  if (points === 0) return;
  const farthest = Math.max(-left, right - advance, top, -bottom) / em;
  if (farthest > MAX_INK)
    throw excessiveFont('A glyph of the font has ink', farthest, MAX_INK, 'em away from its place');
}

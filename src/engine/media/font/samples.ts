// Shapes samples of text with HarfBuzz to learn what the layout tables of a font make of its characters: each character alone, in a
// row, and beside the characters near it, which are usually of its script. Longer contexts aren't tried. HarfBuzz itself bounds what
// they can do, and the processor budget ends renders that take too long.

import type { HarfBuzz } from './harfbuzz.ts';

/** What became of one character: the number of glyphs, and their width in units of the font. */
interface Growth {
  readonly glyphs: number;
  readonly width: number;
}

const REPEATS = 20;
/** The characters that each one is paired with. Fonts with very many have few rules for pairs. */
const MAX_NEIGHBORS = 64;
const MAX_PAIRS = 60_000;
/** Of a glyph and of a position, in the memory of HarfBuzz. */
const ENTRY_BYTES = 20;
const CLUSTER_AT = 8;

/** Returns the most glyphs and the largest width that a character becomes in any sample. */
export function largestGrowth(hb: HarfBuzz, font: number, characters: readonly number[]): Growth {
  const buffer = hb.call('hb_buffer_create');
  const text = hb.allocate(4 * Math.max(REPEATS, 2 * MAX_NEIGHBORS));
  let [glyphs, width] = [0, 0];
  for (const sample of samplesOf(characters)) {
    const view = hb.view(text, 4 * sample.length);
    for (const [index, point] of sample.entries()) view.setUint32(4 * index, point, true);
    hb.call('hb_buffer_reset', buffer);
    hb.call('hb_buffer_add_codepoints', buffer, text, sample.length, 0, sample.length);
    hb.call('hb_buffer_guess_segment_properties', buffer);
    hb.call('hb_shape', font, buffer, 0, 0);
    for (const growth of growthsIn(hb, buffer, sample.length)) {
      glyphs = Math.max(glyphs, growth.glyphs);
      width = Math.max(width, growth.width);
    }
  }
  return { glyphs, width };
}

function* samplesOf(characters: readonly number[]): Generator<number[]> {
  const neighbors = Math.min(MAX_NEIGHBORS, Math.ceil(MAX_PAIRS / characters.length));
  for (const [index, point] of characters.entries()) {
    yield [point];
    yield Array.from({ length: REPEATS }, () => point);
    yield characters.slice(index + 1, index + 1 + neighbors).flatMap((other) => [point, other]);
  }
}

/** What each character became. Glyphs that came from several characters are shared among them. */
function growthsIn(hb: HarfBuzz, buffer: number, characters: number): Growth[] {
  const count = hb.call('hb_buffer_get_length', buffer) >>> 0;
  const infos = hb.view(hb.call('hb_buffer_get_glyph_infos', buffer, 0) >>> 0, ENTRY_BYTES * count);
  const positions = hb.view(hb.call('hb_buffer_get_glyph_positions', buffer, 0) >>> 0, ENTRY_BYTES * count);
  const clusters = new Map<number, { glyphs: number; width: number }>();
  for (let at = 0; at < count * ENTRY_BYTES; at += ENTRY_BYTES) {
    const first = infos.getUint32(at + CLUSTER_AT, true);
    const cluster = clusters.get(first) ?? { glyphs: 0, width: 0 };
    cluster.glyphs += 1;
    cluster.width += Math.max(0, positions.getInt32(at, true));
    clusters.set(first, cluster);
  }
  const starts = [...clusters.keys(), characters].toSorted((a, b) => a - b);
  return starts.slice(0, -1).map((start, index) => {
    const shared = (starts[index + 1] ?? characters) - start;
    const { glyphs, width } = clusters.get(start) ?? { glyphs: 0, width: 0 };
    return { glyphs: glyphs / shared, width: width / shared };
  });
}

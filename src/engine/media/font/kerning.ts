// Kerning of fonts from before OpenType layout, which is in a table `kern`. The subsetter drops that table, so its pairs are read
// here and written anew for the glyphs of the new font. Only the kind that Windows supports is read: horizontal lists of pairs.

import { FontReader, FontWriter } from './font-bytes.ts';

/** The glyph of the written font for a glyph of the uploaded one. */
export type NewGlyphs = ReadonlyMap<number, number>;

type Pair = readonly [glyphs: number, distance: number];

const HEADER_BYTES = 4;
const LIST_HEADER_BYTES = 14;
const PAIR_BYTES = 6;
/** Real fonts have up to about 30,000. */
const MAX_PAIRS = 100_000;
/** As many as the length of a list, a 16-bit number, allows. */
const PAIRS_PER_LIST = 10_000;
/** The format is 0, the direction horizontal, and the numbers are distances along the line. */
const PLAIN_LIST = 1;
const KIND_BITS = 0xff_07;
const GLYPHS = 0x1_0000;

/** Of a damaged table, keeps the pairs before the damage. Returns undefined if no pair is left. */
export function rewriteKerning(kern: Uint8Array, glyphs: NewGlyphs, unitsPerEm: number): Uint8Array | undefined {
  const distances = new Map<number, number>();
  for (const [pair, distance] of pairsIn(kern)) {
    const [left, right] = [glyphs.get(Math.floor(pair / GLYPHS)), glyphs.get(pair % GLYPHS)];
    if (left === undefined || right === undefined) continue;
    const key = left * GLYPHS + right;
    distances.set(key, (distances.get(key) ?? 0) + distance);
    if (distances.size > MAX_PAIRS) return undefined;
  }
  // No pair of letters is moved by a whole em.
  const kept = [...distances].filter(([, distance]) => distance !== 0 && Math.abs(distance) <= unitsPerEm);
  return kept.length === 0 ? undefined : written(kept.toSorted(([a], [b]) => a - b));
}

function* pairsIn(kern: Uint8Array): Generator<Pair> {
  if (kern.length < HEADER_BYTES) return;
  const reader = new FontReader(kern);
  const [version, lists] = [reader.uint16(), reader.uint16()];
  if (version !== 0) return;
  for (let list = 0; list < lists && kern.length - reader.at >= LIST_HEADER_BYTES; list += 1) {
    reader.skip(2);
    const [length, kind, count] = [reader.uint16(), reader.uint16(), reader.uint16()];
    if ((kind & KIND_BITS) === PLAIN_LIST) {
      reader.skip(6);
      // The length of a long list overflows, so only the number of its pairs says where it ends.
      const present = Math.min(count, Math.floor((kern.length - reader.at) / PAIR_BYTES));
      for (let index = 0; index < present; index += 1) yield [reader.uint32(), reader.int16()];
    } else {
      const rest = length - 8;
      if (rest < 0 || rest > kern.length - reader.at) return;
      reader.skip(rest);
    }
  }
}

function written(pairs: readonly Pair[]): Uint8Array {
  const writer = new FontWriter(HEADER_BYTES + pairs.length * PAIR_BYTES);
  writer.uint16(0);
  writer.uint16(Math.ceil(pairs.length / PAIRS_PER_LIST));
  for (let from = 0; from < pairs.length; from += PAIRS_PER_LIST) {
    const list = pairs.slice(from, from + PAIRS_PER_LIST);
    const power = 2 ** Math.floor(Math.log2(list.length));
    const search = [power * PAIR_BYTES, Math.log2(power), (list.length - power) * PAIR_BYTES];
    const length = LIST_HEADER_BYTES + list.length * PAIR_BYTES;
    for (const value of [0, length, PLAIN_LIST, list.length, ...search]) writer.uint16(value);
    for (const [glyphs, distance] of list) {
      writer.uint32(glyphs);
      writer.int16(distance);
    }
  }
  return writer.finish();
}

// Bounds the advance of each glyph after positioning, whatever text it is in. Each lookup is applied to a glyph once, and a context
// applies a number of them.

import { FontReader } from './font-bytes.ts';
import { coverageOf, type Lookup, MAX_CONTEXT_DEPTH, readLayoutTable, type Subtable } from './layout-table.ts';
import { damagedFont } from './refusal.ts';

/** What is added to the advance of glyphs. */
interface Widening {
  readonly byGlyph: Map<number, number>;
  /** For any glyph. */
  anywhere: number;
}

const TYPES = { context: 7, chain: 8, extension: 9 };
const [SINGLE, CURSIVE] = [1, 3];
const X_ADVANCE = 0x4;
/** Coverages can be shared, so a small file can have many. Real fonts have up to about 100,000. */
const MAX_COVERED = 2_000_000;

/** Returns the bounds of advances in units of the font. */
export function boundAdvances(advances: Float64Array, gpos: Uint8Array): Float64Array {
  const { lookups, features } = readLayoutTable(gpos, TYPES);
  let left = MAX_COVERED;
  const joined = advances.slice();
  const own = lookups.map(({ subtables }) => {
    const widening: Widening = { byGlyph: new Map(), anywhere: 0 };
    for (const subtable of subtables) {
      if (subtable.type > CURSIVE) continue;
      const covered = coverageOf(subtable);
      left -= covered.length;
      if (left < 0) throw damagedFont('its layout tables are too large');
      if (subtable.type === CURSIVE) {
        // Joining glyphs takes the place of their advance.
        const advance = widestAnchor(subtable);
        for (const glyph of covered) joined[glyph] = Math.max(advance, joined[glyph] ?? 0);
      } else {
        const { first, following } = widestIn(subtable);
        for (const glyph of covered) widening.byGlyph.set(glyph, Math.max(first, widening.byGlyph.get(glyph) ?? 0));
        widening.anywhere = Math.max(following, widening.anywhere);
      }
    }
    return widening;
  });
  for (const index of new Set([...features.values()].flatMap((list) => [...list]))) {
    const { byGlyph, anywhere } = withContexts(lookups, own, index);
    for (const [glyph, units] of byGlyph) joined[glyph] = (joined[glyph] ?? 0) + units;
    for (let glyph = 0; glyph < (anywhere === 0 ? 0 : joined.length); glyph += 1) {
      joined[glyph] = (joined[glyph] ?? 0) + anywhere;
    }
  }
  return joined;
}

/** Of the rules of contexts, one applies, and moves each of its glyphs by what it applies there. */
function withContexts(lookups: readonly Lookup[], own: readonly Widening[], index: number): Widening {
  const widest: Widening = { byGlyph: new Map(own[index]?.byGlyph), anywhere: own[index]?.anywhere ?? 0 };
  const { contexts = [] } = lookups[index] ?? {};
  for (const applications of contexts) {
    const places = new Map<number, number[]>();
    let anywhere = 0;
    for (const { lookup, from } of applications) {
      // A context that is applied by another one can reach any glyph.
      if ((lookups[lookup]?.contexts.length ?? 0) > 0) anywhere += widestOf(lookups, own, lookup, 1);
      else places.set(from, [...(places.get(from) ?? []), lookup]);
    }
    for (const place of places.values()) {
      const sums = new Map<number, number>();
      for (const lookup of place) {
        anywhere += own[lookup]?.anywhere ?? 0;
        for (const [glyph, units] of own[lookup]?.byGlyph ?? []) sums.set(glyph, units + (sums.get(glyph) ?? 0));
      }
      for (const [glyph, sum] of sums) widest.byGlyph.set(glyph, Math.max(sum, widest.byGlyph.get(glyph) ?? 0));
    }
    widest.anywhere = Math.max(anywhere, widest.anywhere);
  }
  return widest;
}

/** All that a lookup adds when it is applied once. */
function widestOf(lookups: readonly Lookup[], own: readonly Widening[], index: number, depth: number): number {
  if (depth > MAX_CONTEXT_DEPTH) throw damagedFont('its contextual rules apply each other');
  const { byGlyph = new Map<number, number>(), anywhere = 0 } = own[index] ?? {};
  let most = 0;
  for (const units of byGlyph.values()) most = Math.max(most, units);
  most += anywhere;
  for (const applications of lookups[index]?.contexts ?? []) {
    const sum = applications.reduce((total, { lookup }) => total + widestOf(lookups, own, lookup, depth + 1), 0);
    most = Math.max(most, sum);
  }
  return most;
}

interface Widest {
  readonly first: number;
  readonly following: number;
}

function widestIn(subtable: Subtable): Widest {
  const { type, format, table, at } = subtable;
  const reader = new FontReader(table, at + 4);
  if (type === SINGLE) {
    const values = reader.uint16();
    const count = format === 1 ? 1 : reader.uint16();
    return widestRecord(reader, count, 0, values, 0);
  }
  return widestPair(subtable, reader);
}

function widestPair({ format, table, at }: Subtable, reader: FontReader): Widest {
  const [values, others] = [reader.uint16(), reader.uint16()];
  if (format === 2) {
    reader.skip(4);
    return widestRecord(reader, reader.uint16() * reader.uint16(), 0, values, others);
  }
  const sets = new Set(Array.from({ length: reader.uint16() }, () => at + reader.uint16()));
  const widest = [...sets].map((set) => {
    const pairs = new FontReader(table, set);
    return widestRecord(pairs, pairs.uint16(), 2, values, others);
  });
  return {
    first: widest.reduce((most, { first }) => Math.max(most, first), 0),
    following: widest.reduce((most, { following }) => Math.max(most, following), 0),
  };
}

/** Records of values for one or two glyphs, behind `skipped` bytes each. */
function widestRecord(reader: FontReader, count: number, skipped: number, values: number, others: number): Widest {
  let [first, following] = [0, 0];
  for (let left = values === 0 && others === 0 ? 0 : count; left > 0; left -= 1) {
    reader.skip(skipped);
    first = Math.max(first, advanceIn(reader, values));
    following = Math.max(following, advanceIn(reader, others));
  }
  return { first, following };
}

/** Each bit of the format stands for a number. */
function advanceIn(reader: FontReader, format: number): number {
  let advance = 0;
  for (let bit = 1; bit <= 0x80; bit <<= 1) {
    if ((format & bit) === 0) continue;
    const value = reader.int16();
    if (bit === X_ADVANCE) advance = value;
  }
  return advance;
}

/** Glyphs that are joined are as wide as the places where they join are apart. */
function widestAnchor({ table, at }: Subtable): number {
  const reader = new FontReader(table, at + 4);
  let most = 0;
  const anchors = new Set(Array.from({ length: 2 * reader.uint16() }, () => reader.uint16()));
  for (const offset of anchors) {
    if (offset !== 0) most = Math.max(most, Math.abs(new FontReader(table, at + offset + 2).int16()));
  }
  return most;
}

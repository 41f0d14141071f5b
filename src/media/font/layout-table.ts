// Reads the parts that the OpenType tables `GSUB` and `GPOS` have in common. The subsetter has written them, so they are in order.

import { FontReader } from './font-bytes.ts';
import { damagedFont } from './refusal.ts';

export interface Subtable {
  readonly type: number;
  readonly format: number;
  /** The whole `GSUB` or `GPOS`. */
  readonly table: Uint8Array;
  readonly at: number;
}

export interface Lookup {
  /** Without contexts. */
  readonly subtables: readonly Subtable[];
  /** The distinct lists of other lookups that the rules of contexts apply. */
  readonly contexts: readonly (readonly Application[])[];
  /** The most glyphs that a context is for. */
  readonly glyphs: number;
  /** Says which glyphs are skipped. */
  readonly flags: string;
}

/** A lookup that a context applies. */
export interface Application {
  readonly lookup: number;
  /** The place of a glyph in the context. */
  readonly from: number;
  /** The number of glyphs from there to the end of the context. */
  readonly reach: number;
}

export interface LayoutTable {
  readonly lookups: readonly Lookup[];
  /** The lookups of each feature, by its tag. */
  readonly features: ReadonlyMap<string, ReadonlySet<number>>;
}

/** The types that name other lookups: by a context, by what is around it too, and by an offset of 32 bits. */
export interface LookupTypes {
  readonly context: number;
  readonly chain: number;
  readonly extension: number;
}

/** Tables can be shared, so a small file can have many. Real fonts have up to about 20,000. */
const MAX_TABLES = 200_000;
/** Contexts of real fonts apply others to a depth of 2. */
export const MAX_CONTEXT_DEPTH = 4;

export function readLayoutTable(table: Uint8Array, types: LookupTypes): LayoutTable {
  const header = new FontReader(table, 6);
  const [features, list] = [header.uint16(), header.uint16()];
  let left = MAX_TABLES;
  const count = (): void => {
    left -= 1;
    if (left < 0) throw damagedFont('its layout tables are too large');
  };
  const lookups = offsetsAt(table, list, list).map((at) => lookupAt(table, at, types, count));
  return { lookups, features: featuresAt(table, features) };
}

function lookupAt(table: Uint8Array, at: number, types: LookupTypes, count: () => void): Lookup {
  const subtables: Subtable[] = [];
  const contexts = new Map<string, readonly Application[]>();
  let most = 0;
  for (const subtable of subtablesAt(table, at, types)) {
    count();
    if (subtable.type !== types.context && subtable.type !== types.chain) subtables.push(subtable);
    else {
      for (const { glyphs, applications } of contextRules(subtable, subtable.type === types.chain)) {
        count();
        most = Math.max(most, glyphs);
        contexts.set(applications.map(({ lookup, from, reach }) => `${lookup} ${from} ${reach}`).join(), applications);
      }
    }
  }
  return { subtables, contexts: [...contexts.values()], glyphs: most, flags: flagsAt(table, at) };
}

/**
 * How often a lookup reaches the same glyph where a context applies it. A context that reaches beyond the one that applies it can
 * come back to each glyph as often as it is long.
 */
export function timesApplied(outer: Lookup, inner: Lookup, { reach }: Application): number {
  const isInside = inner.contexts.length === 0 || (inner.glyphs <= reach && inner.flags === outer.flags);
  return isInside ? 1 : inner.glyphs;
}

function flagsAt(table: Uint8Array, lookup: number): string {
  const reader = new FontReader(table, lookup + 2);
  const flags = reader.uint16();
  const hasFilter = (flags & 0x10) !== 0;
  reader.skip(2 * reader.uint16());
  return hasFilter ? `${flags} ${reader.uint16()}` : `${flags}`;
}

function subtablesAt(table: Uint8Array, lookup: number, { extension }: LookupTypes): Subtable[] {
  const type = new FontReader(table, lookup).uint16();
  return offsetsAt(table, lookup + 4, lookup).map((offset) => {
    const reader = new FontReader(table, offset);
    const format = reader.uint16();
    if (type !== extension) return { type, format, table, at: offset };
    const [wrapped, at] = [reader.uint16(), offset + reader.uint32()];
    return { type: wrapped, format: new FontReader(table, at).uint16(), table, at };
  });
}

function featuresAt(table: Uint8Array, at: number): Map<string, Set<number>> {
  const features = new Map<string, Set<number>>();
  const reader = new FontReader(table, at);
  for (let left = reader.uint16(); left > 0; left -= 1) {
    const [tag, offset] = [reader.tag(), at + reader.uint16()];
    const lookups = features.get(tag) ?? new Set();
    for (const lookup of numbersAt(table, offset + 2)) lookups.add(lookup);
    features.set(tag, lookups);
  }
  return features;
}

interface ContextRule {
  readonly glyphs: number;
  readonly applications: readonly Application[];
}

function* contextRules({ format, table, at }: Subtable, isChain: boolean): Generator<ContextRule> {
  if (format === 3) {
    yield contextRule(new FontReader(table, at + 2), isChain, 0);
    return;
  }
  const classes = format === 1 ? 0 : isChain ? 3 : 1;
  for (const set of offsetsAt(table, at + 4 + 2 * classes, at)) {
    if (set === at) continue;
    for (const rule of offsetsAt(table, set, set)) yield contextRule(new FontReader(table, rule), isChain, 1);
  }
}

/** `implied` glyphs of the input aren't written, because the coverage says them. */
function contextRule(reader: FontReader, isChain: boolean, implied: number): ContextRule {
  const skip = (count: number): void => reader.skip(2 * Math.max(0, count));
  if (isChain) skip(reader.uint16());
  const glyphs = reader.uint16();
  const records = isChain ? undefined : reader.uint16();
  skip(glyphs - implied);
  if (isChain) skip(reader.uint16());
  const applications = Array.from({ length: records ?? reader.uint16() }, () => {
    const from = reader.uint16();
    return { lookup: reader.uint16(), from, reach: glyphs - from };
  });
  return { glyphs, applications };
}

/** A count and as many 16-bit numbers. */
export function numbersAt(table: Uint8Array, at: number): number[] {
  const reader = new FontReader(table, at);
  return Array.from({ length: reader.uint16() }, () => reader.uint16());
}

/** A count and as many offsets from `start`. */
export function offsetsAt(table: Uint8Array, at: number, start: number): number[] {
  return numbersAt(table, at).map((offset) => start + offset);
}

/** The glyphs that a subtable is for, in order. */
export function coverageOf({ table, at }: Subtable): number[] {
  const coverage = at + new FontReader(table, at + 2).uint16();
  const reader = new FontReader(table, coverage);
  if (reader.uint16() === 1) return numbersAt(table, coverage + 2);
  const glyphs: number[] = [];
  for (let left = reader.uint16(); left > 0; left -= 1) {
    const [first, last] = [reader.uint16(), reader.uint16()];
    reader.skip(2);
    for (let glyph = first; glyph <= last; glyph += 1) glyphs.push(glyph);
    if (glyphs.length > 0x1_0000) throw damagedFont('its layout tables contradict each other');
  }
  return glyphs;
}

// Builds small fonts from a description, for tests of what a hostile font may contain.

import { FontWriter } from '../src/engine/media/font/font-bytes.ts';
import { writeSfnt } from '../src/engine/media/font/sfnt.ts';

const UNITS_PER_EM = 1_000;

type Point = readonly [x: number, y: number];
export type Contour = readonly Point[];

export interface BuiltGlyph {
  readonly advance: number;
  readonly contours?: readonly Contour[];
  /** Glyphs that this one consists of, instead of contours. */
  readonly components?: readonly number[];
  /** The box that the glyph claims, if it isn't the true one. */
  readonly claimedBox?: readonly [left: number, bottom: number, right: number, top: number];
}

export interface BuiltFont {
  /** Glyph 0 is added before these, and has no ink. */
  readonly glyphs: readonly BuiltGlyph[];
  /** The characters of the glyphs from 1 on. */
  readonly characters: string;
  readonly gsub?: Buffer;
  readonly gpos?: Buffer;
  /** The charstrings of the glyphs from 1 on, which take the place of their contours. */
  readonly charstrings?: readonly Buffer[];
  /** The global subroutines of the charstrings. */
  readonly subroutines?: readonly Buffer[];
  readonly unitsPerEm?: number;
}

/** A square of this size on the baseline. */
export function square(size: number, left = 50, bottom = 0): Contour {
  const [right, top] = [left + size, bottom + size];
  return [
    [left, bottom],
    [left, top],
    [right, top],
    [right, bottom],
  ];
}

/** The glyph of a usual letter. */
export const LETTER: BuiltGlyph = { advance: 600, contours: [square(500)] };

export function buildFont(font: BuiltFont): Buffer {
  const { gsub, gpos, charstrings, subroutines = [], unitsPerEm = UNITS_PER_EM } = font;
  const glyphs = [{ advance: 500 }, ...font.glyphs];
  const outlines = glyphs.map(outlineOf);
  const ends = outlines.map((_, index) => outlines.slice(0, index + 1).reduce((sum, { length }) => sum + length, 0));
  const drawn: [string, Buffer][] =
    charstrings === undefined
      ? [
          ['glyf', Buffer.concat([...outlines, Buffer.alloc(4)])],
          ['loca', concat(0, ...ends)],
        ]
      : [['CFF ', cffTable([Buffer.of(14), ...charstrings], subroutines)]];
  const metrics = node(...glyphs.flatMap(({ advance }) => [advance, 0]));
  return Buffer.from(
    writeSfnt(
      new Map<string, Buffer>([
        ['head', headTable(unitsPerEm)],
        ['hhea', Buffer.concat([node(1, 0, 800, -200, 0, 0xffff), Buffer.alloc(22), node(glyphs.length)])],
        ['maxp', Buffer.concat([node(charstrings ? 0 : 1, charstrings ? 0x5000 : 0, glyphs.length), Buffer.alloc(26)])],
        ['hmtx', metrics],
        ['cmap', cmapTable(font.characters)],
        ...drawn,
        ...(gsub ? ([['GSUB', gsub]] as const) : []),
        ...(gpos ? ([['GPOS', gpos]] as const) : []),
      ]),
    ),
  );
}

/** A table of 16-bit numbers, and of offsets to the tables inside it. */
export function node(...items: readonly (number | Buffer)[]): Buffer {
  const writer = new FontWriter();
  let offset = 2 * items.length;
  for (const item of items) {
    writer.uint16((typeof item === 'number' ? item : offset) & 0xffff);
    if (typeof item !== 'number') offset += item.length;
  }
  for (const item of items) if (typeof item !== 'number') writer.bytes(item);
  if (offset > 0xffff && items.some((item) => typeof item !== 'number')) throw new Error('the table is too large');
  return Buffer.from(writer.finish());
}

const tag = (text: string): number[] => [0, 2].map((at) => Buffer.from(text, 'latin1').readUInt16BE(at));

interface BuiltFeature {
  readonly tag: string;
  readonly lookups: readonly number[];
}

/** A table `GSUB` or `GPOS` for all scripts. */
export function layoutTable(features: readonly BuiltFeature[], lookups: readonly Buffer[]): Buffer {
  const language = node(0, 0xffff, features.length, ...features.keys());
  const scripts = node(1, ...tag('DFLT'), node(language, 0));
  const list = features.flatMap((feature) => [
    ...tag(feature.tag),
    node(0, feature.lookups.length, ...feature.lookups),
  ]);
  return node(1, 0, scripts, node(features.length, ...list), node(lookups.length, ...lookups));
}

export const lookup = (type: number, ...subtables: readonly Buffer[]): Buffer =>
  node(type, 0, subtables.length, ...subtables);
const coverage = (...glyphs: readonly number[]): Buffer => node(1, glyphs.length, ...glyphs);
const times = (count: number, glyph: number): number[] => Array.from({ length: count }, () => glyph);

/** Replaces a glyph by another one. */
export const single = (from: number, to: number): Buffer => lookup(1, node(2, coverage(from), 1, to));
/** Replaces a glyph by a number of others. */
export const multiple = (from: number, to: number, count: number): Buffer =>
  lookup(2, node(1, coverage(from), 1, node(count, ...times(count, to))));
/** Replaces glyphs by one. */
export const ligature = ([first = 0, ...others]: readonly number[], to: number): Buffer =>
  lookup(4, node(1, coverage(first), 1, node(1, node(to, others.length + 1, ...others))));
/** Applies lookups to the first of some glyphs in a row. `type` is 5 in `GSUB` and 7 in `GPOS`. */
export const context = (type: number, glyphs: readonly number[], lookups: readonly number[]): Buffer => {
  const records = lookups.flatMap((index) => [0, index]);
  return lookup(type, node(3, glyphs.length, lookups.length, ...glyphs.map((glyph) => coverage(glyph)), ...records));
};
/** Moves a glyph, and what follows it. */
export const adjust = (glyph: number, up: number, advance: number): Buffer =>
  lookup(1, node(1, coverage(glyph), 0x6, up, advance));
/** Moves the second of two glyphs. */
export const kern = (first: number, second: number, advance: number): Buffer =>
  lookup(2, node(1, coverage(first), 0x4, 0, 1, node(1, second, advance)));
/** Joins a glyph to the one before it, and moves it up. */
export const cursive = (glyph: number, along: number, up: number): Buffer =>
  lookup(3, node(1, coverage(glyph), 1, node(1, 0, 0), node(1, along, up)));

/** Numbers and operators of a charstring. */
export function charstring(
  ...items: readonly (number | 'rmoveto' | 'rlineto' | 'callgsubr' | 'return' | 'endchar')[]
): Buffer {
  const operators = { rmoveto: 21, rlineto: 5, callgsubr: 29, return: 11, endchar: 14 };
  return Buffer.concat(
    items.map((item) =>
      typeof item === 'number' ? Buffer.concat([Buffer.of(28), node(item)]) : Buffer.of(operators[item]),
    ),
  );
}

function outlineOf({ contours, components, claimedBox }: BuiltGlyph): Buffer {
  if (components !== undefined) {
    const [more, wordArguments] = [0x20, 0x1 | 0x2];
    const parts = components.map((glyph, index) =>
      node(wordArguments | (index < components.length - 1 ? more : 0), glyph, 0, 0),
    );
    return padded(Buffer.concat([node(-1, ...(claimedBox ?? [0, 0, 500, 500])), ...parts]));
  }
  if (contours === undefined) return Buffer.alloc(0);
  const points = contours.flat();
  const [across, up] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const least = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b), 0x7fff);
  const most = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), -0x8000);
  const box = claimedBox ?? [least(across), least(up), most(across), most(up)];
  let end = -1;
  const ends = contours.map((contour) => (end += contour.length));
  const steps = (values: readonly number[]): Buffer =>
    node(...values.map((value, at) => value - (values[at - 1] ?? 0)));
  return padded(
    Buffer.concat([
      node(contours.length, ...box, ...ends, 0),
      Buffer.alloc(points.length, 1),
      steps(across),
      steps(up),
    ]),
  );
}

function cmapTable(characters: string): Buffer {
  const points = Array.from(characters, (char, index) => [char.codePointAt(0) ?? 0, index + 1] as const).toSorted(
    ([a], [b]) => a - b,
  );
  const groups = points.flatMap(([point, glyph]) => [point, point, glyph]);
  return Buffer.concat([node(0, 1, 3, 10, 0, 12, 12, 0), concat(16 + 4 * groups.length, 0, points.length, ...groups)]);
}

function headTable(unitsPerEm: number): Buffer {
  const magic = [0x5f0f, 0x3cf5];
  return Buffer.concat([node(1, 0, 1, 0, 0, 0, ...magic, 0, unitsPerEm), Buffer.alloc(30), node(1, 0)]);
}

/** The oldest outlines of PostScript, with global subroutines. */
function cffTable(charstrings: readonly Buffer[], subroutines: readonly Buffer[]): Buffer {
  const operand = (value: number): Buffer => Buffer.concat([Buffer.of(29), concat(value)]);
  const topDict = (at: number): Buffer =>
    Buffer.concat([operand(at), Buffer.of(17), operand(0), operand(at), Buffer.of(18)]);
  const before = (at: number): Buffer =>
    Buffer.concat([
      Buffer.of(1, 0, 4, 4),
      cffIndex([Buffer.from('A')]),
      cffIndex([topDict(at)]),
      cffIndex([]),
      cffIndex(subroutines),
    ]);
  return Buffer.concat([before(before(0).length), cffIndex(charstrings)]);
}

function cffIndex(items: readonly Buffer[]): Buffer {
  if (items.length === 0) return node(0);
  let offset = 1;
  const offsets = items.map(({ length }) => (offset += length));
  return Buffer.concat([node(items.length), Buffer.of(4), concat(1, ...offsets), ...items]);
}

/** 32-bit numbers. */
function concat(...values: readonly number[]): Buffer {
  const writer = new FontWriter();
  for (const value of values) writer.uint32(value >>> 0);
  return Buffer.from(writer.finish());
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);
}

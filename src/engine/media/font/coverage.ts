// Reads what drawing needs to know about a font that was written anew: its characters, and whether it has bold letters.

import { FontReader } from './font-bytes.ts';
import { MAX_CHARACTERS } from './font-description.ts';
import { damagedFont } from './refusal.ts';
import { readSfnt } from './sfnt.ts';

const WINDOWS = 3;
const UNICODE = 0;
const SYMBOL_ENCODING = 0;
const LAST_CODE_POINT = 0x10_ffff;

/** Fonts of this weight and above are bold. */
const LEAST_BOLD = 600;

export interface WrittenFont {
  readonly characters: readonly number[];
  /** True if it has a weight axis, or is bold itself. */
  readonly hasBold: boolean;
}

export function readWrittenFont(file: Uint8Array): WrittenFont {
  const tables = readSfnt(file);
  const os2 = tables.get('OS/2');
  const isBold = os2 !== undefined && new FontReader(os2, 4).uint16() >= LEAST_BOLD;
  return { characters: characterSet(file), hasBold: isBold || tables.has('fvar') };
}

/** Returns the code points that have a glyph. */
export function characterSet(file: Uint8Array): readonly number[] {
  const cmap = readSfnt(file).get('cmap');
  if (cmap === undefined) throw damagedFont('it has no characters');
  const reader = new FontReader(cmap, 2);
  const count = reader.uint16();
  const offsets: { readonly format: number; readonly offset: number }[] = [];
  for (let index = 0; index < count; index += 1) {
    const [platform, encoding, offset] = [reader.uint16(), reader.uint16(), reader.uint32()];
    const isUnicode = platform === UNICODE || (platform === WINDOWS && encoding !== SYMBOL_ENCODING);
    if (isUnicode) offsets.push({ format: new FontReader(cmap, offset).uint16(), offset });
  }
  const long = offsets.find(({ format }) => format === 12);
  if (long) return groups(cmap, long.offset);
  const short = offsets.find(({ format }) => format === 4);
  if (short) return segments(cmap, short.offset);
  throw damagedFont('it has no characters');
}

/** Format 12: ranges of code points. */
function groups(cmap: Uint8Array, offset: number): number[] {
  const reader = new FontReader(cmap, offset + 12);
  const found = new Set<number>();
  for (let left = reader.uint32(); left > 0; left -= 1) {
    const [first, last, glyph] = [reader.uint32(), reader.uint32(), reader.uint32()];
    for (let point = first; point <= last; point += 1) if (glyph + point - first !== 0) add(found, point);
  }
  return [...found];
}

/** Format 4: segments of the first 65,536 code points, with a number that is added, or a table of glyphs. */
function segments(cmap: Uint8Array, offset: number): number[] {
  const doubled = new FontReader(cmap, offset + 6).uint16();
  const ends = offset + 14;
  const found = new Set<number>();
  const at = (list: number, index: number): number => new FontReader(cmap, list + index).uint16();
  for (let index = 0; index < doubled; index += 2) {
    const last = at(ends, index);
    const first = at(ends + 2 + doubled, index);
    const delta = at(ends + 2 + 2 * doubled, index);
    const table = ends + 2 + 3 * doubled + index;
    const range = at(ends + 2 + 3 * doubled, index);
    for (let point = first; point <= last && point < 0xffff; point += 1) {
      const glyph = range === 0 ? point : new FontReader(cmap, table + range + 2 * (point - first)).uint16();
      if (glyph !== 0 && ((glyph + delta) & 0xffff) !== 0) add(found, point);
      else if (range === 0 && ((point + delta) & 0xffff) !== 0) add(found, point);
    }
  }
  return [...found];
}

function add(found: Set<number>, point: number): void {
  if (point > LAST_CODE_POINT || found.size >= MAX_CHARACTERS) throw damagedFont('it has too many characters');
  found.add(point);
}

// What a caller learns about a font.

import { cleanText } from '../../caption/clean.ts';
import { FontReader } from './font-bytes.ts';
import type { FontTables } from './sfnt.ts';

export interface FontDescription {
  readonly family: string;
  readonly style: string;
  /** One weight, or the ends of a range. */
  readonly weights: readonly number[];
  /** The number of characters that the font can draw. */
  readonly characters: number;
  /** The names of scripts as in Unicode. */
  readonly scripts: readonly string[];
}

export const MAX_FONT_NAME = 64;
/** No font has more glyphs, so no honest one has many more characters. */
export const MAX_CHARACTERS = 150_000;
const UNNAMED = 'Unnamed';
const REGULAR = 'Regular';
/** By preference: the typographic name, then the one for old programs. */
const FAMILY_IDS = [16, 1];
const STYLE_IDS = [17, 2];
const ENGLISH = 0x0409;

/** Scripts that captions are written in. */
export const FONT_SCRIPTS = (
  'Latin Greek Cyrillic Armenian Georgian Hebrew Arabic Syriac Thaana Nko Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu ' +
  'Kannada Malayalam Sinhala Thai Lao Tibetan Myanmar Khmer Mongolian Ethiopic Cherokee Canadian_Aboriginal Tifinagh Javanese ' +
  'Balinese Hangul Hiragana Katakana Bopomofo Han Yi'
).split(' ');
/** A script counts if the font has so many of its letters. Text fonts have a few Greek ones for formulas. */
const MIN_LETTERS = 20;

/** `weights` are those of the weight axis. */
export function describeFont(
  tables: FontTables,
  characters: readonly number[],
  weights: readonly number[] | undefined,
): FontDescription {
  const names = namesOf(tables.get('name'));
  return {
    family: nameIn(names, FAMILY_IDS) ?? UNNAMED,
    style: nameIn(names, STYLE_IDS) ?? REGULAR,
    weights: weights ?? [weightClass(tables.get('OS/2'))],
    characters: characters.length,
    scripts: scriptsOf(characters),
  };
}

/** Text that is harmless wherever it appears: one line, without controls, of a limited length. */
export function cleanFontName(text: string): string {
  const line = cleanText(text.slice(0, 4 * MAX_FONT_NAME))
    .replace(/[\s\p{Cf}\p{Co}\p{Cn}]+/gu, ' ')
    .trim();
  return Array.from(line).slice(0, MAX_FONT_NAME).join('').trim();
}

function nameIn(names: ReadonlyMap<number, string>, ids: readonly number[]): string | undefined {
  return ids.map((id) => cleanFontName(names.get(id) ?? '')).find((name) => name !== '');
}

/** Reads the names for Windows, in English if there are such. A damaged table has none. */
function namesOf(table: Uint8Array | undefined): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  if (table === undefined || table.length < 6) return names;
  const reader = new FontReader(table, 2);
  const count = Math.min(reader.uint16(), Math.floor((table.length - 6) / 12));
  const strings = reader.uint16();
  for (let index = 0; index < count; index += 1) {
    const [platform, , language] = [reader.uint16(), reader.uint16(), reader.uint16()];
    const [id, length, offset] = [reader.uint16(), reader.uint16(), reader.uint16()];
    const bytes = table.subarray(strings + offset, strings + offset + length);
    const isWide = platform !== 1;
    if (names.has(id) && !(isWide && language === ENGLISH)) continue;
    names.set(id, isWide ? new TextDecoder('utf-16be').decode(bytes) : Buffer.from(bytes).toString('latin1'));
  }
  return names;
}

/** From 100 (thin) to 900 (black). */
function weightClass(table: Uint8Array | undefined): number {
  const weight = table !== undefined && table.length >= 6 ? new FontReader(table, 4).uint16() : 400;
  return Math.min(900, Math.max(100, weight));
}

function scriptsOf(characters: readonly number[]): string[] {
  const letters = characters.map((point) => String.fromCodePoint(point)).filter((char) => /^\p{L}$/u.test(char));
  const text = letters.join('');
  return FONT_SCRIPTS.filter((script) => {
    const found = text.match(new RegExp(`\\p{Script=${script}}`, 'gu'));
    return (found?.length ?? 0) >= MIN_LETTERS;
  });
}

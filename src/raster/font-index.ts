// Code point -> font. Decides before anything is drawn which of our fonts a caption needs, and which of its characters none
// of them can draw.

import { graphemes } from '../caption/graphemes.ts';
import { isEmoji } from '../layout/emoji.ts';
import { EMOJI, FAMILIES, type FontFamily, HAN_FAMILIES } from './catalogue.ts';
import { decodeRanges, includes, type Ranges } from './code-points.ts';
import { COVERAGE } from './coverage.generated.ts';
import { type FontFile, fontFiles } from './font-files.ts';
import { hanRegion } from './han-region.ts';

export interface CaptionFonts {
  /** In the order they are asked; every caption has the main face first. */
  readonly text: readonly FontFile[];
  readonly emoji: FontFile;
}

export interface DrawableCaption {
  /** The caption with an empty box for every character that no font can draw. */
  readonly text: string;
  /** How many user-perceived characters that concerned. */
  readonly missingGlyphs: number;
}

/** Shaping controls and spaces need no glyph of their own. */
const NEEDS_NO_GLYPH = /^[\s\p{Default_Ignorable_Code_Point}]$/u;
const MARK = /^\p{M}$/u;
const BOX = '\u25a1';

interface IndexedFamily {
  readonly family: FontFamily;
  readonly coverage: Ranges;
}

export class FontIndex {
  readonly #families: readonly IndexedFamily[] = FAMILIES.map(indexed);
  readonly #emoji = indexed(EMOJI);
  readonly #files = new Map<string, readonly FontFile[]>();

  /** A box of ours, not a font's idea of one: those differ, and some spell out what is missing. */
  drawable(caption: string): DrawableCaption {
    let missingGlyphs = 0;
    const drawable = graphemes(caption).map((grapheme) => {
      const families = isEmoji(grapheme) ? [this.#emoji] : this.#families;
      const missing = new Set(
        drawnPoints(grapheme).filter((point) => !families.some((family) => covers(family, [point]))),
      );
      if (missing.size === 0) return grapheme;
      missingGlyphs += 1;
      if (isEmoji(grapheme)) return BOX;
      const parts = Array.from(grapheme, (char) =>
        missing.has(codePoint(char)) ? (MARK.test(char) ? '' : BOX) : char,
      );
      return parts.join('') || BOX;
    });
    return { text: drawable.join(''), missingGlyphs };
  }

  /** For a drawable caption: which of our files it needs. */
  fontsFor(caption: string): CaptionFonts {
    const order = this.#orderFor(caption);
    const needed = new Set<FontFile>(this.#filesOf(firstOf(this.#families).family));
    for (const grapheme of graphemes(caption)) {
      if (isEmoji(grapheme)) continue;
      const drawn = drawnPoints(grapheme);
      // One font for the whole cluster if there is one, so that marks attach to their letter.
      const whole = order.find((family) => covers(family, drawn));
      const found = whole ? [whole] : drawn.map((point) => order.find((family) => covers(family, [point])));
      for (const family of found) {
        if (family) for (const file of this.#filesFor(family.family, drawn)) needed.add(file);
      }
    }
    const rank = new Map(order.map(({ family }, index) => [family.id, index]));
    const text = [...needed].toSorted((a, b) => (rank.get(a.familyId) ?? 0) - (rank.get(b.familyId) ?? 0));
    return { text, emoji: firstOf(this.#filesOf(EMOJI)) };
  }

  /** The catalogue's order, with the Han families of the caption's region first among themselves. */
  #orderFor(caption: string): IndexedFamily[] {
    const preferred = HAN_FAMILIES[hanRegion(caption)];
    const regional = new Set<string>(Object.values(HAN_FAMILIES));
    const firstRegional = this.#families.findIndex(({ family }) => regional.has(family.id));
    const chosen = this.#families.filter(({ family }) => family.id === preferred);
    const others = this.#families.filter(({ family }) => family.id !== preferred);
    return [...others.slice(0, firstRegional), ...chosen, ...others.slice(firstRegional)];
  }

  #filesFor(family: FontFamily, points: readonly number[]): FontFile[] {
    return this.#filesOf(family).filter(
      ({ ranges }) => ranges === undefined || points.some((point) => includes(ranges, point)),
    );
  }

  #filesOf(family: FontFamily): readonly FontFile[] {
    const known = this.#files.get(family.id);
    if (known) return known;
    const files = fontFiles(family);
    this.#files.set(family.id, files);
    return files;
  }
}

function indexed(family: FontFamily): IndexedFamily {
  const encoded = COVERAGE[family.id];
  if (encoded === undefined) throw new Error(`no coverage for font family ${family.id}: run \`npm run generate\``);
  return { family, coverage: decodeRanges(encoded) };
}

function covers({ coverage }: IndexedFamily, points: readonly number[]): boolean {
  return points.every((point) => includes(coverage, point));
}

/** Code points that need a glyph. */
function drawnPoints(grapheme: string): number[] {
  return Array.from(grapheme)
    .filter((char) => !NEEDS_NO_GLYPH.test(char))
    .map(codePoint);
}

function codePoint(char: string): number {
  return char.codePointAt(0) ?? 0;
}

function firstOf<Item>(items: readonly Item[]): Item {
  const [first] = items;
  if (first === undefined) throw new Error('empty font catalogue');
  return first;
}

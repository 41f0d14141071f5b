// Determines, before drawing, which of the bundled fonts a caption needs and which of its characters none supports.

import { graphemes } from '../caption/graphemes.ts';
import { isEmoji } from '../layout/emoji.ts';
import { must } from '../primitives/must.ts';
import { EMOJI, FAMILIES, type FontFamily, HAN_FAMILIES } from './catalogue.ts';
import { decodeRanges, includes, type Ranges } from './code-points.ts';
import { COVERAGE } from './coverage.generated.ts';
import { type FontFile, fontFiles } from './font-files.ts';
import { hanRegion } from './han-region.ts';

export interface CaptionFonts {
  /** In order of preference; the main font always comes first. */
  readonly text: readonly FontFile[];
  readonly emoji: FontFile;
}

export interface DrawableCaption {
  /** The caption with an empty box in place of each character that no font supports. */
  readonly text: string;
  /** The number of replaced graphemes. */
  readonly missingGlyphs: number;
}

/** Spaces and invisible control characters need no glyph. */
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

  /** Uses the same box everywhere, because the missing-glyph boxes of fonts differ and some show the code point. */
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

  /** The font files that a drawable caption needs. */
  fontsFor(caption: string): CaptionFonts {
    const order = this.#orderFor(caption);
    const needed = new Set<FontFile>(this.#filesOf(firstOf(this.#families).family));
    for (const grapheme of graphemes(caption)) {
      if (isEmoji(grapheme)) continue;
      const drawn = drawnPoints(grapheme);
      // Prefer one font for the whole cluster, so that marks attach to their letter.
      const whole = order.find((family) => covers(family, drawn));
      const found = whole ? [whole] : drawn.map((point) => order.find((family) => covers(family, [point])));
      for (const family of found) {
        if (family) for (const file of this.#filesFor(family.family, drawn)) needed.add(file);
      }
    }
    const rank = new Map(order.map(({ family }, index) => [family.id, index]));
    const rankOf = ({ familyId }: FontFile): number => must(rank.get(familyId), 'the rank of the font family');
    const text = [...needed].toSorted((a, b) => rankOf(a) - rankOf(b));
    return { text, emoji: firstOf(this.#filesOf(EMOJI)) };
  }

  /** The order of the catalog, with the Han family of the caption's region before the other Han families. */
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
  if (encoded === undefined) throw new Error(`no coverage data for font family ${family.id}; run \`npm run generate\``);
  return { family, coverage: decodeRanges(encoded) };
}

function covers({ coverage }: IndexedFamily, points: readonly number[]): boolean {
  return points.every((point) => includes(coverage, point));
}

/** The code points that need a glyph. */
function drawnPoints(grapheme: string): number[] {
  return Array.from(grapheme)
    .filter((char) => !NEEDS_NO_GLYPH.test(char))
    .map(codePoint);
}

function codePoint(char: string): number {
  return must(char.codePointAt(0), 'the code point');
}

function firstOf<Item>(items: readonly Item[]): Item {
  return must(items[0], 'the first font');
}

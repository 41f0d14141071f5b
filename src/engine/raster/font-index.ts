// Determines, before drawing, which of the bundled fonts a caption needs and which of its characters none supports.

import { isStoryFont, type StoryFont } from '../caption/fonts.ts';
import type { Weight } from '../caption/style.ts';
import { glyphClusters, isEmoji, unifyRows } from '../layout/emoji.ts';
import { must } from '../../shared/must.ts';
import { EMOJI, FAMILIES, type FontFamily, HAN_FAMILIES, STORY_FAMILIES } from './catalogue.ts';
import { decodeRanges, includes, type Ranges } from './code-points.ts';
import { COVERAGE } from './coverage.generated.ts';
import { boldFile, type FontFile, fontFiles, latinSlice } from './font-files.ts';
import { type HanRegion, hanRegion } from './han-region.ts';
import { hasSharedMark, isCjkCaption } from './run-parts.ts';

export interface CaptionFonts {
  /** Files in order of preference. The main font always comes first. */
  readonly text: readonly FontFile[];
  readonly emoji: FontFile;
  /** The font that the style names. Undefined for the default one. */
  readonly lead: LeadFont | undefined;
  readonly weight: Weight;
  /** True if the caption should be bold and has letters that no bold font supports. */
  readonly lacksBold: boolean;
  /** A BCP 47 tag that selects local forms of glyphs. Empty for the default forms. */
  readonly lang: string;
  /**
   * Set for a caption that is mostly Chinese, Japanese or Korean: its region, and the font for shared punctuation, if
   * any.
   */
  readonly cjk: { readonly region: HanRegion; readonly marks: FontFile | undefined } | undefined;
}

/** A font that comes before all others, for the clusters that it has. */
export interface LeadFont {
  readonly file: FontFile;
  /** Returns true also for clusters that need no glyph, such as spaces. */
  readonly has: (cluster: string) => boolean;
  /** Some of its characters. Empty for bundled fonts. */
  readonly sample: readonly string[];
}

/** A font that an account uploaded. */
export interface OwnFont {
  /** The name that styles use. */
  readonly id: string;
  /** The name under which the file is registered with the text engine. */
  readonly alias: string;
  readonly coverage: Ranges;
  readonly sample: readonly string[];
  /** Whether it has bold letters: by an axis, or because all of them are. */
  readonly hasBold: boolean;
}

/** The part of a look that decides about fonts. */
export interface FontChoice {
  readonly weight?: Weight;
  readonly font?: string | undefined;
}

export interface DrawableCaption {
  /** The caption without marks that can't be drawn, and with an empty box in place of any other such character. */
  readonly text: string;
  /** The number of clusters with a character that no font supports, or not together with the others. */
  readonly missingGlyphs: number;
}

/** Spaces and invisible control characters need no glyph, except two that HarfBuzz doesn't treat as invisible. */
const NEEDS_NO_GLYPH = /^(?![\u180f\u3164])[\s\p{Default_Ignorable_Code_Point}]$/u;
/** Blanks that would be drawn as boxes because no font has them: the Ogham space and the half-width Hangul filler. */
const BLANK = /[\u1680\uffa0]/gu;
/** Fillers of Hangul jamo, and a Mongolian selector that doesn't follow a Mongolian letter. They take no space. */
const UNSEEN = /[\u115f\u1160]|(?<!\p{Script=Mongolian})\u180f/gu;
const MARK = /^\p{M}$/u;
const LETTER = /\p{L}/u;
const HAN_REGIONS: readonly HanRegion[] = ['sc', 'tc', 'jp', 'kr'];
/** Letters of Urdu that Arabic and Persian don't have. Its digits have their own shapes beside them. */
const URDU_LETTER = /[\u0679\u0688\u0691\u06ba\u06c1\u06d2]/u;
/** Languages that are written with Arabic letters and have digits of other shapes, even in a text with letters of Urdu. */
const OTHER_DIGITS = /^(?:ar|ckb|fa|ks|ku|prs|ps|sd|ug)(?:-|$)/iu;
const BOX = '\u25a1';
const TEXT_SELECTOR = '\ufe0e';
const EMOJI_SELECTOR = '\ufe0f';

/** `isRegular` is true if bold letters are missing. */
type KnownLead = LeadFont & { readonly isRegular: boolean };

interface IndexedFamily {
  readonly family: FontFamily;
  readonly coverage: Ranges;
}

export class FontIndex {
  readonly #families: readonly IndexedFamily[] = FAMILIES.map(indexed);
  readonly #emoji = indexed(EMOJI);
  readonly #story = new Map<StoryFont, IndexedFamily>();
  #own: ReadonlyMap<string, OwnFont> = new Map();
  readonly #files = new Map<string, readonly FontFile[]>();

  /** Replaces the fonts of the render before. */
  useOwn(fonts: readonly OwnFont[]): void {
    this.#own = new Map(fonts.map((font) => [font.id, font]));
  }

  /** Uses the same box everywhere, because the missing-glyph boxes of fonts differ and some show the code point. */
  drawable(caption: string, font?: string): DrawableCaption {
    let missingGlyphs = 0;
    const lead = font === undefined ? undefined : this.#leadOf(font, 'regular');
    const visible = unifyRows(caption.replace(BLANK, ' ').replace(UNSEEN, ''));
    const drawable = glyphClusters(visible).map((cluster) => {
      const points = drawnPoints(cluster);
      const families = isEmoji(cluster) ? [this.#emoji] : this.#families;
      if (points.length === 0 || this.#fileFor(families, points)) return cluster;
      if (lead?.has(cluster) === true && !isEmoji(cluster)) return cluster;
      const emoji = cluster.replace(TEXT_SELECTOR, EMOJI_SELECTOR);
      if (isEmoji(emoji) && covers(this.#emoji, points)) return emoji;
      missingGlyphs += 1;
      return this.#reduced(cluster, points, families);
    });
    return { text: drawable.join(''), missingGlyphs };
  }

  /** Returns the font files that a drawable caption needs. */
  fontsFor(caption: string, lang?: string, { weight = 'regular', font }: FontChoice = {}): CaptionFonts {
    const order = this.#orderFor(caption, lang);
    const needed = new Set<FontFile>(this.#filesOf(firstOf(this.#families).family));
    const lead = font === undefined ? undefined : this.#leadOf(font, weight);
    let lacksBold = false;
    for (const cluster of new Set(glyphClusters(caption))) {
      if (lead?.has(cluster) === true && !isEmoji(cluster)) {
        if (weight === 'bold' && LETTER.test(cluster) && lead.isRegular) lacksBold = true;
        continue;
      }
      const file = isEmoji(cluster) ? undefined : this.#fileFor(order, drawnPoints(cluster));
      if (!file) continue;
      needed.add(file);
      if (weight === 'bold' && LETTER.test(cluster) && !boldFile(file, familyOf(file, order))) lacksBold = true;
    }
    const rank = new Map(order.map(({ family }, index) => [family.id, index]));
    const rankOf = ({ familyId }: FontFile): number => must(rank.get(familyId), 'the rank of the font family');
    const text = [...needed]
      .toSorted((a, b) => rankOf(a) - rankOf(b))
      .map((file) => (weight === 'bold' ? (boldFile(file, familyOf(file, order)) ?? file) : file));
    const emoji = firstOf(this.#filesOf(EMOJI));
    return {
      text,
      emoji,
      lead,
      weight,
      lacksBold,
      lang: URDU_LETTER.test(caption) && !OTHER_DIGITS.test(lang ?? '') ? 'ur' : (lang ?? ''),
      cjk: this.#cjkOf(caption, order),
    };
  }

  /** Returns whether a caption has letters or other visible characters that the font of its style lacks. */
  needsFallback(caption: string, font: string): boolean {
    const { has } = this.#leadOf(font, 'regular');
    return glyphClusters(caption).some((cluster) => !isEmoji(cluster) && !has(cluster));
  }

  #leadOf(font: string, weight: Weight): KnownLead {
    if (isStoryFont(font)) return this.#storyLead(font, weight);
    const { id, alias, coverage, sample, hasBold } = must(this.#own.get(font), `the font ${font}`);
    const file = { familyId: id, alias, file: alias, ranges: undefined };
    return { file, has: (cluster) => covers({ coverage }, drawnPoints(cluster)), sample, isRegular: !hasBold };
  }

  #storyLead(font: StoryFont, weight: Weight): KnownLead {
    const family = STORY_FAMILIES[font];
    const known = this.#story.get(font) ?? indexed(family);
    this.#story.set(font, known);
    const regular = firstOf(this.#filesOf(family));
    const file = weight === 'bold' ? (boldFile(regular, family) ?? regular) : regular;
    return { file, has: (cluster) => covers(known, drawnPoints(cluster)), sample: [], isRegular: file === regular };
  }

  #cjkOf(caption: string, order: readonly IndexedFamily[]): CaptionFonts['cjk'] {
    if (!isCjkCaption(caption)) return undefined;
    for (const { family } of order) {
      const region = HAN_REGIONS.find((candidate) => HAN_FAMILIES[candidate] === family.id);
      if (region) return { region, marks: hasSharedMark(caption) ? latinSlice(family) : undefined };
    }
    return undefined;
  }

  /** Returns the order of the catalog, with the Han family of the caption's region before the other Han families. */
  #orderFor(caption: string, lang: string | undefined): IndexedFamily[] {
    const preferred = HAN_FAMILIES[hanRegion(caption, lang)];
    const regional = new Set<string>(Object.values(HAN_FAMILIES));
    const firstRegional = this.#families.findIndex(({ family }) => regional.has(family.id));
    const chosen = this.#families.filter(({ family }) => family.id === preferred);
    const others = this.#families.filter(({ family }) => family.id !== preferred);
    return [...others.slice(0, firstRegional), ...chosen, ...others.slice(firstRegional)];
  }

  /**
   * Returns the first file with all these code points. Skia draws a cluster only with a font that has every glyph of
   * it.
   */
  #fileFor(families: readonly IndexedFamily[], points: readonly number[]): FontFile | undefined {
    for (const family of families) {
      const file = covers(family, points) && this.#filesOf(family.family).find((candidate) => holds(candidate, points));
      if (file) return file;
    }
    return undefined;
  }

  /**
   * Reduces a cluster that no file has to its base with the marks that one file has, or to a box if other characters
   * are missing.
   */
  #reduced(cluster: string, points: readonly number[], families: readonly IndexedFamily[]): string {
    const [base = 0] = points;
    const subsets = families
      .filter((family) => this.#fileFor([family], [base]))
      .map((family) => points.filter((point) => this.#fileFor([family], [base, point])));
    const largest = subsets.toSorted((a, b) => b.length - a.length)[0] ?? [];
    const chars = Array.from(cluster, (char) => ({ char, isDrawn: largest.includes(codePoint(char)) }));
    const isMissing = chars.some(({ char, isDrawn }) => !isDrawn && !NEEDS_NO_GLYPH.test(char) && !MARK.test(char));
    const kept = chars.filter(({ char, isDrawn }) => isDrawn || NEEDS_NO_GLYPH.test(char));
    return isMissing || largest.length === 0 ? BOX : kept.map(({ char }) => char).join('');
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

function covers({ coverage }: Pick<IndexedFamily, 'coverage'>, points: readonly number[]): boolean {
  return points.every((point) => includes(coverage, point));
}

/** Returns whether a file of a family that covers these code points has all of them itself. */
function holds({ ranges }: FontFile, points: readonly number[]): boolean {
  return ranges === undefined || points.every((point) => includes(ranges, point));
}

function familyOf({ familyId }: FontFile, families: readonly IndexedFamily[]): FontFamily {
  return must(
    families.find(({ family }) => family.id === familyId),
    'the font family',
  ).family;
}

/** Returns the code points that need a glyph. */
function drawnPoints(cluster: string): number[] {
  return Array.from(cluster)
    .filter((char) => !NEEDS_NO_GLYPH.test(char))
    .map(codePoint);
}

function codePoint(char: string): number {
  return must(char.codePointAt(0), 'the code point');
}

function firstOf<Item>(items: readonly Item[]): Item {
  return must(items[0], 'the first font');
}

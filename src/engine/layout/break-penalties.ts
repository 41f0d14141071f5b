// Penalties for line breaks at positions that UAX #14 allows, by how much they disturb a reader. Wrapping never adds a
// line to avoid a penalty. Some positions are dropped altogether. A piece between two breaks that is wider than a line
// is cut elsewhere.

import { graphemes } from '../caption/graphemes.ts';
import { breakPositions } from './breaks.ts';
import { isEmoji } from './emoji.ts';

export interface LineBreak {
  /** The start of the next line. */
  readonly position: number;
  readonly penalty: number;
}

/** One break with a higher penalty counts as much as several with a lower one. */
export const PENALTIES = {
  none: 0,
  /** Inside a Chinese or Japanese word. */
  insideWord: 1,
  /** Inside one of several quotations. */
  insideQuotation: 1,
  /** After a hyphen or slash, or beside a Hangul syllable without a space. */
  insideCompound: 2,
  /** Between a word and the emoji after it. */
  beforeEmoji: 2,
  insideEmojiRow: 3,
  /** After the delimiter of a path or query, in a URL or a word that is wider than a line. */
  afterPathDelimiter: 4,
  afterOtherDelimiter: 5,
  /** At a hyphen in a word that is wider than a line. */
  betweenSyllables: 6,
  /** Between any two graphemes of a word that is wider than a line. */
  betweenLetters: 8,
} as const;

const FORBIDDEN = Number.POSITIVE_INFINITY;

const URL_TEXT = /(?:\b[a-z][a-z\d+.-]*:\/\/|\bwww\.)[!-~]+|\b(?:[a-z\d-]+\.)+[a-z]{2,}\/[!-~]*/giu;
/** This check is much faster than `URL_TEXT`, and most captions have no URL. */
const URL_HINT = /\/|www\./iu;
const HANGUL = '\\p{Script=Hangul}';
const HANGUL_LETTER = new RegExp(HANGUL, 'u');
const HANGUL_WORD = new RegExp(`${HANGUL}\\p{M}*(?=[\\p{L}\\p{N}])|[\\p{L}\\p{N}]\\p{M}*(?=${HANGUL})`, 'gu');
/** Full-width Latin letters and digits form words, although Unicode lets a line end between them as between ideographs. */
const FULL_WIDTH = '[０-９Ａ-Ｚａ-ｚ]';
const FULL_WIDTH_WORD = new RegExp(`${FULL_WIDTH}(?=[＇’]?${FULL_WIDTH})|[＇’](?=${FULL_WIDTH})`, 'gu');
/** Quotation marks of the world's languages. Those that open and close with the same sign don't touch a letter outside. */
const QUOTATION = new RegExp(
  [
    '“[^“”]*”',
    '„[^„“”]*[“”]',
    '‘(?:[^‘’]|’(?=\\p{L}))*’',
    '‚[^‚‘’]*[‘’]',
    '«[^«»]*»',
    '»[^«»]*[«»]',
    '‹[^‹›]*›',
    '›[^‹›]*[‹›]',
    '「[^「」]*」',
    '『[^『』]*』',
    '《[^《》]*》',
    '〈[^〈〉]*〉',
    '〝[^〝〞〟]*[〞〟]',
    ...['"', '”', '＂'].map((mark) => `(?<![\\p{L}\\p{N}])${mark}[^${mark}]+${mark}(?![\\p{L}\\p{N}])`),
  ].join('|'),
  'gu',
);
const IDEOGRAPHS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]{2,}/gu;
/** Japanese particles and endings, which belong to the word before them although the dictionary separates them. */
const ENDING =
  /^(?:\p{Script=Hiragana}|です|でし|でしょ|ます|まし|ませ|だっ|した|して|たい|たら|なら|から|まで|より|ので|のに|けど|だけ|など|って|とか|ながら)$/u;
const STARTS_WITH_HIRAGANA = /^\p{Script=Hiragana}/u;
const ENDS_WITH_HIRAGANA = /\p{Script=Hiragana}$/u;
/** Polite prefixes, which belong to the word after them. */
const PREFIX = /^[おご]$/u;
const ASCII = /^[ -~]$/u;
const EXPLICIT_BREAK = /[\s\u200b]$/u;
/** Hyphens, the en dash, the soft hyphen and the slash. */
const COMPOUND = /[-\u00ad\u058a\u2010\u2013/]$/u;
const BESIDE_HANGUL = new RegExp(`^(?:${HANGUL}.|.${HANGUL})`, 'u');

const ideographWords = new Intl.Segmenter('ja', { granularity: 'word' });

/**
 * Returns the positions where a line can end, ascending, each with its penalty. The last one is the end of the
 * paragraph.
 */
export function lineBreaks(paragraph: string): LineBreak[] {
  const clusters = graphemes(paragraph);
  const unbroken = new Set([...insideHangulWords(paragraph), ...insideFullWidthWords(paragraph)]);
  const quoted = insideQuotations(paragraph);
  const ideographs = insideIdeographWords(paragraph);
  const known = new Map([...urlPenalties(paragraph), ...emojiPenalties(clusters)]);
  const penaltyOf = (position: number): number => {
    if (position === paragraph.length) return PENALTIES.none;
    if (unbroken.has(position)) return FORBIDDEN;
    if (ideographs.has(position)) return PENALTIES.insideWord;
    return known.get(position) ?? penaltyAt(paragraph, position);
  };
  return breakPositions(paragraph, clusters)
    .map((position) => ({
      position,
      penalty: penaltyOf(position) + (quoted.has(position) ? PENALTIES.insideQuotation : PENALTIES.none),
    }))
    .filter(({ penalty }) => penalty !== FORBIDDEN);
}

function penaltyAt(paragraph: string, position: number): number {
  const before = paragraph.slice(Math.max(0, position - 2), position);
  if (EXPLICIT_BREAK.test(before)) return PENALTIES.none;
  const isBeside = BESIDE_HANGUL.test(paragraph.slice(position - 1, position + 1));
  return isBeside || COMPOUND.test(before) ? PENALTIES.insideCompound : PENALTIES.none;
}

/** Returns the penalties of the positions before emoji. */
function emojiPenalties(clusters: readonly string[]): Map<number, number> {
  const starts = new Map<number, number>();
  let position = 0;
  let isAfterEmoji = false;
  for (const grapheme of clusters) {
    if (!ASCII.test(grapheme) && isEmoji(grapheme)) {
      starts.set(position, isAfterEmoji ? PENALTIES.insideEmojiRow : PENALTIES.beforeEmoji);
      isAfterEmoji = true;
    } else if (grapheme.trim() !== '') {
      isAfterEmoji = false;
    }
    position += grapheme.length;
  }
  return starts;
}

/** A URL can be broken only after a delimiter, and never after that of its scheme. */
function urlPenalties(paragraph: string): Map<number, number> {
  const penalties = new Map<number, number>();
  if (!URL_HINT.test(paragraph)) return penalties;
  for (const { index, 0: url } of paragraph.matchAll(URL_TEXT)) {
    for (let offset = 1; offset < url.length; offset += 1) penalties.set(index + offset, FORBIDDEN);
    for (const { end, penalty } of delimitersOf(url)) penalties.set(index + end, penalty);
  }
  return penalties;
}

/** Korean separates words by spaces, so a break between two syllables splits a word. */
function* insideHangulWords(paragraph: string): Generator<number> {
  if (!HANGUL_LETTER.test(paragraph)) return;
  for (const { index, 0: letter } of paragraph.matchAll(HANGUL_WORD)) yield index + letter.length;
}

function* insideFullWidthWords(paragraph: string): Generator<number> {
  for (const { index } of paragraph.matchAll(FULL_WIDTH_WORD)) yield index + 1;
}

/** Finds the positions inside quotations, if there are several: a line should end between two of them. */
function insideQuotations(paragraph: string): Set<number> {
  const inside = new Set<number>();
  const quotations = [...paragraph.matchAll(QUOTATION)];
  if (quotations.length < 2) return inside;
  for (const { index, 0: quotation } of quotations) {
    for (let offset = 1; offset < quotation.length; offset += 1) inside.add(index + offset);
  }
  return inside;
}

function insideIdeographWords(paragraph: string): Set<number> {
  const inside = new Set<number>();
  for (const { index: start, 0: run } of paragraph.matchAll(IDEOGRAPHS)) {
    for (let offset = 1; offset < run.length; offset += 1) inside.add(start + offset);
    let previous = '';
    for (const { index, segment } of ideographWords.segment(run)) {
      const belongsToPrevious =
        !PREFIX.test(segment) && (ENDING.test(segment) || continuesInHiragana(previous, segment));
      if (!belongsToPrevious && !PREFIX.test(previous)) inside.delete(start + index);
      previous = segment;
    }
  }
  return inside;
}

/** A phrase hardly ever starts where Han or katakana is followed by hiragana. */
function continuesInHiragana(previous: string, segment: string): boolean {
  return STARTS_WITH_HIRAGANA.test(segment) && !ENDS_WITH_HIRAGANA.test(previous);
}

const DELIMITERS = /(?<![:/?&=_.-])[/?&=_.-]+(?=[^\s/?&=_.-])/gu;
const PATH_DELIMITER = /[/?&]$/u;

/** Yields the positions where a cut URL or long word is easiest to read. The slashes after a scheme don't count. */
function* delimitersOf(text: string): Generator<{ end: number; penalty: number }> {
  for (const { index, 0: delimiters } of text.matchAll(DELIMITERS)) {
    const penalty = PATH_DELIMITER.test(delimiters) ? PENALTIES.afterPathDelimiter : PENALTIES.afterOtherDelimiter;
    if (index > 0) yield { end: index + delimiters.length, penalty };
  }
}

/** Splits a text after its delimiters. The penalty of a part is that of a cut after it. */
export function splitAfterDelimiters(text: string): { part: string; penalty: number }[] {
  const parts: { part: string; penalty: number }[] = [];
  let start = 0;
  for (const { end, penalty } of delimitersOf(text)) {
    parts.push({ part: text.slice(start, end), penalty });
    start = end;
  }
  return [...parts, { part: text.slice(start), penalty: PENALTIES.none }];
}

// Line break opportunities: UAX #14, plus dictionary word boundaries for scripts without spaces between words.

import { Rules } from '@cto.af/linebreak';
import { graphemes } from '../caption/graphemes.ts';

// `example7` keeps numbers such as "1,234.50" and "(12)" together, as the conformance tests expect.
const rules = new Rules({ example7: true });

const DICTIONARY_SCRIPTS = [
  { locale: 'th', run: /[\u0e00-\u0e7f]{2,}/gu },
  { locale: 'lo', run: /[\u0e80-\u0eff]{2,}/gu },
  { locale: 'km', run: /[\u1780-\u17ff]{2,}/gu },
  { locale: 'my', run: /[\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f]{2,}/gu },
].map(({ locale, run }) => ({ run, words: new Intl.Segmenter(locale, { granularity: 'word' }) }));

/** Full stops and particles stay with the word before them, whatever the dictionary says. */
const NEVER_AFTER_WORD = /^[\u104a-\u104d\u104f\u17d4-\u17da]/u;
/** Repetition and abbreviation signs stay with the word before them, even after a space. */
const NEVER_FIRST = /^[\u0e2f\u0e46\u0eaf\u0ec6\u17d7]/u;
/**
 * A dash ends a line instead of starting the next one. A hyphen before a letter or digit belongs to it, as in "-5". The Mongolian
 * hyphen starts a line, and the non-breaking one follows the rules of Unicode.
 */
const DASH_FIRST = /^(?:(?![-\u1806\u2010\u2011])\p{Pd}|[-\u2010](?=[-\s]|$))/u;
/** A dash after a space and without one before the next word opens an aside, as in Spanish, and stays with that word. */
const OPENING_DASH = /\s[\u2012-\u2015\u2e3a\u2e3b](?=\p{L})/gu;
/** LB25 since Unicode 16: a point or comma also stays with the digit after it outside a number, as in "No.1". */
const POINT_AND_DIGIT = /^[,.:;]\p{Nd}/u;

/** Returns the positions where a line can end, ascending. The last one is always the end of the paragraph. */
export function breakPositions(paragraph: string, clusters: readonly string[] = graphemes(paragraph)): number[] {
  const positions = new Set<number>();
  for (const { position } of rules.breaks(paragraph)) positions.add(position);
  for (const position of dictionaryBreaks(paragraph)) positions.add(position);
  positions.add(paragraph.length);
  const boundaries = graphemeBoundaries(clusters);
  const afterDashes = new Set(
    Array.from(paragraph.matchAll(OPENING_DASH), ({ index, 0: dash }) => index + dash.length),
  );
  return [...positions]
    .filter((position) => boundaries.has(position))
    .filter((position) => !NEVER_FIRST.test(paragraph.slice(position)))
    .filter((position) => !DASH_FIRST.test(paragraph.slice(position)))
    .filter((position) => !afterDashes.has(position))
    .filter((position) => !POINT_AND_DIGIT.test(paragraph.slice(position - 1)))
    .toSorted((a, b) => a - b);
}

function* dictionaryBreaks(paragraph: string): Generator<number> {
  for (const { run, words } of DICTIONARY_SCRIPTS) {
    for (const match of paragraph.matchAll(run)) {
      for (const { index, segment } of words.segment(match[0])) {
        if (index > 0 && !NEVER_AFTER_WORD.test(segment)) yield match.index + index;
      }
    }
  }
}

function graphemeBoundaries(clusters: readonly string[]): Set<number> {
  const boundaries = new Set<number>();
  let position = 0;
  for (const grapheme of clusters) {
    position += grapheme.length;
    boundaries.add(position);
  }
  return boundaries;
}

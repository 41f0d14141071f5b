// Grapheme clusters (UAX #29). The length limit, the line breaker and the tests all split text here, so they agree on what
// a character is.

import type { Steps } from '../../shared/steps.ts';
import { CHARACTERS, segmentsIn } from './segments.ts';

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });

/**
 * Letters and punctuation that are a grapheme each, whatever is beside them: Latin, Greek, Cyrillic, Armenian, Han, kana and
 * Hangul syllables. The segmenter is 100 times slower, so it only gets other texts.
 */
const SEPARATE =
  /^[ -~\u00a0-\u02ff\u0370-\u0482\u048a-\u058f\u2010-\u2027\u3001-\u3029\u3041-\u3096\u30a1-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]*$/u;

/** How many characters are counted at a time. */
const STEP = 1_024;

export function graphemes(text: string): string[] {
  return SEPARATE.test(text) ? text.split('') : Array.from(eachGrapheme(text), ({ segment }) => segment);
}

export function countGraphemes(text: string): number {
  return graphemes(text).length;
}

/** One after the other, for texts of any length. */
export function* eachGrapheme(text: string): Generator<{ readonly segment: string }> {
  if (SEPARATE.test(text)) for (const segment of text) yield { segment };
  else yield* segmentsIn(text, segmenter, CHARACTERS);
}

/** Stops counting at the limit. */
export function hasMoreGraphemes(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  let count = 0;
  for (const _ of eachGrapheme(text)) {
    count += 1;
    if (count > limit) return true;
  }
  return false;
}

/** The same as `countGraphemes`, for texts of any length. */
export function* countingGraphemes(text: string): Steps<number> {
  if (SEPARATE.test(text)) return text.length;
  let count = 0;
  for (const _ of eachGrapheme(text)) {
    count += 1;
    if (count % STEP === 0) yield;
  }
  return count;
}

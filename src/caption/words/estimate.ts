// The words of a caption that has only a start and an end. They share its time by their lengths.

import { countGraphemes, graphemes } from '../graphemes.ts';
import { HAS_UNSPACED_WORDS, type TextRange } from './joining.ts';
import { inOrder, type TimedWord, toMilliseconds } from './timed-words.ts';

const wordSegmenter = new Intl.Segmenter('und', { granularity: 'word' });
const OPENING_OR_DASH = /^[\p{Pd}\p{Ps}\p{Pi}\p{So}¿¡]+$/u;
const HAS_CONTENT = /[\p{L}\p{N}\p{ExtPict}]/u;
/** The pause between two words, as a number of characters. */
const PAUSE = 1;

/** Finds the words of a text: between spaces, and with a dictionary where a script has no spaces. */
export function findWords(text: string): TextRange[] {
  const pieces = Array.from(text.matchAll(/\S+/gu)).flatMap(({ index, 0: token }) =>
    HAS_UNSPACED_WORDS.test(token) ? segmentsOf(token, index) : [{ from: index, to: index + token.length }],
  );
  return withPunctuation(text, pieces);
}

function segmentsOf(token: string, offset: number): TextRange[] {
  return Array.from(wordSegmenter.segment(token), ({ segment, index }) => ({
    from: offset + index,
    to: offset + index + segment.length,
  }));
}

/** Punctuation isn't spoken. It belongs to the word before it; brackets that open and dashes to the word after it. */
function withPunctuation(text: string, pieces: readonly TextRange[]): TextRange[] {
  const words: { from: number; to: number }[] = [];
  let pending: number | undefined;
  for (const { from, to } of pieces) {
    const piece = text.slice(from, to);
    const previous = words.at(-1);
    if (HAS_CONTENT.test(piece)) {
      words.push({ from: pending ?? from, to });
      pending = undefined;
    } else if (previous === undefined || pending !== undefined || OPENING_OR_DASH.test(piece)) pending ??= from;
    else previous.to = to;
  }
  const last = words.at(-1);
  if (pending === undefined) return words;
  if (last === undefined) return [{ from: pending, to: text.trimEnd().length }];
  last.to = text.trimEnd().length;
  return words;
}

export function estimateWords(text: string, start: number, end: number): TimedWord[] {
  return shareTime(text, findWords(text), start, end);
}

export function shareTime(text: string, ranges: readonly TextRange[], start: number, end: number): TimedWord[] {
  const lengths = ranges.map(({ from, to }) => countGraphemes(text.slice(from, to)) + PAUSE);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  let before = 0;
  const timeAt = (length: number): number => toMilliseconds(start + ((end - start) * length) / total);
  return inOrder(
    ranges.map((range, index) => {
      const from = before;
      before += lengths[index] ?? 0;
      return { ...range, start: timeAt(from), end: timeAt(before) };
    }),
  );
}

/** Returns true if a text is at most one word, as its script has them. */
export function isSingleWord(text: string): boolean {
  return graphemes(text).length > 0 && findWords(text.trim()).length <= 1;
}

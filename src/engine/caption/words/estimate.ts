// The words of a caption that has only a start and an end. They share its time by their lengths.

import type { Steps } from '../../../shared/steps.ts';
import { countingGraphemes } from '../graphemes.ts';
import { MAX_TEXT_BYTES } from '../overlay.ts';
import { segmentsIn, WORDS } from '../segments.ts';
import { HAS_UNSPACED_WORDS, type TextRange } from './joining.ts';
import { inOrder, MAX_WORDS, type TimedWord, toMilliseconds } from './timed-words.ts';

const wordSegmenter = new Intl.Segmenter('und', { granularity: 'word' });
const OPENING_OR_DASH = /^[\p{Pd}\p{Ps}\p{Pi}\p{So}¿¡]+$/u;
const HAS_CONTENT = /[\p{L}\p{N}\p{ExtPict}]/u;
/** The pause between two words, as a number of characters. */
const PAUSE = 1;

/** Finds the words of a text: between spaces, and with a dictionary where a script has no spaces. */
export function* findWords(text: string): Steps<TextRange[]> {
  // Punctuation isn't spoken. It belongs to the word before it; brackets that open and dashes to the word after it.
  const words: { from: number; to: number }[] = [];
  let pending: number | undefined;
  for (const { from, to } of piecesOf(text)) {
    yield;
    if (words.length > MAX_WORDS) break;
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

function* piecesOf(text: string): Generator<TextRange> {
  for (const { index: from, 0: token } of text.matchAll(/\S+/gu)) {
    if (!HAS_UNSPACED_WORDS.test(token)) yield { from, to: from + token.length };
    else {
      for (const { segment, index } of segmentsIn(token, wordSegmenter, WORDS)) {
        yield { from: from + index, to: from + index + segment.length };
      }
    }
  }
}

/** At most one word more than captions can have. */
export function* estimateWords(text: string, start: number, end: number): Steps<TimedWord[]> {
  return yield* shareTime(text, yield* findWords(text), start, end);
}

export function* shareTime(text: string, ranges: readonly TextRange[], start: number, end: number): Steps<TimedWord[]> {
  const lengths: number[] = [];
  for (const { from, to } of ranges) {
    lengths.push((yield* countingGraphemes(text.slice(from, to))) + PAUSE);
    yield;
  }
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
export function* isSingleWord(text: string): Steps<boolean> {
  if (text === '' || text.length > MAX_TEXT_BYTES) return false;
  return (yield* findWords(text.trim())).length <= 1;
}

// The words of a WebVTT cue with inline times, such as `Never <00:00:01.500>gonna`.

import type { CueChunk } from '../subtitles.ts';
import { findWords, shareTime } from './estimate.ts';
import { alignWords, cleanLongText } from './joining.ts';
import { inOrder, type TimedWord } from './timed-words.ts';

interface InlineWords {
  readonly words: readonly TimedWord[];
  /** Set where several words share an inline time. */
  readonly isEstimated?: true;
}

/** Undefined where the chunks don't make up the text. */
export function inlineWords(
  text: string,
  chunks: readonly CueChunk[],
  cue: { readonly start: number; readonly end: number },
): InlineWords | undefined {
  const found = chunks.map((chunk) => {
    const clean = cleanLongText(chunk.text);
    return { start: chunk.start, words: findWords(clean).map(({ from, to }) => clean.slice(from, to)) };
  });
  const aligned = alignWords(
    text,
    found.flatMap(({ words }) => words.map((word) => ({ text: word, hasSpace: true }))),
  );
  if (!aligned) return undefined;
  const timed: TimedWord[] = [];
  let start = cue.start;
  for (const [index, { start: own, words }] of found.entries()) {
    start = Math.min(Math.max(start, own ?? start), cue.end);
    const next = found.slice(index + 1).find((chunk) => chunk.start !== undefined)?.start ?? cue.end;
    const ranges = aligned.ranges.slice(timed.length, timed.length + words.length);
    timed.push(...shareTime(text, ranges, start, Math.min(Math.max(start, next), cue.end)));
  }
  const isEstimated = found.some(({ words }) => words.length > 1);
  return { words: inOrder(timed), ...(isEstimated && { isEstimated }) };
}

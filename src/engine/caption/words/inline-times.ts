// The words of a WebVTT cue with inline times, such as `Never <00:00:01.500>gonna`.

import type { Steps } from '../../../shared/steps.ts';
import type { CueChunk } from '../subtitles.ts';
import { findWords, shareTime } from './estimate.ts';
import { alignWords, cleaningLongText } from './joining.ts';
import { inOrder, type TimedWord } from './timed-words.ts';

interface InlineWords {
  readonly words: readonly TimedWord[];
  /** Set where several words share an inline time. */
  readonly isEstimated?: true;
}

/** Undefined where the chunks don't make up the text. */
export function* inlineWords(
  text: string,
  chunks: readonly CueChunk[],
  cue: { readonly start: number; readonly end: number },
): Steps<InlineWords | undefined> {
  const found: { readonly start: number | undefined; readonly words: readonly string[] }[] = [];
  for (const chunk of chunks) {
    const clean = yield* cleaningLongText(chunk.text);
    const ranges = yield* findWords(clean);
    found.push({ start: chunk.start, words: ranges.map(({ from, to }) => clean.slice(from, to)) });
  }
  const aligned = yield* alignWords(
    text,
    found.flatMap(({ words }) => words.map((word) => ({ text: word, hasSpace: true }))),
  );
  if (!aligned) return undefined;
  const timed: TimedWord[] = [];
  const nextTimes = timesAfter(chunks);
  let start = cue.start;
  for (const [index, { start: own, words }] of found.entries()) {
    start = Math.min(Math.max(start, own ?? start), cue.end);
    const next = nextTimes[index] ?? cue.end;
    const ranges = aligned.ranges.slice(timed.length, timed.length + words.length);
    timed.push(...(yield* shareTime(text, ranges, start, Math.min(Math.max(start, next), cue.end))));
  }
  const isEstimated = found.some(({ words }) => words.length > 1);
  return { words: inOrder(timed), ...(isEstimated && { isEstimated }) };
}

/** For each chunk, the time of the next one that has a time. */
function timesAfter(chunks: readonly CueChunk[]): (number | undefined)[] {
  const times: (number | undefined)[] = [];
  let next: number | undefined;
  for (const { start } of chunks.toReversed()) {
    times.push(next);
    next = start ?? next;
  }
  return times.toReversed();
}

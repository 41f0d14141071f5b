// Where a page has to end: at the end of a sentence, and at a pause. What is between is a phrase, which becomes one or more
// pages when its lines are known.

import { must } from '../../../shared/must.ts';
import type { Steps } from '../../../shared/steps.ts';
import { SENTENCES, segmentsIn } from '../segments.ts';
import { MIN_PAUSE, sliceWords, type TimedWord, toMilliseconds, type WordedText } from './timed-words.ts';

/** How long the last word before a pause stays. */
const LINGER = 0.2;

const sentenceSegmenter = new Intl.Segmenter('und', { granularity: 'sentence' });
/** A period after these doesn't end a sentence: initials, titles and common abbreviations. */
const ABBREVIATION =
  /^[\p{Ps}\p{Pi}"']*(?:\p{Lu}|(?:\p{L}\.)+\p{L}|Mr|Mrs|Ms|Mx|Dr|Prof|St|Sr|Jr|Mt|Ft|Rev|Gen|Col|Capt|Lt|Sgt|Gov|Sen|Rep|vs|etc|approx|No|Nr|Hr|Fr|Bd|Art|Sra|Srta|Dra|Mme|Mlle|Dott|Sig|bzw|ca|usw|resp)\.$/u;
const GREEK = /\p{Script=Greek}/u;
const ENDS_CLAUSE = /[\p{Terminal_Punctuation}\p{Pd}\u2026][\p{Pe}\p{Pf}\p{Pi}"']*$/u;

/** A phrase with the time at which its last page ends. */
interface Phrase extends WordedText {
  readonly start: number;
  readonly end: number;
}

/** The indexes of words after which a sentence ends. */
function* sentenceEnds({ text, words }: WordedText): Steps<Set<number>> {
  const ends = new Set<number>();
  const starts: number[] = [];
  for (const { index } of segmentsIn(text.replaceAll('\n', ' '), sentenceSegmenter, SENTENCES)) {
    starts.push(index);
    yield;
  }
  let next = 0;
  for (const [index, { from, to }] of words.entries()) {
    yield;
    const word = text.slice(from, to);
    const limit = words[index + 1]?.from ?? text.length;
    while ((starts[next] ?? Number.POSITIVE_INFINITY) < to) next += 1;
    const isBoundary = (starts[next] ?? Number.POSITIVE_INFINITY) <= limit;
    // In Greek, a semicolon is a question mark.
    const isGreekQuestion = word.endsWith(';') && GREEK.test(word);
    if ((isBoundary && !ABBREVIATION.test(word)) || isGreekQuestion) ends.add(index);
  }
  return ends;
}

/** Returns true if a word ends with a comma or another sign that separates clauses, or is the last of its line. */
export function endsClause({ text, words }: WordedText, index: number): boolean {
  const { from, to } = must(words[index], 'the word');
  return ENDS_CLAUSE.test(text.slice(from, to)) || text.slice(to, words[index + 1]?.from).includes('\n');
}

/** Splits timed words into phrases. A phrase is shown until the next one starts, unless there is a pause. */
export function* phrasesOf(worded: WordedText): Steps<Phrase[]> {
  const { words } = worded;
  const sentences = yield* sentenceEnds(worded);
  const phrases: Phrase[] = [];
  let first = 0;
  for (const [index, word] of words.entries()) {
    const next = words[index + 1];
    const hasPause = next === undefined || isPause(word, next);
    if (!hasPause && !sentences.has(index)) continue;
    yield;
    const end = hasPause ? toMilliseconds(word.end + LINGER) : next.start;
    const start = must(words[first], 'the first word').start;
    phrases.push({ ...sliceWords(worded, first, index + 1), start, end: Math.max(end, start) });
    first = index + 1;
  }
  return phrases;
}

function isPause({ end }: TimedWord, next: TimedWord): boolean {
  return toMilliseconds(next.start - end) >= MIN_PAUSE;
}

/** When each word of a page is lit: until the next one starts, or the page ends. Before a longer gap, until its own end. */
export function litTimes(
  words: readonly Pick<TimedWord, 'start' | 'end'>[],
  pageEnd: number,
): { readonly start: number; readonly end: number }[] {
  return words.map(({ start, end }, index) => {
    const next = words[index + 1]?.start ?? pageEnd;
    return { start, end: toMilliseconds(next - end) > MIN_PAUSE ? end : Math.max(next, start) };
  });
}

// The words of a caption with their times. A word is a range of the caption's text, so the text stays the only definition of
// what is shown, and shaping never sees the words.

import type { Steps } from '../../../shared/steps.ts';
import { eachGrapheme } from '../graphemes.ts';

export const MAX_WORDS = 3_000;
export const MAX_WORD_GRAPHEMES = 60;

/** In seconds. A pause of this length ends a page, and a word isn't lit beyond its end if such a pause follows. */
export const MIN_PAUSE = 0.7;

export interface TimedWord {
  /** The range of the text in UTF-16 units. Ranges are in the order of the text and don't overlap. */
  readonly from: number;
  readonly to: number;
  /** In seconds. The starts of consecutive words differ by at least a millisecond. */
  readonly start: number;
  readonly end: number;
}

export interface WordedText {
  readonly text: string;
  readonly words: readonly TimedWord[];
}

/** A word starts at least this long after the one before it, so that every page is shown for some time. */
const MIN_STEP = 0.001;

/** Cuts words off at the next one, and separates words that start at the same time. */
export function inOrder(words: readonly TimedWord[]): TimedWord[] {
  const starts: number[] = [];
  for (const { start } of words) {
    const previous = starts.at(-1);
    starts.push(previous === undefined ? start : Math.max(start, toMilliseconds(previous + MIN_STEP)));
  }
  return words.map(({ from, to, start: own, end }, index) => {
    const start = starts[index] ?? own;
    const next = starts[index + 1] ?? Number.POSITIVE_INFINITY;
    return { from, to, start, end: Math.min(Math.max(end, start), next) };
  });
}

/** Frames have times in whole milliseconds, and transcripts have fractions such as 0.8199999928. */
export function toMilliseconds(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}

/** The words from `first` to before `end`, with the text that they are in. */
export function sliceWords({ text, words }: WordedText, first: number, end: number): WordedText {
  const chosen = words.slice(first, end);
  const from = chosen[0]?.from ?? 0;
  const to = chosen.at(-1)?.to ?? from;
  return {
    text: text.slice(from, to),
    words: chosen.map((word) => ({ ...word, from: word.from - from, to: word.to - from })),
  };
}

/** The words of a page of a text. A page of all words has the whole text. */
export function pageWords({ text, words }: WordedText, first: number, count: number): WordedText {
  return count === words.length ? { text, words } : sliceWords({ text, words }, first, first + count);
}

/** Changes the text of each word and of what is between words. Changed texts may have other lengths. */
export function mapWords({ text, words }: WordedText, change: (part: string) => string): WordedText {
  let changed = '';
  let end = 0;
  const moved = words.map((word) => {
    changed += change(text.slice(end, word.from));
    const from = changed.length;
    changed += change(text.slice(word.from, word.to));
    end = word.to;
    return { ...word, from, to: changed.length };
  });
  return { text: changed + change(text.slice(end)), words: moved };
}

/** Subjoined letters of Khmer, Burmese and other scripts, and conjuncts of Indic ones, join the letter after these. */
const JOINS_NEXT =
  /[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca\u1039\u103a\u17d2\u1a60\u1b44\u1baa\ua953\ua9c0\u200d]$/u;

/** Letters of which each is a cluster. */
const PLAIN = /^[\s!-~\u00a0-\u02ff]*$/u;

/** Moves boundaries inside a cluster to its end. A word that loses all of its text this way is left out. */
export function* atClusters({ text, words }: WordedText): Steps<TimedWord[]> {
  if (PLAIN.test(text)) return [...words];
  const edges = yield* clusterEdges(text);
  let index = 0;
  const edgeAfter = (at: number): number => {
    while ((edges[index] ?? text.length) < at) index += 1;
    return edges[index] ?? text.length;
  };
  return words
    .map((word) => ({ ...word, from: edgeAfter(word.from), to: edgeAfter(word.to) }))
    .filter(({ from, to }) => from < to);
}

function* clusterEdges(text: string): Steps<number[]> {
  const edges = [0];
  let at = 0;
  for (const { segment: cluster } of eachGrapheme(text)) {
    yield;
    at += cluster.length;
    const isJoined = JOINS_NEXT.test(cluster) && /^[\p{L}\p{M}]/u.test(text.slice(at, at + 2));
    if (!isJoined) edges.push(at);
  }
  return edges;
}

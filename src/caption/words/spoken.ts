// What a transcription service heard, made fit for captions. Its response isn't the caller's fault, so where captions of a caller
// get a fault, it is repaired: times outside the video or out of order, and words that are too long.

import { isBlank } from '../clean.ts';
import { graphemes } from '../graphemes.ts';
import { cleanLongText, cleanWord } from './joining.ts';
import { MAX_WORD_GRAPHEMES } from './timed-words.ts';

/** A word as a service returns it. */
interface HeardWord {
  readonly text: string;
  readonly start?: number | undefined;
  readonly end?: number | undefined;
}

interface HeardSegment extends HeardWord {
  readonly words: readonly HeardWord[];
}

/** The response of a service. Either list may be empty. */
export interface Heard {
  readonly language?: string | undefined;
  readonly text: string;
  readonly words: readonly HeardWord[];
  readonly segments: readonly HeardSegment[];
}

interface SpokenWord {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** A transcript as `captions` accepts it, and as it is kept with a render. */
export interface SpokenTranscript {
  readonly language?: string;
  readonly text?: string;
  readonly words?: readonly SpokenWord[];
  readonly segments?: readonly (SpokenWord & { readonly words?: readonly SpokenWord[] })[];
}

/** Services describe sounds this way, such as [Music] or [BLANK_AUDIO]. */
const SOUNDS = /\[[^\]]*\]|[♪♫]/gu;
/** Some use these, which also occur in what is said. */
const MAYBE_SOUNDS = /\([^)]*\)|\*[^*]*\*/gu;

/** A word may start this much before the one before it. Times are less exact than the order of words. */
const MAX_DISORDER = 0.1;
/** A segment without words is shown at least this long. */
const MIN_SECONDS = 0.1;

/** Returns undefined if nothing is said. `seconds` is the length of the sound. */
export function spokenTranscript(heard: Heard, seconds: number): SpokenTranscript | undefined {
  const language = heard.language === undefined ? {} : { language: heard.language };
  const all = [heard.text, ...heard.words.map(({ text }) => text), ...heard.segments.map(({ text }) => text)];
  if (!all.some(isSpeech)) return undefined;
  const words = cleanWords(heard.words, 0, seconds);
  if (words.length > 0) return { ...language, text: withoutSounds(heard.text), words };
  const segments = inOrder(heard.segments.filter(isSaid))
    .map((segment) => cleanSegment(segment, seconds))
    .filter(({ text, words: own }) => !isBlank(text) || own !== undefined);
  return segments.length > 0 ? { ...language, segments } : undefined;
}

function isSaid({ text, words }: HeardSegment): boolean {
  return isSpeech(text === '' ? words.map((word) => word.text).join('') : text);
}

function isSpeech(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(withoutSounds(text).replaceAll(MAYBE_SOUNDS, ''));
}

function withoutSounds(text: string): string {
  return cleanLongText(text.replaceAll(SOUNDS, ' '));
}

function cleanSegment({ text, words, ...times }: HeardSegment, seconds: number) {
  const start = within(times.start ?? 0, seconds);
  const own = cleanWords(words, start, seconds);
  const end = Math.max(within(times.end ?? start, seconds), own.at(-1)?.end ?? 0, start + MIN_SECONDS);
  return { text: withoutSounds(text), start, end, ...(own.length > 0 && { words: own }) };
}

/** A word without times gets those of the end of the word before it. */
function cleanWords(heard: readonly HeardWord[], from: number, seconds: number): SpokenWord[] {
  const words: SpokenWord[] = [];
  for (const { text, ...times } of inOrder(heard)) {
    const visible = cleanWord(text.replaceAll(/^\s*(?:\[[^\]]*\]|[♪♫])\s*$/gu, ''));
    if (isBlank(visible)) continue;
    const before = words.at(-1);
    const start = Math.max(within(times.start ?? before?.end ?? from, seconds), before?.start ?? 0);
    const end = Math.max(within(times.end ?? start, seconds), start);
    // Whether a space precedes the word is part of its text.
    const space = /^\s/u.test(text) ? ' ' : '';
    words.push({ text: space + graphemes(visible).slice(0, MAX_WORD_GRAPHEMES).join(''), start, end });
  }
  return words;
}

/** Sorts entries by their start only where their times contradict their order. */
function inOrder<Entry extends HeardWord>(entries: readonly Entry[]): readonly Entry[] {
  const isDisordered = entries.some(({ start }, index) => {
    const before = entries[index - 1]?.start;
    return start !== undefined && before !== undefined && start < before - MAX_DISORDER;
  });
  if (!isDisordered) return entries;
  let latest = 0;
  return entries
    .map((entry) => ({ entry, at: (latest = entry.start ?? latest) }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ entry }) => entry);
}

function within(time: number, seconds: number): number {
  return Math.min(Math.max(time, 0), seconds);
}

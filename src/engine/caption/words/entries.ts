// Reads the entries of transcripts: words and segments with times. Every fault names the entry.

import type { FieldFault } from '../../../shared/errors.ts';
import { isBlank } from '../clean.ts';
import type { Steps } from '../../../shared/steps.ts';
import { hasMoreGraphemes } from '../graphemes.ts';
import { quoteJson, typeName } from '../quote.ts';
import { cleanWord, type InputWord } from './joining.ts';
import { MAX_WORD_GRAPHEMES, MAX_WORDS, toMilliseconds } from './timed-words.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** What the entries of one shape have in common. */
export interface EntryReader {
  readonly faults: FieldFault[];
  /** How many entries of lists of words there are. Parts of words and spaces can be entries, too. */
  readonly count: { entries: number };
  /** How many of the unit of times make a second: 1, or 1,000 for milliseconds. */
  readonly perSecond: number;
}

export interface Times {
  readonly start: number;
  readonly end: number;
}

/** A word of the input. A word without times can be between others that have them. */
export interface ReadWord extends InputWord {
  readonly times: Times | undefined;
}

export const TOO_MANY_WORDS: FieldFault = {
  pointer: '#/captions',
  code: 'too_many',
  detail: `Captions can have at most ${new Intl.NumberFormat('en').format(MAX_WORDS)} words; got more.`,
};

/** A word may start this much before the one before it, as some services have it. */
const MAX_DISORDER = 0.1;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Some services return a space after each word, and others parts of words. */
const MAX_ENTRIES = 4 * MAX_WORDS;

export function report(reader: EntryReader, pointer: string, detail: string): void {
  reader.faults.push({ pointer, code: 'invalid_captions', detail });
}

/** Returns false, with a fault, where there are more than the words of any captions can have. */
export function countEntries(list: readonly unknown[], { faults, count }: EntryReader): boolean {
  count.entries += list.length;
  if (count.entries <= MAX_ENTRIES) return true;
  if (!faults.includes(TOO_MANY_WORDS)) faults.push(TOO_MANY_WORDS);
  return false;
}

/** The text of a word, as the services call it. */
function wordText(entry: JsonObject): unknown {
  return entry['punctuated_word'] ?? entry['word'] ?? entry['text'];
}

/** Reads words in their order. `areTimesOptional` where the segment around them has times. */
export function* readWords(
  list: readonly unknown[],
  pointer: string,
  reader: EntryReader,
  areTimesOptional = false,
): Steps<ReadWord[]> {
  if (!countEntries(list, reader)) return [];
  const words: ReadWord[] = [];
  let hasSpacing = false;
  let endsWithSpace = false;
  let latest = 0;
  for (const [index, entry] of list.entries()) {
    yield;
    const at = `${pointer}/${index}`;
    if (!isObject(entry)) {
      report(reader, at, `A word must be an object with text, start and end; got ${typeName(entry)}.`);
      continue;
    }
    const text = wordText(entry);
    const { type = 'word' } = entry;
    if (type !== 'word' && type !== null) {
      hasSpacing ||= typeof text === 'string' && text !== '' && text.trim() === '';
      continue;
    }
    const word = checkedText(text, at, reader);
    if (word === undefined) continue;
    const times = readTimes(entry, at, reader, areTimesOptional);
    if (times && times.start < latest - MAX_DISORDER) {
      report(reader, `${at}/start`, `The word starts at ${times.start} s, before the word before it at ${latest} s.`);
    }
    latest = Math.max(latest, times?.start ?? 0);
    words.push({ text: word, hasSpace: hasSpacing || endsWithSpace || /^\s/u.test(String(text)), times });
    hasSpacing = false;
    endsWithSpace = /\s$/u.test(String(text));
  }
  return words;
}

/** Undefined for a word without visible text, which is skipped, and for an invalid one, which is reported. */
function checkedText(text: unknown, pointer: string, reader: EntryReader): string | undefined {
  if (typeof text !== 'string') {
    report(
      reader,
      pointer,
      `A word needs its text in "text" or "word"; got ${text === undefined ? 'none' : typeName(text)}.`,
    );
    return undefined;
  }
  const word = cleanWord(text);
  if (isBlank(word)) return undefined;
  if (!hasMoreGraphemes(word, MAX_WORD_GRAPHEMES)) return word;
  report(reader, pointer, `A word can have at most ${MAX_WORD_GRAPHEMES} characters; ${quoteJson(word)} has more.`);
  return undefined;
}

/** `start` and `end` in seconds. Undefined where both are missing and may be, and for invalid ones, which are reported. */
export function readTimes(
  entry: JsonObject,
  pointer: string,
  reader: EntryReader,
  isOptional = false,
): Times | undefined {
  if (isOptional && (entry['start'] ?? entry['end'] ?? undefined) === undefined) return undefined;
  const start = readTime(entry['start'], 'start', pointer, reader);
  const end = readTime(entry['end'], 'end', pointer, reader);
  if (start === undefined || end === undefined) return undefined;
  if (end >= start) return { start, end };
  report(reader, `${pointer}/end`, `It ends at ${end} s, before its start at ${start} s.`);
  return undefined;
}

function readTime(value: unknown, name: string, pointer: string, reader: EntryReader): number | undefined {
  const unit = reader.perSecond === 1 ? 'seconds' : 'milliseconds';
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) {
    return toMilliseconds(value / reader.perSecond);
  }
  const got = value === undefined ? 'none' : typeof value === 'number' ? String(value) : typeName(value);
  report(reader, `${pointer}/${name}`, `"${name}" must be a number of ${unit} of at least 0; got ${got}.`);
  return undefined;
}

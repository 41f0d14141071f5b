// Reads the entries of transcripts: words and segments with times. Every fault names the entry.

import type { FieldFault } from '../../errors.ts';
import { isBlank } from '../clean.ts';
import { countGraphemes } from '../graphemes.ts';
import { quoteJson, typeName } from '../quote.ts';
import { cleanWord, type InputWord } from './joining.ts';
import { MAX_WORD_GRAPHEMES, toMilliseconds } from './timed-words.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** What the entries of one shape have in common. */
export interface EntryReader {
  readonly faults: FieldFault[];
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

/** A word may start this much before the one before it, as some services have it. */
const MAX_DISORDER = 0.1;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A transcript of another shape would otherwise have a fault per word. */
const MAX_FAULTS = 50;

export function report(reader: EntryReader, pointer: string, detail: string): void {
  if (reader.faults.length >= MAX_FAULTS) return;
  reader.faults.push({ pointer, code: 'invalid_captions', detail });
}

/** The text of a word, as the services call it. */
function wordText(entry: JsonObject): unknown {
  return entry['punctuated_word'] ?? entry['word'] ?? entry['text'];
}

/** Reads words in their order. `areTimesOptional` where the segment around them has times. */
export function readWords(
  list: readonly unknown[],
  pointer: string,
  reader: EntryReader,
  areTimesOptional = false,
): ReadWord[] {
  const words: ReadWord[] = [];
  let hasSpacing = false;
  let endsWithSpace = false;
  let latest = 0;
  for (const [index, entry] of list.entries()) {
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
  const length = countGraphemes(word);
  if (length <= MAX_WORD_GRAPHEMES) return word;
  const detail = `A word can have at most ${MAX_WORD_GRAPHEMES} characters; ${quoteJson(word)} has ${length}.`;
  report(reader, pointer, detail);
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

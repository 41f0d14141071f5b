// The tokens of whisper.cpp (`--output-json-full`), which are parts of words.

import type { Steps } from '../../../shared/steps.ts';
import { isBlank } from '../clean.ts';
import { countEntries, type EntryReader, isObject, type ReadWord, type Times } from './entries.ts';
import { cleanWord } from './joining.ts';
import { toMilliseconds } from './timed-words.ts';

/** Such as `[_BEG_]` and `[_TT_150]`. */
const MARKER = /^\[_.*\]$/u;
/** A token with a part of a character. */
const REPLACEMENT = '\ufffd';

/** Undefined where there are none, or where the text can't be told from them. */
export function* readTokens(value: unknown, segment: Times, reader: EntryReader): Steps<ReadWord[] | undefined> {
  if (!Array.isArray(value) || !countEntries(value, reader)) return undefined;
  const words: ReadWord[] = [];
  let latest = segment.start;
  for (const token of value as readonly unknown[]) {
    yield;
    const text = isObject(token) ? token['text'] : undefined;
    if (typeof text !== 'string' || text.includes(REPLACEMENT)) return undefined;
    const word = cleanWord(text);
    if (MARKER.test(text) || isBlank(word)) continue;
    // Some tokens have no times.
    const offsets = isObject(token) && isObject(token['offsets']) ? token['offsets'] : {};
    const start = Math.max(latest, timeOf(offsets['from'], segment) ?? latest);
    const end = Math.max(start, timeOf(offsets['to'], segment) ?? start);
    latest = end;
    words.push({ text: word, hasSpace: /^\s/u.test(text), times: { start, end } });
  }
  return words.length === 0 ? undefined : words;
}

function timeOf(value: unknown, { start, end }: Times): number | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  return Math.min(Math.max(toMilliseconds(value / 1_000), start), end);
}

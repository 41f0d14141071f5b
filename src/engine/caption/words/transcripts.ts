// The JSON that `captions` can be: our own cues, and what speech-to-text services return. A shape is recognized by its keys,
// and all become cues with words. A new shape is one entry of the table.

import type { FieldFault } from '../../../shared/errors.ts';
import type { Steps } from '../../../shared/steps.ts';
import { MAX_CUE_LENGTH, MAX_CUES } from '../overlay.ts';
import { typeName } from '../quote.ts';
import { shareTime, isSingleWord } from './estimate.ts';
import {
  type EntryReader,
  isObject,
  type JsonObject,
  type ReadWord,
  readTimes,
  readWords,
  report,
  type Times,
} from './entries.ts';
import { alignWords, cleaningLongText, joinWords, needsSpace, partsOfWords } from './joining.ts';
import { readTokens } from './tokens.ts';
import { atClusters, inOrder, type TimedWord } from './timed-words.ts';

/** A cue, or a part of a transcript. Its words are absent where the input has none. */
export interface ReadCue extends Times {
  readonly text: string;
  readonly words?: readonly TimedWord[];
  /** True if some of the words had no times. */
  readonly isEstimated?: true;
  readonly pointer: string;
  /** Where it is in a subtitle file. */
  readonly line?: number;
  /** Why it can't be shown. */
  readonly problem?: string;
}

export interface Transcript {
  readonly cues: readonly ReadCue[];
  /** Words that become pages. Cues, on the other hand, are pages themselves. */
  readonly isSpeech: boolean;
  /** As the service names it. */
  readonly language?: unknown;
}

interface Shape {
  readonly example: string;
  /** Undefined where the value has another shape. */
  readonly read: (value: unknown, reader: EntryReader) => Steps<Transcript | undefined>;
}

const POINTER = '#/captions';

const SHAPES: readonly Shape[] = [
  { example: '[{"text", "start", "end", "words"?}] (cues)', read: readCues },
  { example: 'results.channels[0].alternatives[0].words (Deepgram)', read: readDeepgram },
  { example: '{"transcription": [{"offsets", "text"}]} (whisper.cpp)', read: readWhisperCpp },
  { example: '{"segments": [{"words"}]} (OpenAI, Whisper)', read: readSegments },
  {
    example: '{"words": [{"text" or "word", "start", "end"}]} (OpenAI, ElevenLabs; AssemblyAI with "audio_duration")',
    read: readFlatWords,
  },
];

/** Undefined, with a fault, for an unknown shape. */
export function* readTranscript(value: unknown, faults: FieldFault[]): Steps<Transcript | undefined> {
  // Only AssemblyAI has this key, and times in milliseconds with it.
  const isAssemblyAi = isObject(value) && typeof value['audio_duration'] === 'number';
  const reader: EntryReader = { faults, count: { entries: 0 }, perSecond: isAssemblyAi ? 1_000 : 1 };
  for (const { read } of SHAPES) {
    const transcript = yield* read(value, reader);
    if (transcript) return transcript;
  }
  const known = SHAPES.map(({ example }) => example).join('; ');
  report(
    reader,
    POINTER,
    `Captions must be SRT, WebVTT, or JSON of one of these shapes: ${known}. Got ${typeName(value)} of another shape.`,
  );
  return undefined;
}

function* readCues(value: unknown, reader: EntryReader): Steps<Transcript | undefined> {
  if (!Array.isArray(value)) return undefined;
  const entries: readonly unknown[] = value;
  if (entries.some((entry) => isObject(entry) && ('word' in entry || 'punctuated_word' in entry))) {
    return yield* speechOf([{ words: yield* readWords(entries, POINTER, reader), pointer: POINTER }]);
  }
  return { cues: yield* readCueList(entries, POINTER, reader), isSpeech: false };
}

function* readCueList(entries: readonly unknown[], pointer: string, reader: EntryReader): Steps<ReadCue[]> {
  if (entries.length > MAX_CUES) {
    report(reader, POINTER, `Captions can have at most ${MAX_CUES} cues; got ${entries.length}.`);
  }
  const cues: ReadCue[] = [];
  for (const [index, entry] of entries.slice(0, MAX_CUES).entries()) {
    cues.push(...(yield* readCue(entry, `${pointer}/${index}`, reader)));
    yield;
  }
  return cues;
}

function* readCue(entry: unknown, pointer: string, reader: EntryReader): Steps<ReadCue[]> {
  if (!isObject(entry)) {
    report(reader, pointer, `A cue must be an object with text, start and end; got ${typeName(entry)}.`);
    return [];
  }
  const times = readTimes(entry, pointer, reader);
  if (times && times.end === times.start)
    report(reader, `${pointer}/end`, `It must end after its start at ${times.start} s.`);
  const words = yield* wordsIn(entry, pointer, reader);
  const { text } = entry;
  if (typeof text !== 'string' && words === undefined) {
    report(
      reader,
      `${pointer}/text`,
      `A cue needs its text as a string; got ${text === undefined ? 'none' : typeName(text)}.`,
    );
    return [];
  }
  return times ? [yield* cueOf({ text, words, times, pointer })] : [];
}

/** Undefined where the entry has no list of words. */
function* wordsIn(entry: JsonObject, pointer: string, reader: EntryReader): Steps<readonly ReadWord[] | undefined> {
  const { words } = entry;
  if (words === undefined || words === null) return undefined;
  if (Array.isArray(words))
    return words.length === 0 ? undefined : yield* readWords(words, `${pointer}/words`, reader, hasTimes(entry));
  report(reader, `${pointer}/words`, `Words must be an array; got ${typeName(words)}.`);
  return undefined;
}

function hasTimes({ start, end }: JsonObject): boolean {
  return typeof start === 'number' && typeof end === 'number';
}

function* readSegments(value: unknown, reader: EntryReader): Steps<Transcript | undefined> {
  if (!isObject(value) || !Array.isArray(value['segments'])) return undefined;
  const segments: readonly unknown[] = value['segments'];
  const hasWords = segments.some(
    (segment) => isObject(segment) && Array.isArray(segment['words']) && segment['words'].length > 0,
  );
  // OpenAI has the words beside the segments.
  if (!hasWords && Array.isArray(value['words']) && value['words'].length > 0) return undefined;
  const language = languageOf(value);
  if (!hasWords) {
    return { cues: yield* readCueList(segments, `${POINTER}/segments`, reader), isSpeech: false, ...language };
  }
  const parts: SpeechPart[] = [];
  for (const [index, segment] of segments.entries()) {
    yield;
    const pointer = `${POINTER}/segments/${index}`;
    if (!isObject(segment)) {
      report(reader, pointer, `A segment must be an object with words; got ${typeName(segment)}.`);
      continue;
    }
    const words = yield* wordsIn(segment, pointer, reader);
    const times = hasTimes(segment) ? readTimes(segment, pointer, reader) : undefined;
    if (words !== undefined) parts.push({ text: segment['text'], words, times, pointer });
  }
  return { ...(yield* speechOf(parts)), ...language };
}

function* readFlatWords(value: unknown, reader: EntryReader): Steps<Transcript | undefined> {
  if (!isObject(value) || !Array.isArray(value['words'])) return undefined;
  const words = yield* readWords(value['words'], `${POINTER}/words`, reader);
  const part = { text: value['text'], words, pointer: `${POINTER}/words` };
  return { ...(yield* speechOf([part])), ...languageOf(value) };
}

function* readDeepgram(value: unknown, reader: EntryReader): Steps<Transcript | undefined> {
  const channel = at(at(at(value, 'results'), 'channels'), 0);
  const alternative = at(at(channel, 'alternatives'), 0);
  const words = at(alternative, 'words');
  if (!isObject(alternative) || !Array.isArray(words)) return undefined;
  const pointer = `${POINTER}/results/channels/0/alternatives/0/words`;
  const part = { text: alternative['transcript'], words: yield* readWords(words, pointer, reader), pointer };
  return { ...(yield* speechOf([part])), language: at(channel, 'detected_language') };
}

function* readWhisperCpp(value: unknown, reader: EntryReader): Steps<Transcript | undefined> {
  if (!isObject(value) || !Array.isArray(value['transcription'])) return undefined;
  const entries: readonly unknown[] = value['transcription'];
  const inMilliseconds = { ...reader, perSecond: 1_000 };
  const language = { language: at(value['result'], 'language') };
  const read: WhisperEntry[] = [];
  for (const [index, entry] of entries.entries()) {
    yield;
    const pointer = `${POINTER}/transcription/${index}`;
    const offsets = at(entry, 'offsets');
    if (!isObject(entry) || !isObject(offsets) || typeof entry['text'] !== 'string') {
      report(reader, pointer, 'An entry of "transcription" needs "text", and "offsets" with "from" and "to".');
      continue;
    }
    const times = readTimes({ start: offsets['from'], end: offsets['to'] }, `${pointer}/offsets`, inMilliseconds);
    if (times === undefined) continue;
    read.push({ text: entry['text'], times, tokens: yield* readTokens(entry['tokens'], times, reader), pointer });
  }
  if (read.length > 0 && read.every(({ tokens }) => tokens !== undefined)) {
    return { ...(yield* speechOf(read.map(({ tokens = [], ...part }) => ({ ...part, words: tokens })))), ...language };
  }
  // With --max-len 1, every entry is a word.
  if (read.length > 1 && (yield* areSingleWords(read))) {
    const entriesAsWords = read.map(({ text, times }) => ({ text, start: times.start, end: times.end }));
    const words = yield* readWords(entriesAsWords, `${POINTER}/transcription`, reader);
    return { ...(yield* speechOf([{ words, pointer: `${POINTER}/transcription` }])), ...language };
  }
  const cues: ReadCue[] = [];
  for (const { text, times, pointer } of read.filter((entry) => entry.times.end > entry.times.start)) {
    cues.push(yield* cueOf({ text, words: undefined, times, pointer }));
    if (cues.length > MAX_CUES) {
      report(reader, POINTER, `Captions can have at most ${MAX_CUES} cues; got more.`);
      break;
    }
  }
  return { cues, isSpeech: false, ...language };
}

interface WhisperEntry {
  readonly text: string;
  readonly times: Times;
  readonly tokens: readonly ReadWord[] | undefined;
  readonly pointer: string;
}

function* areSingleWords(entries: readonly WhisperEntry[]): Steps<boolean> {
  for (const { text } of entries) if (!(yield* isSingleWord(text))) return false;
  return true;
}

function at(value: unknown, key: string | number): unknown {
  if (Array.isArray(value)) return value[Number(key)];
  return isObject(value) ? value[key] : undefined;
}

function languageOf(value: JsonObject): Pick<Transcript, 'language'> {
  return { language: value['language'] ?? value['language_code'] };
}

interface SpeechPart {
  readonly text?: unknown;
  readonly words: readonly ReadWord[];
  readonly times?: Times | undefined;
  readonly pointer: string;
}

/** Joins the parts of a transcript, whose limits are not those of sentences. */
function* speechOf(parts: readonly SpeechPart[]): Steps<Transcript> {
  const cues: ReadCue[] = [];
  for (const part of parts) if (part.words.length > 0) cues.push(yield* cueOf(part));
  let text = '';
  const words: TimedWord[] = [];
  for (const cue of cues) {
    yield;
    if (text !== '' && needsSpace(text, cue.text)) text += ' ';
    const offset = text.length;
    text += cue.text;
    for (const word of cue.words ?? []) words.push({ ...word, from: word.from + offset, to: word.to + offset });
  }
  const ordered = inOrder(words);
  const [first, last] = [ordered[0], ordered.at(-1)];
  if (!first || !last) return { cues: [], isSpeech: true };
  const estimated = cues.some(({ isEstimated }) => isEstimated) && ({ isEstimated: true } as const);
  return {
    cues: [{ text, words: ordered, start: first.start, end: last.end, pointer: POINTER, ...estimated }],
    isSpeech: true,
  };
}

interface CueParts extends Pick<SpeechPart, 'text' | 'times' | 'pointer'> {
  readonly words: readonly ReadWord[] | undefined;
}

function* cueOf({ text: given, words: entries, times, pointer }: CueParts): Steps<ReadCue> {
  const sent = typeof given === 'string' ? given : '';
  // Words can do without their text.
  const isTooLong = sent.length > MAX_CUE_LENGTH;
  const text = isTooLong ? '' : yield* cleaningLongText(sent);
  const read = entries && (yield* wholeWords(entries));
  if (read === undefined || read.length === 0) {
    const problem = isTooLong && { problem: `It has more than ${MAX_CUE_LENGTH} characters.` };
    return { text, start: 0, end: 0, ...times, pointer, ...problem };
  }
  const aligned = text === '' ? undefined : yield* alignWords(text, read);
  const joined = aligned ?? (yield* joinWords(read));
  const timed = yield* withTimes(joined.ranges, read, joined.text, times);
  const words = yield* atClusters({ text: joined.text, words: timed });
  const [first, last] = [words[0], words.at(-1)];
  const own = times ?? { start: first?.start ?? 0, end: last?.end ?? 0 };
  const estimated = read.some((word) => word.times === undefined) && ({ isEstimated: true } as const);
  return { text: joined.text, words, ...own, pointer, ...estimated };
}

/** Some services split words, such as "That" and "'s". */
function* wholeWords(entries: readonly ReadWord[]): Steps<ReadWord[]> {
  const areParts = yield* partsOfWords(entries);
  const words: ReadWord[] = [];
  for (const [index, entry] of entries.entries()) {
    const before = words.at(-1);
    if (before === undefined || !areParts[index]) words.push(entry);
    else words[words.length - 1] = { ...before, text: before.text + entry.text, times: joinedTimes(before, entry) };
  }
  return words;
}

function joinedTimes({ times: one }: ReadWord, { times: other }: ReadWord): Times | undefined {
  return one && other ? { start: one.start, end: Math.max(one.end, other.end) } : (one ?? other);
}

/** Words without times share what their neighbors leave. */
function* withTimes(
  ranges: readonly { readonly from: number; readonly to: number }[],
  read: readonly ReadWord[],
  text: string,
  times: Times | undefined,
): Steps<TimedWord[]> {
  const words: TimedWord[] = [];
  for (let index = 0; index < ranges.length; ) {
    let end = index;
    while (end < ranges.length && read[end]?.times === undefined) end += 1;
    if (end > index) {
      const after = read[end]?.times?.start ?? times?.end ?? 0;
      const before = Math.min(words.at(-1)?.end ?? times?.start ?? 0, after);
      words.push(...(yield* shareTime(text, ranges.slice(index, end), before, after)));
    }
    const [range, own] = [ranges[end], read[end]?.times];
    if (range && own) words.push({ ...range, ...own });
    index = end + 1;
  }
  return inOrder(words);
}

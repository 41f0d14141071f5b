// What a transcription service heard, made fit for captions. Its response isn't the caller's fault, so where captions of a caller
// get a fault, it is repaired: times outside the video or out of order, and words that are too long. What was probably not said
// is left out. Every text has a limit, and every step takes time in proportion to the response.

import { atOnce } from '../../../shared/slices.ts';
import { isBlank } from '../clean.ts';
import { graphemes } from '../graphemes.ts';
import { findWords } from './estimate.ts';
import { alignWords, cleanLongText, cleanWord, partsOfWords } from './joining.ts';
import { MAX_WORD_GRAPHEMES, MAX_WORDS } from './timed-words.ts';

/** A word as a service returns it. */
interface HeardWord {
  readonly text: string;
  readonly start?: number | undefined;
  readonly end?: number | undefined;
}

interface HeardSegment extends HeardWord {
  readonly words: readonly HeardWord[];
  /** What Whisper says about a segment, where the service returns it. */
  readonly noSpeechProbability?: number | undefined;
  readonly logProbability?: number | undefined;
  readonly compressionRatio?: number | undefined;
}

/** The response of a service. Either list may be empty. */
export interface Heard {
  readonly language?: string | undefined;
  readonly text: string;
  readonly words: readonly HeardWord[];
  readonly segments: readonly HeardSegment[];
}

/** What is known about the sound that the service got. */
export interface SoundTrack {
  readonly seconds: number;
  /** One character per tenth of a second: 1 where the sound reaches -50 dBFS, 0 elsewhere. */
  readonly audible: string;
}

/** A word without times is between others that have them, or in a segment with times. */
interface SpokenWord {
  readonly text: string;
  readonly start?: number;
  readonly end?: number;
}

interface SpokenSegment {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly words?: readonly SpokenWord[];
}

/** A transcript as `captions` accepts it, and as it is kept with a render. */
export interface SpokenTranscript {
  readonly language?: string;
  readonly text?: string;
  readonly words?: readonly SpokenWord[];
  readonly segments?: readonly SpokenSegment[];
  /** The number of words that were left out, because they were probably not said. */
  readonly uncertainWords?: number;
  /** True if words were too long and are cut. */
  readonly hasCutWords?: true;
}

/** The response can't become captions of this video. The message is about the service, not about the caller. */
export class UnusableTranscript extends Error {}

/** Services describe sounds this way, such as [Music] or [BLANK_AUDIO]. */
const SOUNDS = /\[[^[\]]*\]|[♪♫]/gu;
/** Some use these, which also occur in what is said. */
const MAYBE_SOUNDS = /\([^()]*\)|\*[^*]*\*/gu;
const ONLY_SOUND = /^\s*(?:\[[^[\]]*\]|[♪♫])\s*$/u;

/** Far more than that many words need. */
const MAX_CHARACTERS = 20 * MAX_WORDS;
/** Parts between spaces. Some are punctuation. */
const MAX_PARTS = 2 * MAX_WORDS;

/** A word may start this much before the one before it. Times are less exact than the order of words. */
const MAX_DISORDER = 0.1;
/** A segment without words is shown at least this long. */
const MIN_SECONDS = 0.1;

/** Whisper takes a segment with both for silence. */
const MAX_NO_SPEECH = 0.6;
const MIN_LOG_PROBABILITY = -1;
/** Text that repeats itself compresses better than speech. */
const MAX_COMPRESSION = 2.4;
/** Without the ratio, the same segment this many times in a row is still taken for speech. */
const MAX_REPEATS = 3;
/** Sound this close to a word counts as its sound, because times of words aren't exact. */
const TIME_TOLERANCE = 0.2;

/** Returns undefined if nothing is said. Throws `UnusableTranscript`. */
export function spokenTranscript(heard: Heard, track: SoundTrack): SpokenTranscript | undefined {
  assertSizes(heard);
  const { text, words, segments } = heard;
  const texts = [text, ...words.map((word) => word.text), ...segments.map(segmentText)];
  if (!texts.some(isSpeech)) return undefined;
  const areWordsTimed = words.some(isTimed);
  if (!areWordsTimed && !segments.some((segment) => [segment, ...segment.words].some(isTimed))) {
    throw new UnusableTranscript('returned text without times');
  }
  const reader = new TranscriptReader(track, segments);
  const read = areWordsTimed ? reader.words(words, text) : reader.segments();
  if (read === undefined) return undefined;
  return { ...(heard.language !== undefined && { language: heard.language }), ...read, ...reader.notes };
}

function assertSizes({ text, words, segments }: Heard): void {
  const lists = [
    [text],
    segments.map(segmentText),
    [...words, ...segments.flatMap((segment) => segment.words)].map((word) => word.text),
  ];
  for (const list of lists) {
    const characters = list.reduce((sum, part) => sum + part.length, 0);
    if (characters > MAX_CHARACTERS) throw new UnusableTranscript(`returned more than ${MAX_CHARACTERS} characters`);
  }
  for (const list of lists.slice(0, 2)) {
    const parts = list.reduce((sum, part) => sum + (part.match(/\s+/gu)?.length ?? 0) + 1, 0);
    if (parts > MAX_PARTS) throw new UnusableTranscript(`returned more than ${MAX_WORDS} words`);
  }
}

/** Reads one transcript, and counts what it changes. */
class TranscriptReader {
  readonly #track: SoundTrack;
  readonly #segments: readonly HeardSegment[];
  readonly #invented: ReadonlySet<HeardSegment>;
  #words = 0;
  #uncertain = 0;
  #isCut = false;

  constructor(track: SoundTrack, segments: readonly HeardSegment[]) {
    this.#track = track;
    this.#segments = inOrder(segments);
    this.#invented = inventedIn(this.#segments);
  }

  get notes(): Pick<SpokenTranscript, 'uncertainWords' | 'hasCutWords'> {
    return {
      ...(this.#uncertain > 0 && { uncertainWords: this.#uncertain }),
      ...(this.#isCut && { hasCutWords: true as const }),
    };
  }

  /** Words beside segments, as OpenAI returns them. */
  words(heard: readonly HeardWord[], text: string): Pick<SpokenTranscript, 'text' | 'words' | 'segments'> | undefined {
    const isInvented = this.#inventedTimes();
    const read = this.#read(heard, withoutSounds(text), isInvented);
    if (!read.words.some((word) => isSpeech(word.text))) return undefined;
    if (read.words.every(isTimed)) return read;
    // Words without times at the end share what is left of the sound.
    return { segments: [{ text: '', ...read, start: 0, end: this.#track.seconds }] };
  }

  segments(): Pick<SpokenTranscript, 'segments'> | undefined {
    const read: SpokenSegment[] = [];
    for (const segment of this.#segments) {
      const kept = isSpeech(segmentText(segment)) ? this.#segment(segment, read.at(-1)?.end ?? 0) : undefined;
      if (kept) read.push(kept);
    }
    if (read.length === 0) return undefined;
    // Where some segments have words, others get theirs, too, without times.
    return { segments: read.some(({ words }) => words) ? read.map(withWords) : read };
  }

  #segment(segment: HeardSegment, previousEnd: number): SpokenSegment | undefined {
    const { seconds } = this.#track;
    const { words: heard, start: ownStart, end: ownEnd } = segment;
    const text = withoutSounds(segment.text);
    const isSilent = heard.every((word) => !isTimed(word)) && isTimed(segment) && !this.#isAudible(segment);
    if (this.#invented.has(segment) || isSilent) {
      this.#uncertain += Math.max(heard.length, atOnce(findWords(text)).length);
      return undefined;
    }
    if (heard.length === 0) this.#count(atOnce(findWords(text)).length);
    const read = this.#read(heard, text, () => false);
    if (heard.length > 0 && read.words.length === 0) return undefined;
    const first = read.words.find(isTimed)?.start;
    const start = within(ownStart ?? first ?? previousEnd, seconds);
    const end = Math.max(within(ownEnd ?? start, seconds), read.words.findLast(isTimed)?.end ?? 0, start + MIN_SECONDS);
    return { text: read.text ?? '', start, end, ...(read.words.length > 0 && { words: read.words }) };
  }

  /** The text has the words without those that are left out. It is absent where they aren't found in it. */
  #read(
    heard: readonly HeardWord[],
    text: string,
    isInvented: (time: number) => boolean,
  ): { readonly text?: string; readonly words: readonly SpokenWord[] } {
    const cleaned = inOrder(heard).flatMap((word) => this.#clean(word));
    const inputs = cleaned.map(({ visible, hasSpace }) => ({ text: visible, hasSpace }));
    this.#count(atOnce(partsOfWords(inputs)).filter((isPart) => !isPart).length);
    const isKept = cleaned.map(({ word }) => !isTimed(word) || (!isInvented(middleOf(word)) && this.#isAudible(word)));
    const dropped = isKept.filter((kept) => !kept).length;
    this.#uncertain += dropped;
    // Punctuation is only in the text, so the words that stay take theirs along.
    const aligned = dropped > 0 && text !== '' ? atOnce(alignWords(text, inputs)) : undefined;
    let latest = 0;
    const words = cleaned.flatMap(({ word, visible, hasSpace }, index): SpokenWord[] => {
      if (!isKept[index]) return [];
      const range = aligned?.ranges[index];
      const shown = this.#cut(range ? text.slice(range.from, range.to) : visible);
      const isSpaced = range ? /\s/u.test(text.slice(aligned?.ranges[index - 1]?.to ?? 0, range.from)) : hasSpace;
      // Whether a space precedes the word is part of its text.
      const spaced = (isSpaced ? ' ' : '') + shown;
      if (!isTimed(word)) return [{ text: spaced }];
      const start = Math.max(within(word.start, this.#track.seconds), latest);
      latest = start;
      return [{ text: spaced, start, end: Math.max(within(word.end ?? start, this.#track.seconds), start) }];
    });
    return dropped > 0 ? { words } : { text, words };
  }

  #clean(word: HeardWord): { word: HeardWord; visible: string; hasSpace: boolean }[] {
    const visible = ONLY_SOUND.test(word.text) ? '' : cleanWord(word.text);
    return isBlank(visible) ? [] : [{ word, visible, hasSpace: /^\s/u.test(word.text) }];
  }

  #cut(word: string): string {
    // A character has at least one UTF-16 unit.
    if (word.length <= MAX_WORD_GRAPHEMES) return word;
    const parts = graphemes(word);
    if (parts.length <= MAX_WORD_GRAPHEMES) return word;
    this.#isCut = true;
    return parts.slice(0, MAX_WORD_GRAPHEMES).join('');
  }

  #count(words: number): void {
    this.#words += words;
    if (this.#words > MAX_WORDS) throw new UnusableTranscript(`returned more than ${MAX_WORDS} words`);
  }

  /** Words and segments after the end of the sound aren't audible. */
  #isAudible({ start, end = start }: TimedEntry): boolean {
    const first = Math.max(0, Math.floor((start - TIME_TOLERANCE) * 10));
    const at = this.#track.audible.indexOf('1', first);
    return at >= 0 && at < (Math.max(start, end) + TIME_TOLERANCE) * 10;
  }

  /** For times in ascending order. */
  #inventedTimes(): (time: number) => boolean {
    const ranges = this.#segments.filter((segment) => this.#invented.has(segment)).filter(isTimed);
    let next = 0;
    return (time) => {
      while (next < ranges.length && (ranges[next]?.end ?? 0) <= time) next += 1;
      const range = ranges[next];
      return range !== undefined && range.start <= time;
    };
  }
}

interface TimedEntry {
  readonly start: number;
  readonly end?: number | undefined;
}

function isTimed<Entry extends HeardWord>(entry: Entry): entry is Entry & { readonly start: number } {
  return entry.start !== undefined;
}

function middleOf({ start, end = start }: TimedEntry): number {
  return (start + Math.max(start, end)) / 2;
}

/** Speech recognition writes text for silence and noise, too, and sometimes repeats itself. */
function inventedIn(segments: readonly HeardSegment[]): ReadonlySet<HeardSegment> {
  const invented = new Set<HeardSegment>();
  let run: HeardSegment[] = [];
  let repeatedText = '';
  for (const segment of segments) {
    const { noSpeechProbability = 0, logProbability = 0, compressionRatio } = segment;
    const isSilence = noSpeechProbability > MAX_NO_SPEECH && logProbability < MIN_LOG_PROBABILITY;
    if (isSilence || (compressionRatio ?? 0) > MAX_COMPRESSION) invented.add(segment);
    const text = segmentText(segment).trim();
    if (compressionRatio !== undefined || text !== repeatedText) run = [];
    if (compressionRatio === undefined) run.push(segment);
    repeatedText = text;
    if (run.length <= MAX_REPEATS) continue;
    // The first segments of a run turn out to be repeated with the last that is allowed.
    for (const repeated of run.slice(run.length === MAX_REPEATS + 1 ? 0 : -1)) invented.add(repeated);
  }
  return invented;
}

function withWords(segment: SpokenSegment): SpokenSegment {
  if (segment.words) return segment;
  const words = atOnce(findWords(segment.text)).map(({ from, to }) => ({ text: ` ${segment.text.slice(from, to)}` }));
  return { ...segment, words };
}

function segmentText({ text, words }: HeardSegment): string {
  return text === '' ? words.map((word) => word.text).join('') : text;
}

function isSpeech(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text.replaceAll(SOUNDS, ' ').replaceAll(MAYBE_SOUNDS, ' '));
}

function withoutSounds(text: string): string {
  return cleanLongText(text.replaceAll(SOUNDS, ' '));
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

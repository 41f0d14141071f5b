// The `captions` field: subtitles or a transcript, whose cues and pages become bars.

import type { FieldFault } from '../../shared/errors.ts';
import { AppError } from '../../shared/errors.ts';
import { ExcessiveJson, parseJson } from '../../shared/parse-json.ts';
import type { Steps } from '../../shared/steps.ts';
import { cleanText, isBlank } from './clean.ts';
import { withLanguage } from './language.ts';
import { DEFAULT_MAX_LINES, MAX_CAPTIONS_BYTES, MAX_CUES, MAX_OVERLAYS, type Overlay, type Paging } from './overlay.ts';
import { highlightOf } from './style.ts';
import { parseSubtitles } from './subtitles.ts';
import { lengthProblem } from './text-rules.ts';
import { estimateWords } from './words/estimate.ts';
import { inlineWords } from './words/inline-times.ts';
import { TOO_MANY_WORDS } from './words/entries.ts';
import { cleaningLongText } from './words/joining.ts';
import { phrasesOf } from './words/phrases.ts';
import { MAX_WORDS } from './words/timed-words.ts';
import { type ReadCue, readTranscript, type Transcript } from './words/transcripts.ts';
import { transcriptLanguage } from './words/transcript-language.ts';

const POINTER = '#/captions';
export const NEEDS_VIDEO: FieldFault = {
  pointer: POINTER,
  code: 'conflict',
  detail: 'Captions need a video. Send text or overlays instead, or a video in asset or asset_url.',
};

/** How many faults of captions a response lists. */
const MAX_FAULTS = 20;

export interface CueOptions {
  readonly position?: number | undefined;
  /** Undefined if the request has neither `max_words` nor `max_lines`. */
  readonly paging?: Paging | undefined;
  /** True if the request names a language, which then counts instead of that of a transcript. */
  readonly hasLanguage: boolean;
  /** By default, that of callers with a key. */
  readonly maxBytes?: number | undefined;
}

/** Cues without visible text show nothing in players either, so they are left out. Reading ends after too many faults. */
export function* parseCues(source: unknown, options: CueOptions, faults: FieldFault[]): Steps<Overlay[]> {
  const { maxBytes = MAX_CAPTIONS_BYTES } = options;
  const bytes = Buffer.byteLength(typeof source === 'string' ? source : JSON.stringify(source));
  if (bytes > maxBytes) {
    const detail = `The field is ${bytes} bytes long; the limit is ${maxBytes}.`;
    faults.push({ pointer: POINTER, code: 'too_large', detail });
    return [];
  }
  const found: FieldFault[] = [];
  const steps = readOverlays(source, options, found);
  let step = steps.next();
  while (step.done !== true && found.length <= MAX_FAULTS) {
    yield;
    step = steps.next();
  }
  faults.push(...found.slice(0, MAX_FAULTS));
  if (found.length > MAX_FAULTS) {
    report(faults, `Captions have more errors than the first ${MAX_FAULTS}, which are listed. Reading ended there.`);
  }
  return step.done === true ? step.value : [];
}

function* readOverlays(
  source: unknown,
  { position, paging, hasLanguage }: CueOptions,
  faults: FieldFault[],
): Steps<Overlay[]> {
  const transcript = yield* readSource(source, faults);
  if (transcript === undefined) return [];
  const { cues, isSpeech, language } = transcript;
  const paged = isSpeech ? { maxLines: DEFAULT_MAX_LINES, ...paging } : paging;
  const overlays: Overlay[] = [];
  let words = 0;
  for (const cue of cues.slice(0, MAX_CUES)) {
    yield;
    const added = yield* overlaysOf(cue, position ?? null, paged, faults);
    for (const overlay of added) overlays.push(overlay);
    words += wordCount(added);
    if (words > MAX_WORDS) break;
  }
  checkLimits(overlays, faults);
  if (overlays.length === 0 && faults.length === 0) {
    report(
      faults,
      'Captions have no cue with text. Send the content of an SRT or WebVTT file, or a transcript as JSON.',
    );
  }
  return [...withLanguage(overlays, hasLanguage ? undefined : transcriptLanguage(language))];
}

function report(faults: FieldFault[], detail: string): void {
  faults.push({ pointer: POINTER, code: 'invalid_captions', detail });
}

/** A string can also be JSON, because forms have only text. */
const STARTS_LIKE_JSON = /^\s*[[{]/u;

function* readSource(source: unknown, faults: FieldFault[]): Steps<Transcript | undefined> {
  if (typeof source !== 'string') return yield* readTranscript(source, faults);
  if (!STARTS_LIKE_JSON.test(source)) return yield* readSubtitles(source, faults);
  const value = readJson(source, faults);
  return value === undefined ? undefined : yield* readTranscript(value, faults);
}

/** Returns undefined after a fault, because JSON has no such value. */
function readJson(source: string, faults: FieldFault[]): unknown {
  try {
    return parseJson(source);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const invalid =
      "Captions start like JSON but aren't valid JSON. Send the whole response of the service, or SRT or WebVTT.";
    const excessive = `Captions are JSON with ${error.message}. Send only the words and their times.`;
    report(faults, error instanceof ExcessiveJson ? excessive : invalid);
    return undefined;
  }
}

/** Invalid cues are reported with the others, in the order of the file. */
function* readSubtitles(source: string, faults: FieldFault[]): Steps<Transcript> {
  const cues: ReadCue[] = [];
  let problems = 0;
  for (const cue of parseSubtitles(source)) {
    yield;
    if (cue === undefined) continue;
    if (cues.length === MAX_CUES) {
      report(faults, `Captions can have at most ${MAX_CUES} cues; got more.`);
      break;
    }
    const [pointer, { line }] = [`${POINTER}/${cues.length}`, cue];
    if ('problem' in cue) {
      cues.push({ text: '', start: 0, end: 0, pointer, line, problem: `${cue.problem}.` });
      problems += 1;
      if (problems > MAX_FAULTS) break;
      continue;
    }
    const { start, end, chunks } = cue;
    const text = chunks ? yield* cleaningLongText(cue.text) : cleanText(cue.text);
    const timed = chunks && (yield* inlineWords(text, chunks, cue));
    cues.push({ text, start, end, pointer, line, ...timed });
  }
  return { cues, isSpeech: false };
}

/** A cue as one overlay, or as one per phrase if it becomes pages. */
function* overlaysOf(
  cue: ReadCue,
  position: number | null,
  paging: Paging | undefined,
  faults: FieldFault[],
): Steps<Overlay[]> {
  const { text, start, end, words, isEstimated, pointer, line, problem } = cue;
  const reportCue = (detail: string): void => {
    faults.push({ pointer, code: 'invalid_captions', detail: line === undefined ? detail : `Line ${line}: ${detail}` });
  };
  if (problem !== undefined) reportCue(problem);
  if (isBlank(text)) return [];
  const estimated = isEstimated && { isEstimated };
  if (paging === undefined) {
    const length = lengthProblem(text);
    if (length) reportCue(length.detail);
    return [{ text, position, start, end, isCue: true, ...(words && { words }), ...estimated }];
  }
  const timed = words ?? (yield* estimateWords(text, start, end));
  const rest = { position, isCue: true, paging, ...(words ? estimated : ({ isEstimated: true } as const)) } as const;
  return (yield* phrasesOf({ text, words: timed })).map((phrase) => ({ ...phrase, ...rest }));
}

/** Gives words to cues that have none and need them, because the word that is being spoken stands out. */
export function* withWords(overlays: readonly Overlay[], faults: FieldFault[]): Steps<readonly Overlay[]> {
  const complete: Overlay[] = [];
  let count = 0;
  for (const overlay of overlays) {
    const { text, start, end, words, style, isCue } = overlay;
    const isNeeded = isCue === true && highlightOf(style).mode !== 'none';
    if (isNeeded && words === undefined && start !== undefined && end !== undefined) {
      complete.push({ ...overlay, words: yield* estimateWords(text, start, end), isEstimated: true });
    } else complete.push(overlay);
    count += complete.at(-1)?.words?.length ?? 0;
    if (count > MAX_WORDS) break;
    yield;
  }
  checkWords(count, faults);
  return complete;
}

function checkWords(count: number, faults: FieldFault[]): void {
  const isReported = faults.some(({ pointer, code }) => pointer === POINTER && code === 'too_many');
  if (count > MAX_WORDS && !isReported) faults.push(TOO_MANY_WORDS);
}

export function wordCount(overlays: readonly Overlay[]): number {
  return overlays.reduce((sum, { words }) => sum + (words?.length ?? 0), 0);
}

function checkLimits(overlays: readonly Overlay[], faults: FieldFault[]): void {
  checkWords(wordCount(overlays), faults);
  if (mostAtOnce(overlays) > MAX_OVERLAYS) {
    report(faults, `At most ${MAX_OVERLAYS} cues can be shown at the same time.`);
  }
}

function mostAtOnce(cues: readonly Overlay[]): number {
  const starts = Float64Array.from(cues, ({ start = 0 }) => start).toSorted();
  const ends = Float64Array.from(cues, ({ end = Number.POSITIVE_INFINITY }) => end).toSorted();
  let [ended, most] = [0, 0];
  for (const [index, start] of starts.entries()) {
    while ((ends[ended] ?? Number.POSITIVE_INFINITY) <= start) ended += 1;
    most = Math.max(most, index + 1 - ended);
  }
  return most;
}

/** Rejects cues for an asset that turns out to be an image. */
export function assertNoCues(overlays: readonly Overlay[]): void {
  if (overlays.some(({ isCue }) => isCue)) throw needsVideo();
}

export function needsVideo(): AppError {
  return new AppError('invalid_fields', NEEDS_VIDEO.detail, { faults: [NEEDS_VIDEO] });
}

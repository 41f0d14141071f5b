// The `captions` field: subtitles or a transcript, whose cues and pages become bars.

import type { FieldFault } from '../errors.ts';
import { AppError } from '../errors.ts';
import { cleanText, isBlank } from './clean.ts';
import { withLanguage } from './language.ts';
import { DEFAULT_MAX_LINES, MAX_CAPTIONS_BYTES, MAX_CUES, MAX_OVERLAYS, type Overlay, type Paging } from './overlay.ts';
import { highlightOf } from './style.ts';
import { parseSubtitles } from './subtitles.ts';
import { lengthProblem } from './text-rules.ts';
import { estimateWords } from './words/estimate.ts';
import { inlineWords } from './words/inline-times.ts';
import { cleanLongText } from './words/joining.ts';
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

const NUMBER = new Intl.NumberFormat('en');

export interface CueOptions {
  readonly position?: number | undefined;
  /** Undefined if the request has neither `max_words` nor `max_lines`. */
  readonly paging?: Paging | undefined;
  /** True if the request names a language, which then counts instead of that of a transcript. */
  readonly hasLanguage: boolean;
}

/** Cues without visible text show nothing in players either, so they are left out. */
export function parseCues(
  source: unknown,
  { position, paging, hasLanguage }: CueOptions,
  faults: FieldFault[],
): Overlay[] {
  const bytes = Buffer.byteLength(typeof source === 'string' ? source : JSON.stringify(source));
  if (bytes > MAX_CAPTIONS_BYTES) {
    const detail = `The field is ${bytes} bytes long; the limit is ${MAX_CAPTIONS_BYTES}.`;
    faults.push({ pointer: POINTER, code: 'too_large', detail });
    return [];
  }
  const faultsBefore = faults.length;
  const transcript = readSource(source, faults);
  if (transcript === undefined) return [];
  const { cues, isSpeech, language } = transcript;
  if (cues.length > MAX_CUES) report(faults, `Captions can have at most ${MAX_CUES} cues; got ${cues.length}.`);
  const paged = isSpeech ? { maxLines: DEFAULT_MAX_LINES, ...paging } : paging;
  const overlays = cues.slice(0, MAX_CUES).flatMap((cue) => overlaysOf(cue, position ?? null, paged, faults));
  checkLimits(overlays, faults);
  if (overlays.length === 0 && faults.length === faultsBefore) {
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

function readSource(source: unknown, faults: FieldFault[]): Transcript | undefined {
  if (typeof source !== 'string') return readTranscript(source, faults);
  if (!STARTS_LIKE_JSON.test(source)) return readSubtitles(source);
  try {
    return readTranscript(JSON.parse(source), faults);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    report(
      faults,
      "Captions start like JSON but aren't valid JSON. Send the whole response of the service, or SRT or WebVTT.",
    );
    return undefined;
  }
}

/** Invalid cues are reported with the others, in the order of the file. */
function readSubtitles(source: string): Transcript {
  const cues = parseSubtitles(source).map((cue, index): ReadCue => {
    const [pointer, { line }] = [`${POINTER}/${index}`, cue];
    if ('problem' in cue) return { text: '', start: 0, end: 0, pointer, line, problem: `${cue.problem}.` };
    const { start, end, chunks } = cue;
    const text = chunks ? cleanLongText(cue.text) : cleanText(cue.text);
    return { text, start, end, pointer, line, ...(chunks && inlineWords(text, chunks, cue)) };
  });
  return { cues, isSpeech: false };
}

/** A cue as one overlay, or as one per phrase if it becomes pages. */
function overlaysOf(
  cue: ReadCue,
  position: number | null,
  paging: Paging | undefined,
  faults: FieldFault[],
): Overlay[] {
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
  const timed = words ?? estimateWords(text, start, end);
  const rest = { position, isCue: true, paging, ...(words ? estimated : ({ isEstimated: true } as const)) } as const;
  return phrasesOf({ text, words: timed }).map((phrase) => ({ ...phrase, ...rest }));
}

/** Gives words to cues that have none and need them, because the word that is being spoken stands out. */
export function withWords(overlays: readonly Overlay[], faults: FieldFault[]): readonly Overlay[] {
  const complete = overlays.map((overlay): Overlay => {
    const { text, start, end, words, style, isCue } = overlay;
    const isNeeded = isCue === true && highlightOf(style).mode !== 'none';
    if (!isNeeded || words !== undefined || start === undefined || end === undefined) return overlay;
    return { ...overlay, words: estimateWords(text, start, end), isEstimated: true };
  });
  checkWords(complete, faults);
  return complete;
}

function checkWords(overlays: readonly Overlay[], faults: FieldFault[]): void {
  const count = wordCount(overlays);
  const isReported = faults.some(({ pointer, code }) => pointer === POINTER && code === 'too_many');
  if (count <= MAX_WORDS || isReported) return;
  const detail = `Captions can have at most ${NUMBER.format(MAX_WORDS)} words; got ${NUMBER.format(count)}.`;
  faults.push({ pointer: POINTER, code: 'too_many', detail });
}

export function wordCount(overlays: readonly Overlay[]): number {
  return overlays.reduce((sum, { words }) => sum + (words?.length ?? 0), 0);
}

function checkLimits(overlays: readonly Overlay[], faults: FieldFault[]): void {
  checkWords(overlays, faults);
  if (overlays.length <= MAX_WORDS && mostAtOnce(overlays) > MAX_OVERLAYS) {
    report(faults, `At most ${MAX_OVERLAYS} cues can be shown at the same time.`);
  }
}

function mostAtOnce(cues: readonly Overlay[]): number {
  const shownWith = (cue: Overlay): number =>
    cues.filter(({ start = 0, end = Number.POSITIVE_INFINITY }) => start <= (cue.start ?? 0) && (cue.start ?? 0) < end)
      .length;
  return Math.max(0, ...cues.map(shownWith));
}

/** Rejects cues for an asset that turns out to be an image. */
export function assertNoCues(overlays: readonly Overlay[]): void {
  if (overlays.some(({ isCue }) => isCue)) throw needsVideo();
}

export function needsVideo(): AppError {
  return new AppError('invalid_fields', NEEDS_VIDEO.detail, { faults: [NEEDS_VIDEO] });
}

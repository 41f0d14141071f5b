// Reads subtitles in the SRT and WebVTT formats. It is as lenient as players are, but reports cues that they would
// skip.

import { must } from '../../shared/must.ts';
import { MAX_CUE_LENGTH, MAX_CUES } from './overlay.ts';
import { MAX_WORDS } from './words/timed-words.ts';

/** A part of the text of a cue, from one inline time of WebVTT to the next. */
export interface CueChunk {
  /** In seconds. Undefined before the first inline time. */
  readonly start: number | undefined;
  readonly text: string;
}

/** A cue in the order of the file, or its fault. */
export type Cue = { readonly line: number } & (
  | {
      readonly start: number;
      readonly end: number;
      readonly text: string;
      /** Only where the text has inline times. */
      readonly chunks?: readonly CueChunk[];
    }
  | { readonly problem: string }
);

interface UnparsedCue {
  readonly line: number;
  /** Undefined for text that has no times. */
  readonly timing: string | undefined;
  readonly text: string[];
}

const ARROW = '-->';
const TIME = String.raw`(?:(\d{1,4}):)?(\d{1,2}):(\d{2})(?:[.,](\d{1,3}))?`;
/** Cue settings of WebVTT and coordinates of SRT may follow. They are ignored, because `position` places all cues. */
const TIMING = new RegExp(`^\\s*${TIME}\\s*${ARROW}\\s*${TIME}(?:\\s.*)?$`, 'u');
/** Two times with another arrow or dash between them, as in a file that was damaged by an editor. */
const FULL_TIME = String.raw`\d+:\d{2}(?::\d{2}(?:[.,]\d+)?|[.,]\d+)`;
const DAMAGED_TIMING = new RegExp(`^\\s*${FULL_TIME}\\s*[-=>\u2013\u2014\u2192]+\\s*${FULL_TIME}`, 'u');
const NUMBER_LINE = /^\s*\d+\s*$/u;
const NOT_A_CUE = /^(?:NOTE|STYLE|REGION)(?:\s|$)/u;
const MAX_QUOTED_LENGTH = 60;
/** Comments and blank lines included. Most cues have four. */
const MAX_LINES = 40 * MAX_CUES;
/** How much of a line can have its times. Settings may follow. */
const TIMING_LENGTH = 1_000;
const LINES_PER_STEP = 256;

/** Yields each cue as soon as it has been read, so the caller can stop at its limit. Undefined where there is none yet. */
export function* parseSubtitles(source: string): Generator<Cue | undefined, void, undefined> {
  const text = source.startsWith('\ufeff') ? source.slice(1) : source;
  const isWebVtt = /^WEBVTT(?:[ \t\r\n]|$)/u.test(text);
  const cues = isWebVtt ? new WebVttCues() : new SrtCues();
  let isInHeader = isWebVtt;
  let number = 0;
  for (const line of linesOf(text)) {
    number += 1;
    if (number % LINES_PER_STEP === 0) yield undefined;
    if (number > MAX_LINES) {
      yield { line: number, problem: `captions can have at most ${MAX_LINES} lines` };
      return;
    }
    const isBlank = line.trim() === '';
    // The blank line after the header may be missing.
    isInHeader &&= !isBlank && !line.includes(ARROW);
    if (isInHeader) continue;
    if (isBlank) cues.endBlock();
    else cues.addLine(line, number);
    for (const cue of cues.takeComplete()) yield* parseCue(cue, isWebVtt);
  }
  cues.endBlock();
  for (const cue of cues.takeAll()) yield* parseCue(cue, isWebVtt);
}

function* linesOf(source: string): Generator<string> {
  let from = 0;
  for (const { index, 0: end } of source.matchAll(/\r\n?|\n/gu)) {
    yield source.slice(from, index);
    from = index + end.length;
  }
  yield source.slice(from);
}

/** Collects the cues of blocks of lines. The blank line between cues may be missing. */
abstract class CueCollector {
  /** The last one isn't complete. */
  #cues: UnparsedCue[] = [];
  /** The cue of the block to which lines belong, once there are times. */
  #current: UnparsedCue | undefined;
  /** The lines since the times, or since the start of the block. */
  #lines: string[] = [];
  #firstLine = 0;

  addLine(line: string, number: number): void {
    if (!isTimingLine(line)) {
      if (this.#lines.length === 0) this.#firstLine = number;
      this.#lines.push(line);
      return;
    }
    const name = this.#lines.at(-1);
    const hasName = name !== undefined && (this.#current ? NUMBER_LINE.test(name) : this.isName(name));
    if (hasName) this.#lines.pop();
    this.#takeLines(true);
    this.#current = { line: number, timing: line, text: [] };
    this.push(this.#current);
  }

  endBlock(): void {
    this.#takeLines(false);
    this.#current = undefined;
  }

  *takeComplete(): Generator<UnparsedCue> {
    while (this.#cues.length > 1) yield must(this.#cues.shift(), 'a cue');
  }

  *takeAll(): Generator<UnparsedCue> {
    yield* this.#cues;
  }

  protected push(cue: UnparsedCue): void {
    this.#cues.push(cue);
  }

  protected get last(): UnparsedCue | undefined {
    return this.#cues.at(-1);
  }

  #takeLines(areTimesNext: boolean): void {
    const lines = this.#lines;
    this.#lines = [];
    if (lines.length === 0) return;
    if (this.#current) for (const line of lines) this.#current.text.push(line);
    else this.addLead({ line: this.#firstLine, timing: undefined, text: lines }, areTimesNext);
  }

  /** Tells whether the line above the first times of a block can be the name of the cue. */
  protected abstract isName(line: string): boolean;

  /** Adds the lines of a block before its first times, or all of them. */
  protected abstract addLead(lead: UnparsedCue, areTimesNext: boolean): void;
}

class WebVttCues extends CueCollector {
  protected override isName(): boolean {
    return true;
  }

  protected override addLead(lead: UnparsedCue, areTimesNext: boolean): void {
    if (areTimesNext || !NOT_A_CUE.test(lead.text[0] ?? '')) this.push(lead);
  }
}

/** In SRT, text after a blank line still belongs to the cue before it. */
class SrtCues extends CueCollector {
  protected override isName(line: string): boolean {
    return NUMBER_LINE.test(line);
  }

  protected override addLead(lead: UnparsedCue): void {
    const { last } = this;
    const isNumberOnly = lead.text.length === 1 && NUMBER_LINE.test(lead.text[0] ?? '');
    if (last && !isNumberOnly) for (const line of lead.text) last.text.push(line);
    else this.push(lead);
  }
}

function isTimingLine(line: string): boolean {
  return line.includes(ARROW) || DAMAGED_TIMING.test(line.slice(0, TIMING_LENGTH));
}

function* parseCue({ line, timing, text }: UnparsedCue, isWebVtt: boolean): Generator<Cue | undefined> {
  if (timing === undefined) {
    yield { line, problem: `${quote(text[0] ?? '')} isn't part of a cue with times` };
    return;
  }
  const [start, end] = parseTiming(timing);
  if (start === undefined || end === undefined) {
    yield { line, problem: `${quote(timing)} isn't a time range such as 00:00:01.000 --> 00:00:02.500` };
    return;
  }
  if (end <= start) {
    yield { line, problem: `it ends at ${end} s and must end after its start at ${start} s` };
    return;
  }
  const source = text.join('\n');
  if (source.length > MAX_CUE_LENGTH) {
    yield { line, problem: `it has more than ${MAX_CUE_LENGTH} characters` };
    return;
  }
  const found = chunksOf(source);
  if (found.length > MAX_WORDS + 1) {
    yield { line, problem: `it has more than ${MAX_WORDS} inline times` };
    return;
  }
  const chunks: CueChunk[] = [];
  for (const chunk of found.length > 1 ? found : []) {
    chunks.push({ ...chunk, text: plainText(chunk.text, isWebVtt) });
    yield undefined;
  }
  yield { line, start, end, text: plainText(source, isWebVtt), ...(chunks.length > 0 && { chunks }) };
}

function plainText(source: string, isWebVtt: boolean): string {
  const text = withoutTags(source);
  return isWebVtt ? withoutEntities(text) : text;
}

const INLINE_TIME = /<(?:(\d+):)?(\d{2}):(\d{2})\.(\d{3})>/gu;

/** Stops after one chunk more than a cue can have. */
function chunksOf(source: string): CueChunk[] {
  const chunks: CueChunk[] = [];
  let start: number | undefined;
  let from = 0;
  for (const match of source.matchAll(INLINE_TIME)) {
    chunks.push({ start, text: source.slice(from, match.index) });
    if (chunks.length > MAX_WORDS + 1) return chunks;
    start = secondsOf(match.slice(1));
    from = match.index + match[0].length;
  }
  return [...chunks, { start, text: source.slice(from) }];
}

function parseTiming(timing: string): readonly (number | undefined)[] {
  const parts = TIMING.exec(timing.slice(0, TIMING_LENGTH));
  if (parts === null) return [];
  return [secondsOf(parts.slice(1, 5)), secondsOf(parts.slice(5, 9))];
}

function secondsOf([hours = '0', minutes = '', seconds = '', fraction = '']: readonly (string | undefined)[]):
  | number
  | undefined {
  if (Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  const wholeSeconds = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  return (wholeSeconds * 1_000 + Number(fraction.padEnd(3, '0'))) / 1_000;
}

/** Tags start with a letter, so that hearts and comparisons such as "<3" stay. Braces hold the tags of other formats. */
const TAGS = /<\/?[a-z][^<>]*>|<(?:\d+:)?\d{2}:\d{2}\.\d{3}>|\{\\[^{}]*\}|\{\/?[biu]\}/giu;

function withoutTags(text: string): string {
  return text.replaceAll(TAGS, '');
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  lrm: '\u200e',
  rlm: '\u200f',
};

function withoutEntities(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,4}));/giu, (entity, decimal, hex, name) => {
    if (typeof name === 'string') return ENTITIES[name] ?? entity;
    const code = typeof hex === 'string' ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : entity;
  });
}

function quote(line: string): string {
  const text = line.trim();
  return `"${text.length <= MAX_QUOTED_LENGTH ? text : `${text.slice(0, MAX_QUOTED_LENGTH).toWellFormed()}...`}"`;
}

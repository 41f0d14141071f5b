// Reads subtitles in the SRT and WebVTT formats. It is as lenient as players are, but reports cues that they would
// skip.

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

interface Block {
  /** The number of its first line, counted from 1. */
  readonly line: number;
  readonly lines: readonly string[];
}

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

export function parseSubtitles(source: string): Cue[] {
  const lines = source
    .replace(/^\ufeff/u, '')
    .replaceAll(/\r\n?/gu, '\n')
    .split('\n');
  const isWebVtt = /^WEBVTT(?:[ \t]|$)/u.test(lines[0] ?? '');
  const cues: UnparsedCue[] = [];
  for (const block of blocksOf(lines, isWebVtt)) {
    if (isWebVtt) addWebVttBlock(block, cues);
    else addSrtBlock(block, cues);
  }
  return cues.map((cue) => parseCue(cue, isWebVtt));
}

/** Returns groups of lines between blank ones, without the header of WebVTT. */
function blocksOf(lines: readonly string[], isWebVtt: boolean): Block[] {
  const blocks: Block[] = [];
  let isInHeader = isWebVtt;
  let block: string[] | undefined;
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') {
      block = undefined;
      isInHeader = false;
      continue;
    }
    // The blank line after the header may be missing.
    if (isInHeader && !line.includes(ARROW)) continue;
    isInHeader = false;
    if (block === undefined) {
      block = [];
      blocks.push({ line: index + 1, lines: block });
    }
    block.push(line);
  }
  return blocks;
}

function addWebVttBlock(block: Block, cues: UnparsedCue[]): void {
  const { lead, found } = splitAtTimings(block, () => true);
  const isCue = lead.length > 0 && !(found.length === 0 && NOT_A_CUE.test(block.lines[0] ?? ''));
  if (isCue) cues.push({ line: block.line, timing: undefined, text: lead });
  cues.push(...found);
}

/** In SRT, text after a blank line still belongs to the cue before it. */
function addSrtBlock(block: Block, cues: UnparsedCue[]): void {
  const { lead, found } = splitAtTimings(block, (line) => NUMBER_LINE.test(line));
  const previous = cues.at(-1);
  const isNumberOnly = lead.length === 1 && NUMBER_LINE.test(lead[0] ?? '');
  if (lead.length > 0) {
    if (previous && !isNumberOnly) previous.text.push(...lead);
    else cues.push({ line: block.line, timing: undefined, text: lead });
  }
  cues.push(...found);
}

/**
 * Returns the cues of a block, and the lines before the first of them. The blank line between cues may be missing.
 * `isName` tells whether the line above the times can be the name of the cue.
 */
function splitAtTimings(
  { line, lines }: Block,
  isName: (line: string) => boolean,
): { readonly lead: string[]; readonly found: readonly UnparsedCue[] } {
  const timings = lines.flatMap((text, index) => (isTimingLine(text) ? [index] : []));
  const textUntil = (from: number, next: number | undefined, canBeName: (name: string) => boolean): string[] => {
    if (next === undefined) return lines.slice(from);
    const hasName = next > from && canBeName(lines[next - 1] ?? '');
    return lines.slice(from, hasName ? next - 1 : next);
  };
  const lead = textUntil(0, timings[0], isName);
  const found = timings.map((at, index) => ({
    line: line + at,
    timing: lines[at],
    text: textUntil(at + 1, timings[index + 1], (name) => NUMBER_LINE.test(name)),
  }));
  return { lead, found };
}

function isTimingLine(line: string): boolean {
  return line.includes(ARROW) || DAMAGED_TIMING.test(line);
}

function parseCue({ line, timing, text }: UnparsedCue, isWebVtt: boolean): Cue {
  if (timing === undefined) return { line, problem: `${quote(text[0] ?? '')} isn't part of a cue with times` };
  const [start, end] = parseTiming(timing);
  if (start === undefined || end === undefined) {
    return { line, problem: `${quote(timing)} isn't a time range such as 00:00:01.000 --> 00:00:02.500` };
  }
  if (end <= start) return { line, problem: `it ends at ${end} s and must end after its start at ${start} s` };
  const plain = (source: string): string => (isWebVtt ? withoutEntities(withoutTags(source)) : withoutTags(source));
  const source = text.join('\n');
  const chunks = chunksOf(source).map((chunk) => ({ ...chunk, text: plain(chunk.text) }));
  return { line, start, end, text: plain(source), ...(chunks.length > 1 && { chunks }) };
}

const INLINE_TIME = /<(?:(\d+):)?(\d{2}):(\d{2})\.(\d{3})>/gu;

function chunksOf(source: string): CueChunk[] {
  const times = Array.from(source.matchAll(INLINE_TIME));
  const lead = { start: undefined, text: source.slice(0, times[0]?.index) };
  return [
    lead,
    ...times.map((match, index) => ({
      start: secondsOf(match.slice(1)),
      text: source.slice(match.index + match[0].length, times[index + 1]?.index),
    })),
  ];
}

function parseTiming(timing: string): readonly (number | undefined)[] {
  const parts = TIMING.exec(timing);
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

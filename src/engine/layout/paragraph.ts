// Lays out one paragraph of a caption as lines, each with its runs from left to right.

import { graphemes } from '../caption/graphemes.ts';
import { must } from '../../shared/must.ts';
import { type LineBreak, lineBreaks, PENALTIES, splitAfterDelimiters } from './break-penalties.ts';
import { embeddingLevels, visualOrder } from './direction.ts';
import { splitByKind } from './emoji.ts';
import type { Extent, Measurer, Run } from './measurer.ts';
import { syllablesOf } from './syllables.ts';
import { type LineRange, type WrapSegment, wrapBalanced } from './wrap.ts';

interface PlacedRun extends Run {
  /** The position relative to the left end of the line. */
  readonly x: number;
  readonly source: RunSource;
}

/** Where the text of a run comes from. */
interface RunSource {
  /** Where its characters of one direction start in the caption. */
  readonly start: number;
  /** How many drawn characters of them are in runs before it. */
  readonly lead: number;
}

export interface TextLine extends Extent {
  readonly runs: readonly PlacedRun[];
}

const SOFT_HYPHEN = '\u00ad';
const HYPHEN = '-';
/**
 * These characters affect line breaks and direction, but are removed before drawing, because some fonts would draw a
 * box for them. The Mongolian vowel separator changes the shape of the letters around it and stays after them.
 */
const UNDRAWN = /(?<!\p{Script=Mongolian})\u180e|[\u00ad\u061c\u200b\u200e\u200f\u2060-\u2064\u2066-\u206f]/gu;
const TRAILING_SPACE = /\s+$/u;

/** Widths to try for the pieces of a word that is too long for a line, between equal pieces (0) and full lines (1). */
const PIECE_WIDTH_SHARES = [0.1, 0.4];

/** Shaping can make a line wider than the sum of its segments. It is then wrapped again with a smaller width. */
const MAX_REWRAPS = 4;

/** The properties of a paragraph that don't depend on the font size. */
export interface Paragraph {
  readonly text: string;
  /** Where it starts in the caption. */
  readonly offset: number;
  readonly levels: Uint8Array;
  readonly breaks: readonly LineBreak[];
  readonly lang: string | undefined;
}

export function analyzeParagraph(text: string, offset = 0, lang?: string): Paragraph {
  return { text, offset, levels: embeddingLevels(text), breaks: lineBreaks(text), lang };
}

export function layoutParagraph(
  paragraph: Paragraph,
  maxWidth: number,
  fontSize: number,
  measurer: Measurer,
): TextLine[] {
  if (paragraph.text === '') return [{ width: 0, ascent: 0, descent: 0, runs: [] }];
  let width = maxWidth;
  for (let attempt = 0; ; attempt += 1) {
    const segments = segmentsOf(paragraph, width, fontSize, measurer);
    const lines = wrapBalanced(segments, width).map((range) =>
      composeLine(paragraph, textOf(segments, range), fontSize, measurer),
    );
    const excess = Math.max(...lines.map((line) => line.width)) - maxWidth;
    if (excess <= 0 || attempt === MAX_REWRAPS) return lines;
    width -= excess + 1;
  }
}

/** Measures the widest word that has to be cut if it is wider than a line. */
export function widestWord(paragraph: Paragraph, fontSize: number, measurer: Measurer): number {
  const starts = [0, ...paragraph.breaks.map(({ position }) => position)];
  const widths = paragraph.breaks.flatMap(({ position }, index) =>
    splitAfterDelimiters(paragraph.text.slice(starts[index], position)).map(
      ({ part }) => measurePiece(part, fontSize, measurer).width,
    ),
  );
  return Math.max(0, ...widths);
}

interface LineText {
  /** The range in the paragraph. */
  readonly start: number;
  readonly end: number;
  /** Drawn if the paragraph continues on the next line. */
  readonly hyphen: string;
}

function textOf(segments: readonly TextSegment[], { first, last }: LineRange): LineText {
  const { end, hyphen } = must(segments[last], 'the last segment');
  return { start: must(segments[first], 'the first segment').start, end, hyphen };
}

interface MeasuredPiece {
  readonly text: string;
  readonly width: number;
  readonly spaceWidth: number;
  readonly hyphen: string;
}

/** The penalty is that of a cut after the piece. */
type FittedPiece = MeasuredPiece & Pick<WrapSegment, 'penalty'>;

type TextSegment = WrapSegment & Pick<MeasuredPiece, 'hyphen'>;

/** Splits a paragraph at its break positions. A piece wider than a line is split again. */
function segmentsOf(paragraph: Paragraph, maxWidth: number, fontSize: number, measurer: Measurer): TextSegment[] {
  const segments: TextSegment[] = [];
  let start = 0;
  for (const { position, penalty } of paragraph.breaks) {
    for (const { text, ...widths } of fitPieces(paragraph, [start, position], maxWidth, fontSize, measurer)) {
      const end = start + text.length;
      segments.push({ start, end, ...widths, ...(end === position && { penalty }) });
      start = end;
    }
  }
  return segments;
}

function fitPieces(
  { text: all, lang }: Paragraph,
  [start, end]: [number, number],
  maxWidth: number,
  fontSize: number,
  measurer: Measurer,
): FittedPiece[] {
  const text = all.slice(start, end);
  const whole = measurePiece(text, fontSize, measurer);
  if (whole.width <= maxWidth) return [{ ...whole, penalty: PENALTIES.none }];
  const word = syllablesOf(text, tokenAround(all, start, end), lang, measurer.patternCuts);
  if (word === undefined)
    return splitAfterDelimiters(text).flatMap(({ part, penalty }) =>
      fitGraphemes(part, { cut: '', end: '', penalty }, maxWidth, fontSize, measurer),
    );
  return word.parts.flatMap((part, index) => {
    const isLast = index === word.parts.length - 1;
    const ending = isLast
      ? { cut: word.hyphen, end: '', penalty: PENALTIES.none }
      : { cut: word.hyphen, end: word.hyphen, penalty: PENALTIES.betweenSyllables };
    return fitGraphemes(part, ending, maxWidth, fontSize, measurer);
  });
}

/** What is between the spaces around a range of a text. */
function tokenAround(text: string, start: number, end: number): string {
  const before = /\S*$/u.exec(text.slice(0, start))?.[0] ?? '';
  const piece = text.slice(start, end);
  return before + piece + (/\s$/u.test(piece) ? '' : (/^\S*/u.exec(text.slice(end))?.[0] ?? ''));
}

/** The hyphens where a part is cut and at its own end, and the penalty of its end. */
interface PartEnding extends Pick<WrapSegment, 'penalty'> {
  readonly cut: string;
  readonly end: string;
}

function fitGraphemes(
  text: string,
  ending: PartEnding,
  maxWidth: number,
  fontSize: number,
  measurer: Measurer,
): FittedPiece[] {
  const whole = measurePiece(text, fontSize, measurer, ending.end || undefined);
  if (whole.width <= maxWidth) return [{ ...whole, penalty: ending.penalty }];
  const clusters = graphemes(text);
  const cutAt = (width: number): FittedPiece[] => cut(clusters, ending, width, fontSize, measurer);
  const fullest = cutAt(maxWidth);
  // Prefer equal pieces over full lines with a few letters left over.
  const equalWidth = whole.width / fullest.length;
  for (const share of PIECE_WIDTH_SHARES) {
    const pieces = cutAt(equalWidth + share * (maxWidth - equalWidth));
    if (pieces.length === fullest.length) return pieces;
  }
  return fullest;
}

function cut(
  clusters: readonly string[],
  ending: PartEnding,
  maxWidth: number,
  fontSize: number,
  measurer: Measurer,
): FittedPiece[] {
  const pieces: FittedPiece[] = [];
  const measure = (from: number, to: number): MeasuredPiece => {
    // On a line that has room for one letter only, a hyphen would be too much.
    const cutHyphen = to - from > 1 ? ending.cut : '';
    const hyphen = to < clusters.length ? cutHyphen : ending.end;
    return measurePiece(clusters.slice(from, to).join(''), fontSize, measurer, hyphen || undefined);
  };
  let from = 0;
  while (from < clusters.length) {
    const to = longestFit(from, clusters.length, (end) => measure(from, end).width <= maxWidth);
    pieces.push({
      ...measure(from, to),
      penalty: to < clusters.length ? PENALTIES.betweenLetters : ending.penalty,
    });
    from = to;
  }
  return pieces;
}

/**
 * Returns the end of the graphemes that fit, starting at `from`. At least one does, so that even an impossible width
 * makes progress.
 */
function longestFit(from: number, length: number, fits: (end: number) => boolean): number {
  let fitting = from + 1;
  let tooMany = length + 1;
  while (tooMany - fitting > 1) {
    const middle = (fitting + tooMany) >> 1;
    if (fits(middle)) fitting = middle;
    else tooMany = middle;
  }
  return fitting;
}

/** A hyphen takes space only at the end of a line. Within a line, `spaceWidth` subtracts it again. */
function measurePiece(
  text: string,
  fontSize: number,
  measurer: Measurer,
  hyphen: string = text.endsWith(SOFT_HYPHEN) ? HYPHEN : '',
): MeasuredPiece {
  const inked = text.replace(TRAILING_SPACE, '');
  const space = text.slice(inked.length);
  const hyphenWidth = hyphen === '' ? 0 : advance(hyphen, fontSize, measurer);
  return {
    text,
    width: advance(inked.replace(UNDRAWN, ''), fontSize, measurer) + hyphenWidth,
    spaceWidth: space === '' ? -hyphenWidth : advance(space, fontSize, measurer),
    hyphen,
  };
}

/** The width of a text on a line of its own. */
export function advanceOf(text: string, fontSize: number, measurer: Measurer): number {
  return advance(text.replace(UNDRAWN, ''), fontSize, measurer);
}

/** How many characters of a text are drawn. */
export function drawnLength(text: string): number {
  return text.replace(UNDRAWN, '').length;
}

function advance(text: string, fontSize: number, measurer: Measurer): number {
  return splitByKind(text)
    .map((piece) => measurer.measure({ ...piece, rtl: false }, fontSize).width)
    .reduce((sum, width) => sum + width, 0);
}

function composeLine(
  paragraph: Paragraph,
  { start, end, hyphen }: LineText,
  fontSize: number,
  measurer: Measurer,
): TextLine {
  const text = paragraph.text.slice(start, end).replace(TRAILING_SPACE, '');
  const levels = paragraph.levels.subarray(start, start + text.length);
  // A hyphen is visible only where a line ends with it and the paragraph continues.
  const ending = end < paragraph.text.length ? hyphen : '';
  const ordered = visualOrder(logicalRuns(text, levels, ending, paragraph.offset + start));
  // Full-width punctuation hangs: the blank part of its square doesn't count when the line is centered.
  const hanging = (side: 'left' | 'right'): number => {
    const run = ordered.at(side === 'left' ? 0 : -1);
    return run === undefined ? 0 : measurer.blankAt(side, run) * fontSize;
  };
  const runs: PlacedRun[] = [];
  let x = 0 - hanging('left');
  let ascent = 0;
  let descent = 0;
  for (const { level: _, ...run } of ordered) {
    const extent = measurer.measure(run, fontSize);
    runs.push({ ...run, x });
    x += extent.width;
    ascent = Math.max(ascent, extent.ascent);
    descent = Math.max(descent, extent.descent);
  }
  return { width: Math.max(0, x - hanging('right')), ascent, descent, runs };
}

type LogicalRun = Omit<PlacedRun, 'x'> & { readonly level: number };

function logicalRuns(text: string, levels: Uint8Array, ending: string, offset: number): LogicalRun[] {
  const runs: LogicalRun[] = [];
  let start = 0;
  const flush = (end: number): void => {
    const level = must(levels[start], 'the embedding level');
    const drawn = text.slice(start, end).replace(UNDRAWN, '') + (end === text.length ? ending : '');
    let lead = 0;
    for (const piece of splitByKind(drawn)) {
      runs.push({ ...piece, rtl: level % 2 === 1, level, source: { start: offset + start, lead } });
      lead += piece.text.length;
    }
    start = end;
  };
  for (let index = 1; index < text.length; index += 1) {
    if (levels[index] !== levels[start]) flush(index);
  }
  if (text.length > 0) flush(text.length);
  return runs;
}

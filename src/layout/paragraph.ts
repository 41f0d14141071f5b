// Lays out one paragraph of a caption as lines, each with its runs from left to right.

import { graphemes } from '../caption/graphemes.ts';
import { must } from '../primitives/must.ts';
import { type LineBreak, lineBreaks, PENALTIES, splitAfterDelimiters } from './break-penalties.ts';
import { embeddingLevels, visualOrder } from './direction.ts';
import { splitByKind } from './emoji.ts';
import type { Extent, Measurer, Run } from './measurer.ts';
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
}

export function analyzeParagraph(text: string, offset = 0): Paragraph {
  return { text, offset, levels: embeddingLevels(text), breaks: lineBreaks(text) };
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
      composeLine(paragraph, textRange(segments, range), fontSize, measurer),
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

function textRange(segments: readonly WrapSegment[], { first, last }: LineRange): [number, number] {
  return [must(segments[first], 'the first segment').start, must(segments[last], 'the last segment').end];
}

/** Splits a paragraph at its break positions. A piece wider than a line is split again. */
function segmentsOf(paragraph: Paragraph, maxWidth: number, fontSize: number, measurer: Measurer): WrapSegment[] {
  const segments: WrapSegment[] = [];
  let start = 0;
  for (const { position, penalty } of paragraph.breaks) {
    for (const { text, ...widths } of fitPieces(paragraph.text.slice(start, position), maxWidth, fontSize, measurer)) {
      const end = start + text.length;
      segments.push({ start, end, ...widths, ...(end === position && { penalty }) });
      start = end;
    }
  }
  return segments;
}

interface MeasuredPiece {
  readonly text: string;
  readonly width: number;
  readonly spaceWidth: number;
}

/** The penalty is that of a cut after the piece. */
type FittedPiece = MeasuredPiece & Pick<WrapSegment, 'penalty'>;

function fitPieces(text: string, maxWidth: number, fontSize: number, measurer: Measurer): FittedPiece[] {
  const whole = measurePiece(text, fontSize, measurer);
  if (whole.width <= maxWidth) return [{ ...whole, penalty: PENALTIES.none }];
  return splitAfterDelimiters(text).flatMap(({ part, penalty }) => {
    const pieces = fitGraphemes(part, maxWidth, fontSize, measurer);
    return pieces.map((piece, index) => ({
      ...piece,
      penalty: index < pieces.length - 1 ? PENALTIES.betweenLetters : penalty,
    }));
  });
}

function fitGraphemes(text: string, maxWidth: number, fontSize: number, measurer: Measurer): MeasuredPiece[] {
  const whole = measurePiece(text, fontSize, measurer);
  if (whole.width <= maxWidth) return [whole];
  const clusters = graphemes(text);
  const fullest = cut(clusters, maxWidth, fontSize, measurer);
  // Prefer equal pieces over full lines with a few letters left over.
  const equalWidth = whole.width / fullest.length;
  for (const share of PIECE_WIDTH_SHARES) {
    const pieces = cut(clusters, equalWidth + share * (maxWidth - equalWidth), fontSize, measurer);
    if (pieces.length === fullest.length) return pieces;
  }
  return fullest;
}

function cut(clusters: readonly string[], maxWidth: number, fontSize: number, measurer: Measurer): MeasuredPiece[] {
  const pieces: MeasuredPiece[] = [];
  let from = 0;
  while (from < clusters.length) {
    const count = longestFit(clusters, from, maxWidth, fontSize, measurer);
    pieces.push(measurePiece(clusters.slice(from, from + count).join(''), fontSize, measurer));
    from += count;
  }
  return pieces;
}

/**
 * Counts the graphemes that fit, starting at `from`. It is at least one, so that even an impossible width makes
 * progress.
 */
function longestFit(
  clusters: readonly string[],
  from: number,
  maxWidth: number,
  fontSize: number,
  measurer: Measurer,
): number {
  let fitting = 1;
  let tooMany = clusters.length - from + 1;
  while (tooMany - fitting > 1) {
    const middle = (fitting + tooMany) >> 1;
    const { width } = measurePiece(clusters.slice(from, from + middle).join(''), fontSize, measurer);
    if (width <= maxWidth) fitting = middle;
    else tooMany = middle;
  }
  return fitting;
}

function measurePiece(text: string, fontSize: number, measurer: Measurer): MeasuredPiece {
  const inked = text.replace(TRAILING_SPACE, '');
  const space = text.slice(inked.length);
  // A soft hyphen takes space only at the end of a line. Within a line, `spaceWidth` subtracts it again.
  const hyphen = text.endsWith(SOFT_HYPHEN) ? advance(HYPHEN, fontSize, measurer) : 0;
  return {
    text,
    width: advance(inked.replace(UNDRAWN, ''), fontSize, measurer) + hyphen,
    spaceWidth: space === '' ? -hyphen : advance(space, fontSize, measurer),
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
  [start, end]: [number, number],
  fontSize: number,
  measurer: Measurer,
): TextLine {
  const text = paragraph.text.slice(start, end).replace(TRAILING_SPACE, '');
  const levels = paragraph.levels.subarray(start, start + text.length);
  // A soft hyphen is visible only where a line ends with it and the paragraph continues.
  const ending = text.endsWith(SOFT_HYPHEN) && end < paragraph.text.length ? HYPHEN : '';
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

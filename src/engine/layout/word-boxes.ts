// Where the words of a page are. Lines are shaped as a whole and never by words, so a word is a part of a line: the columns
// between the middles of the gaps around it. Every pixel of a line's text belongs to exactly one word.

import type { TimedWord } from '../caption/words/timed-words.ts';
import { must } from '../../shared/must.ts';
import type { CaptionBlock } from './caption-block.ts';
import { type Look, SPACINGS } from './look.ts';
import type { Measurer } from './measurer.ts';
import { drawnLength } from './paragraph.ts';

/** Rows are relative to the bar, columns to the canvas. */
export interface PixelBox {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** A part of a word on one line. Nearly every word has one. */
export interface WordPart {
  readonly line: number;
  /** The advance width of its letters with some space beside them, and the rows of the line without its padding. */
  readonly box: PixelBox;
  /** The pixels of the line that belong to it, in whole pixels. Its rows are those that no other line uses more. */
  readonly cell: PixelBox;
  /** The distance between its letters and those of the nearest word beside it, in pixels. Infinite on a line of its own. */
  readonly gap: number;
}

export type WordBox = readonly WordPart[];

interface LaidOutLines extends Pick<CaptionBlock, 'fontSize' | 'height'> {
  readonly lines: readonly (CaptionBlock['lines'][number] & { readonly x: number })[];
  readonly text: string;
  readonly look: Look;
}

interface FoundPart {
  readonly word: number;
  readonly line: number;
  readonly left: number;
  readonly right: number;
}

/** One box per word. A word without anything to draw has no part. */
export function wordBoxes(
  bar: LaidOutLines,
  words: readonly TimedWord[],
  width: number,
  measurer: Measurer,
): WordBox[] {
  const boxes: WordPart[][] = words.map(() => []);
  const edges = rowEdges(bar);
  for (const [line, placed] of bar.lines.entries()) {
    const parts = partsOnLine(bar, line, words, measurer).toSorted((a, b) => a.left - b.left);
    const rows = boxRows(bar, placed, measurer);
    const aside = asideOf(parts, bar.fontSize);
    for (const [index, { word, left, right }] of parts.entries()) {
      const [before, after] = [parts[index - 1], parts[index + 1]];
      must(boxes[word], 'the word').push({
        line,
        box: {
          left: Math.max(0, Math.round(left - aside)),
          right: Math.min(width, Math.round(right + aside)),
          ...rows,
        },
        cell: {
          left: before ? Math.round((before.right + left) / 2) : 0,
          right: after ? Math.round((right + after.left) / 2) : width,
          top: must(edges[line], 'the row above the line'),
          bottom: must(edges[line + 1], 'the row below the line'),
        },
        gap: Math.min(
          before ? left - before.right : Number.POSITIVE_INFINITY,
          after ? after.left - right : Number.POSITIVE_INFINITY,
        ),
      });
    }
  }
  return boxes;
}

/** How far a box reaches beyond the letters of its word, in em: up to half a space, and a little where there are no spaces. */
const BOX_ASIDE = 0.16;
const MIN_BOX_ASIDE = 0.05;
/** How far it reaches beyond tall and deep ink. */
const BOX_CLEARANCE = 0.06;

/** The same for all words of a line. */
function asideOf(parts: readonly FoundPart[], em: number): number {
  const gaps = parts.slice(1).map(({ left }, index) => left - must(parts[index], 'the part before').right);
  return Math.max(MIN_BOX_ASIDE * em, Math.min(BOX_ASIDE * em, ...gaps.map((gap) => gap / 2)));
}

/** The rows of a line without the padding of the bar, and those of its ink. Dots and marks can be drawn deeper than measured. */
function boxRows(
  { look, fontSize, height }: LaidOutLines,
  { top, bottom, baseline, ascent, descent, runs }: LaidOutLines['lines'][number],
  measurer: Measurer,
): Pick<PixelBox, 'top' | 'bottom'> {
  const padding = SPACINGS[look.surround].padding * fontSize;
  const clearance = BOX_CLEARANCE * fontSize;
  const ink = measurer.letterInk(runs);
  const above = Math.max(ascent, (ink?.markedTop ?? 0) * fontSize) + clearance;
  const below = Math.max(descent, -(ink?.markedBottom ?? 0) * fontSize) + clearance;
  return {
    top: Math.max(0, Math.min(Math.round(top + padding), Math.floor(baseline - above))),
    bottom: Math.min(height, Math.max(Math.round(bottom - padding), Math.ceil(baseline + below))),
  };
}

/** The smallest box around all parts of a word. Undefined for a word without any. */
export function boundsOf(parts: readonly PixelBox[]): PixelBox | undefined {
  if (parts.length === 0) return undefined;
  return {
    left: Math.min(...parts.map(({ left }) => left)),
    right: Math.max(...parts.map(({ right }) => right)),
    top: Math.min(...parts.map(({ top }) => top)),
    bottom: Math.max(...parts.map(({ bottom }) => bottom)),
  };
}

/** The rows where one line ends and the next starts: in the middle of what their ink leaves. */
function rowEdges({ lines, height }: LaidOutLines): number[] {
  const between = lines.slice(1).map((below, index) => {
    const above = must(lines[index], 'the line above');
    return Math.round((above.baseline + above.descent + below.baseline - below.ascent) / 2);
  });
  return [0, ...between, height];
}

function partsOnLine(
  { lines, text, fontSize }: LaidOutLines,
  line: number,
  words: readonly TimedWord[],
  measurer: Measurer,
): FoundPart[] {
  const { runs, x: left } = must(lines[line], 'the line');
  return runs.flatMap((run) => {
    const widthOf = (part: string): number => measurer.measure({ ...run, text: part }, fontSize).width;
    const start = left + run.x;
    const end = start + widthOf(run.text);
    /** Letters change with what is beside them, so that what both sides say may differ a little. */
    const advanceAt = (at: number): number => {
      if (at === 0 || at === run.text.length) return at === 0 ? 0 : end - start;
      return (widthOf(run.text.slice(0, at)) + end - start - widthOf(run.text.slice(at))) / 2;
    };
    const columnAt = (at: number): number => (run.rtl ? end - advanceAt(at) : start + advanceAt(at));
    const indexOf = (at: number): number =>
      Math.min(Math.max(0, drawnLength(text.slice(run.source.start, at)) - run.source.lead), run.text.length);
    return words.flatMap(({ from, to }, word): FoundPart[] => {
      if (to <= run.source.start) return [];
      const range = withoutSpaces(run.text, indexOf(from), indexOf(to));
      if (range === undefined) return [];
      const columns = range.map(columnAt);
      return [{ word, line, left: Math.min(...columns), right: Math.max(...columns) }];
    });
  });
}

function withoutSpaces(text: string, from: number, to: number): [number, number] | undefined {
  const part = text.slice(from, to);
  const inked = part.trim();
  if (inked === '') return undefined;
  const start = from + part.length - part.trimStart().length;
  return [start, start + inked.length];
}

// Measures where the letters of a line have their ink, by drawing them small.

import { type Canvas, createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import type { LetterInk, Run } from '../layout/measurer.ts';
import { wordsOf } from './band.ts';
import { TRUE_COVERAGE_GRAY } from './bar-pixels.ts';

/** Draws a run with its left end at `x`, and returns its width. */
export type DrawRun = (context: SKRSContext2D, run: Run, x: number, baseline: number, fontSize: number) => number;

/** Points that readers add in their mind: scripts with them are mostly written without. Marks that fit any letter count, too. */
const VOWEL_MARKS = /(?=\p{Mn})[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Inherited}]/gu;
/** Drawn as spaces, so that letters keep their shapes. The joiners have no ink themselves. */
const NOT_LETTERS = /[^\p{L}\p{M}\p{N}\u200c\u200d]/gu;
const LETTER = /[\p{L}\p{N}]/u;
/** Latin, Greek and Cyrillic never hang low; see `raise.ts`. */
const NEVER_LOW = /^[\0-\u052f\u1e00-\u1fff]*$/u;

const FONT_SIZE = 48;
/** Lines are drawn narrower, because only rows matter and reading pixels takes the most time. */
const SQUEEZE = 8;
/** The canvas, in pixels. A line that is too wide for it is drawn smaller. */
const WIDTH = 192;
const ABOVE = 1.5 * FONT_SIZE;
const BELOW = 1.25 * FONT_SIZE;
/** A row has ink if so much of a pixel is covered, so that soft edges don't count. */
const MIN_COVERAGE = 0.12;

type BareInk = Omit<LetterInk, 'markedTop' | 'markedBottom'>;

export class LetterInkMeter {
  #canvas: Canvas | undefined;

  /** `widthOf` returns the width of the line in em. It is called only for scripts that can hang low. */
  measure(runs: readonly Run[], widthOf: () => number, draw: DrawRun): LetterInk | undefined {
    const letters = runs.filter(({ kind, text }) => kind === 'text' && LETTER.test(text));
    if (letters.every(({ text }) => NEVER_LOW.test(text))) return undefined;
    const marked = letters.map((run) => ({ ...run, text: run.text.replace(NOT_LETTERS, ' ') }));
    const bare = marked.map((run) => ({ ...run, text: run.text.replace(VOWEL_MARKS, '') }));
    const lineWidth = widthOf();
    const ink = this.#inkOf(bare, lineWidth, draw);
    const hasMarks = bare.some(({ text }, index) => text !== marked[index]?.text);
    const all = (hasMarks ? this.#inkOf(marked, lineWidth, draw) : undefined) ?? ink;
    return ink && all && { ...ink, markedTop: all.top, markedBottom: all.bottom };
  }

  #inkOf(runs: readonly Run[], lineWidth: number, draw: DrawRun): BareInk | undefined {
    const fontSize = Math.min(FONT_SIZE, (WIDTH * SQUEEZE) / (lineWidth + 1));
    this.#canvas ??= createCanvas(WIDTH, ABOVE + BELOW);
    const context = this.#canvas.getContext('2d');
    context.clearRect(0, 0, WIDTH, ABOVE + BELOW);
    context.fillStyle = TRUE_COVERAGE_GRAY;
    context.save();
    context.scale(1 / SQUEEZE, 1);
    let x = fontSize / 2;
    for (const run of runs) x += draw(context, run, x, ABOVE, fontSize);
    context.restore();
    const columns = Math.min(WIDTH, Math.ceil((x + fontSize / 2) / SQUEEZE));
    return inkIn(wordsOf(context.getImageData(0, 0, columns, ABOVE + BELOW).data), columns, fontSize);
  }
}

function inkIn(words: Int32Array, columns: number, fontSize: number): BareInk | undefined {
  let [area, moment, first, last] = [0, 0, Number.POSITIVE_INFINITY, -1];
  for (let row = 0, at = 0; at < words.length; row += 1) {
    let coverage = 0;
    for (let column = 0; column < columns; column += 1, at += 1) coverage += (words[at] ?? 0) >>> 24;
    coverage /= 255;
    area += coverage;
    moment += coverage * (ABOVE - row - 0.5);
    if (coverage < MIN_COVERAGE) continue;
    first = Math.min(first, row);
    last = row;
  }
  if (last < 0) return undefined;
  return {
    top: (ABOVE - first) / fontSize,
    bottom: (ABOVE - last - 1) / fontSize,
    centerOfGravity: moment / area / fontSize,
    area: (area * SQUEEZE) / fontSize ** 2,
  };
}

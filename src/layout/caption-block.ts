// Lays out a caption as the lines inside its bar, at the default font size or the largest smaller one that fits.

import { must } from '../primitives/must.ts';
import type { Size } from './geometry.ts';
import type { Measurer } from './measurer.ts';
import { analyzeParagraph, layoutParagraph, type TextLine, type Paragraph } from './paragraph.ts';
import { type Scale, style } from './style.ts';

interface PlacedLine extends TextLine {
  /** In pixels below the top edge of the bar. */
  readonly baseline: number;
  /** Different from `baseline` only where letters are raised. */
  readonly emojiBaseline: number;
}

export interface CaptionBlock {
  readonly fontSize: number;
  /** The height of the bar, in whole pixels. */
  readonly height: number;
  readonly lines: readonly PlacedLine[];
}

/** The minimum distance, in em, of tall or deep ink (Tibetan, Javanese, stacked marks) from the edge of the bar. */
const EDGE_CLEARANCE = 0.1;
/** The maximum extra space, in em, for stacked marks at one edge of the bar or between two lines. */
const MAX_GROWTH = 1.2;
const ARABIC = /\p{Script=Arabic}/u;
const LETTERS = /\p{L}/gu;
const ARABIC_LETTERS = /(?=\p{L})\p{Script=Arabic}/gu;
const ARABIC_VOWELS = /[\u0610-\u061a\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06ed]/gu;
const SHRINK_STEPS = 12;
const MIN_FONT_SIZE = 0.5;

export function layoutCaption(text: string, canvas: Size, scale: Scale, measurer: Measurer): CaptionBlock {
  const paragraphs = text.split('\n').map(analyzeParagraph);
  const blockAt = (fontSize: number): CaptionBlock => blockOf(paragraphs, fontSize, scale.wrapWidth, measurer);
  const fits = (block: CaptionBlock): boolean =>
    block.height <= canvas.height && block.lines.every((line) => line.width <= scale.wrapWidth);

  const preferred = blockAt(scale.fontSize);
  if (fits(preferred)) return preferred;
  // Text below about 8 px isn't readable, but truncating it would be worse.
  const best = largestFitting(blockAt, fits, MIN_FONT_SIZE, scale.fontSize);
  return best.height <= canvas.height ? best : { ...best, height: canvas.height };
}

function largestFitting(
  blockAt: (fontSize: number) => CaptionBlock,
  fits: (block: CaptionBlock) => boolean,
  low: number,
  high: number,
): CaptionBlock {
  let best = blockAt(low);
  let [fitting, tooLarge] = [low, high];
  for (let step = 0; step < SHRINK_STEPS; step += 1) {
    const middle = (fitting + tooLarge) / 2;
    const block = blockAt(middle);
    if (fits(block)) {
      best = block;
      fitting = middle;
    } else {
      tooLarge = middle;
    }
  }
  return best;
}

function blockOf(
  paragraphs: readonly Paragraph[],
  fontSize: number,
  wrapWidth: number,
  measurer: Measurer,
): CaptionBlock {
  const lines = paragraphs.flatMap((paragraph) => layoutParagraph(paragraph, wrapWidth, fontSize, measurer));
  const { baselines, height } = stack(lines, fontSize);
  const rounded = Math.max(1, Math.round(height));
  const shift = (rounded - height) / 2;
  return {
    fontSize,
    height: rounded,
    lines: lines.map((line, index) => ({
      ...line,
      baseline: Math.round(must(baselines[index], 'the baseline').letters + shift),
      emojiBaseline: Math.round(must(baselines[index], 'the baseline').emoji + shift),
    })),
  };
}

interface Baselines {
  readonly letters: number;
  readonly emoji: number;
}

/** Baselines relative to the top of the bar. The height for ordinary text is exactly `lines * 1.2 em + 0.8 em`. */
function stack(lines: readonly TextLine[], em: number): { baselines: Baselines[]; height: number } {
  const above = (style.padding + style.lineHeight / 2 + style.baselineBelowMiddle) * em;
  const below = (style.padding + style.lineHeight / 2 - style.baselineBelowMiddle) * em;
  const pitch = style.lineHeight * em;
  const texts = lines.map(textOf);
  const raise = arabicRaise(texts.join('')) * em;
  const baselines: Baselines[] = [];
  let previousDescent: number | undefined;
  let baseline = 0;
  for (const [index, line] of lines.entries()) {
    const raised = raise > 0 && isMostlyArabic(texts[index] ?? '') ? raise : 0;
    baseline +=
      previousDescent === undefined
        ? growToFit(above, line.ascent + raised + EDGE_CLEARANCE * em, em)
        : growToFit(pitch, previousDescent + line.ascent + raised, em);
    baselines.push({ letters: baseline - raised, emoji: baseline });
    previousDescent = line.descent - raised;
  }
  return { baselines, height: baseline + growToFit(below, (previousDescent ?? 0) + EDGE_CLEARANCE * em, em) };
}

function textOf({ runs }: TextLine): string {
  return runs.map((run) => run.text).join('');
}

function isMostlyArabic(line: string): boolean {
  const arabic = count(line, ARABIC_LETTERS);
  return arabic > 0 && arabic > count(line, LETTERS) / 2;
}

/** In em, and the same for all lines of a caption, so that they keep their distances. */
function arabicRaise(text: string): number {
  if (!ARABIC.test(text)) return 0;
  const isVocalized = count(text, ARABIC_VOWELS) > count(text, ARABIC_LETTERS) / 4;
  // The marks of fully vocalized text need the room above the letters.
  return isVocalized ? 0 : style.arabicRaise;
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function growToFit(normal: number, needed: number, em: number): number {
  return Math.min(Math.max(normal, needed), normal + MAX_GROWTH * em);
}

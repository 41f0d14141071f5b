// Lays out a caption as the lines inside its bar, at the default font size or the largest smaller one that fits.

import { must } from '../primitives/must.ts';
import type { Size } from './geometry.ts';
import type { Measurer } from './measurer.ts';
import { analyzeParagraph, layoutParagraph, type TextLine } from './paragraph.ts';
import type { Spacing } from './look.ts';
import { type Scale, style } from './style.ts';

interface PlacedLine extends TextLine {
  /** The baseline in pixels below the top edge of the bar. */
  readonly baseline: number;
  /** Differs from `baseline` only where letters are raised. */
  readonly emojiBaseline: number;
  /** The rows of the line with its padding. They overlap those of its neighbors. */
  readonly top: number;
  readonly bottom: number;
}

export interface CaptionBlock {
  readonly fontSize: number;
  /** The height of the bar, in whole pixels. */
  readonly height: number;
  readonly lines: readonly PlacedLine[];
}

/** The maximum extra space, in em, for stacked marks at one edge of the bar or between two lines. */
const MAX_GROWTH = 1.2;
const ARABIC = /\p{Script=Arabic}/u;
const LETTERS = /\p{L}/gu;
const ARABIC_LETTERS = /(?=\p{L})\p{Script=Arabic}/gu;
const ARABIC_VOWELS = /[\u0610-\u061a\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06ed]/gu;
const SHRINK_STEPS = 12;
const MIN_FONT_SIZE = 0.5;

/** `room` is the canvas, or the part of its height that a safe area leaves. */
export function layoutCaption(text: string, room: Size, scale: Scale, measurer: Measurer): CaptionBlock {
  const paragraphs = text.split('\n').map(analyzeParagraph);
  const wrapWidthAt = (fontSize: number): number => Math.max(1, scale.wrapWidth - 2 * scale.spacing.aside * fontSize);
  const blockAt = (fontSize: number): CaptionBlock => {
    const lines = paragraphs.flatMap((paragraph) =>
      layoutParagraph(paragraph, wrapWidthAt(fontSize), fontSize, measurer),
    );
    return blockOf(lines, fontSize, scale.spacing);
  };
  const fits = (block: CaptionBlock): boolean =>
    block.height <= room.height && block.lines.every((line) => line.width <= wrapWidthAt(block.fontSize));

  const preferred = blockAt(scale.fontSize);
  if (fits(preferred)) return preferred;
  // Text below about 8 px isn't readable, but truncating it would be worse.
  const best = largestFitting(blockAt, fits, MIN_FONT_SIZE, scale.fontSize);
  return best.height <= room.height ? best : { ...best, height: room.height };
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

function blockOf(lines: readonly TextLine[], fontSize: number, spacing: Spacing): CaptionBlock {
  const { baselines, height } = stack(lines, fontSize, spacing);
  const rounded = Math.max(1, Math.round(height));
  const shift = (rounded - height) / 2;
  return {
    fontSize,
    height: rounded,
    lines: lines.map((line, index) => {
      const { letters, emoji, above, below } = must(baselines[index], 'the baseline');
      const emojiBaseline = Math.round(emoji + shift);
      return {
        ...line,
        baseline: Math.round(letters + shift),
        emojiBaseline,
        top: index === 0 ? 0 : emojiBaseline - Math.round(above),
        bottom: index === lines.length - 1 ? rounded : emojiBaseline + Math.round(below),
      };
    }),
  };
}

interface Baselines {
  readonly letters: number;
  readonly emoji: number;
  /** The height of the line with its padding, above and below `emoji`. */
  readonly above: number;
  readonly below: number;
}

/**
 * Computes baselines relative to the top of the bar. The height for ordinary text in a bar is exactly `lines * 1.2 em +
 * 0.8 em`.
 */
function stack(
  lines: readonly TextLine[],
  em: number,
  { padding, clearance }: Spacing,
): { baselines: Baselines[]; height: number } {
  const above = (padding + style.lineHeight / 2 + style.baselineBelowMiddle) * em;
  const below = (padding + style.lineHeight / 2 - style.baselineBelowMiddle) * em;
  const pitch = style.lineHeight * em;
  const texts = lines.map(textOf);
  const raise = arabicRaise(texts.join('')) * em;
  const baselines: Baselines[] = [];
  let previousDescent: number | undefined;
  let baseline = 0;
  for (const [index, line] of lines.entries()) {
    const raised = raise > 0 && isMostlyArabic(texts[index] ?? '') ? raise : 0;
    const grownAbove = growToFit(above, line.ascent + raised + clearance * em, em);
    const grownBelow = growToFit(below, line.descent - raised + clearance * em, em);
    baseline +=
      previousDescent === undefined ? grownAbove : growToFit(pitch, previousDescent + line.ascent + raised, em);
    baselines.push({ letters: baseline - raised, emoji: baseline, above: grownAbove, below: grownBelow });
    previousDescent = line.descent - raised;
  }
  return { baselines, height: baseline + (baselines.at(-1)?.below ?? below) };
}

function textOf({ runs }: TextLine): string {
  return runs.map((run) => run.text).join('');
}

function isMostlyArabic(line: string): boolean {
  const arabic = count(line, ARABIC_LETTERS);
  return arabic > 0 && arabic > count(line, LETTERS) / 2;
}

/** Returns the raise in em. It is the same for all lines of a caption, so that they keep their distances. */
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

// A caption -> the block of lines inside its bar, at the largest font size that fits the canvas.

import type { Size } from './geometry.ts';
import type { Measurer } from './measurer.ts';
import { analyzeParagraph, layoutParagraph, type TextLine, type Paragraph } from './paragraph.ts';
import { type Scale, style } from './style.ts';

interface PlacedLine extends TextLine {
  /** Pixels below the top edge of the bar. */
  readonly baseline: number;
}

export interface CaptionBlock {
  readonly fontSize: number;
  /** Whole pixels: the height of the bar. */
  readonly height: number;
  readonly lines: readonly PlacedLine[];
}

/** Clear space that deep or tall ink (Tibetan, Javanese, stacked marks) keeps from the edge of the bar, in em. */
const EDGE_CLEARANCE = 0.1;
/** No caption grows its bar by more than this at one edge or between two lines, however many marks are stacked on a letter. */
const MAX_GROWTH = 1.2;
const SHRINK_STEPS = 12;
const MIN_FONT_SIZE = 0.5;

export function layoutCaption(text: string, canvas: Size, scale: Scale, measurer: Measurer): CaptionBlock {
  const paragraphs = text.split('\n').map(analyzeParagraph);
  const blockAt = (fontSize: number): CaptionBlock => blockOf(paragraphs, fontSize, scale.wrapWidth, measurer);
  const fits = (block: CaptionBlock): boolean =>
    block.height <= canvas.height && block.lines.every((line) => line.width <= scale.wrapWidth);

  const wanted = blockAt(scale.fontSize);
  if (fits(wanted)) return wanted;
  // Below about 8 px nothing can be read, but cutting text off would be worse.
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
    lines: lines.map((line, index) => ({ ...line, baseline: Math.round((baselines[index] ?? 0) + shift) })),
  };
}

/** Baselines from the top of the bar. Ordinary text gives exactly `lines * 1.2 em + 0.8 em`. */
function stack(lines: readonly TextLine[], em: number): { baselines: number[]; height: number } {
  const above = (style.padding + style.lineHeight / 2 + style.baselineBelowMiddle) * em;
  const below = (style.padding + style.lineHeight / 2 - style.baselineBelowMiddle) * em;
  const pitch = style.lineHeight * em;
  const baselines: number[] = [];
  let previous: TextLine | undefined;
  let baseline = 0;
  for (const line of lines) {
    baseline += previous
      ? grown(pitch, previous.descent + line.ascent, em)
      : grown(above, line.ascent + EDGE_CLEARANCE * em, em);
    baselines.push(baseline);
    previous = line;
  }
  return { baselines, height: baseline + grown(below, (previous?.descent ?? 0) + EDGE_CLEARANCE * em, em) };
}

function grown(normal: number, needed: number, em: number): number {
  return Math.min(Math.max(normal, needed), normal + MAX_GROWTH * em);
}

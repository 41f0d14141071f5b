// Lays out a caption as the lines inside its bar, at the default font size or the largest smaller one that fits.

import { must } from '../primitives/must.ts';
import type { Size } from './geometry.ts';
import type { Measurer } from './measurer.ts';
import { analyzeParagraph, layoutParagraph, type TextLine, type Paragraph } from './paragraph.ts';
import { type Scale, style } from './style.ts';

interface PlacedLine extends TextLine {
  /** In pixels below the top edge of the bar. */
  readonly baseline: number;
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
      baseline: Math.round(must(baselines[index], 'the baseline') + shift),
    })),
  };
}

/** Baselines relative to the top of the bar. The height for ordinary text is exactly `lines * 1.2 em + 0.8 em`. */
function stack(lines: readonly TextLine[], em: number): { baselines: number[]; height: number } {
  const above = (style.padding + style.lineHeight / 2 + style.baselineBelowMiddle) * em;
  const below = (style.padding + style.lineHeight / 2 - style.baselineBelowMiddle) * em;
  const pitch = style.lineHeight * em;
  const baselines: number[] = [];
  let previous: TextLine | undefined;
  let baseline = 0;
  for (const line of lines) {
    baseline += previous
      ? growToFit(pitch, previous.descent + line.ascent, em)
      : growToFit(above, line.ascent + EDGE_CLEARANCE * em, em);
    baselines.push(baseline);
    previous = line;
  }
  return { baselines, height: baseline + growToFit(below, (previous?.descent ?? 0) + EDGE_CLEARANCE * em, em) };
}

function growToFit(normal: number, needed: number, em: number): number {
  return Math.min(Math.max(normal, needed), normal + MAX_GROWTH * em);
}

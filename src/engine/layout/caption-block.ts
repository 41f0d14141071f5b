// Lays out a caption as the lines inside its bar, at the default font size or the largest smaller one that fits.

import { must } from '../../shared/must.ts';
import type { Size } from './geometry.ts';
import type { Measurer } from './measurer.ts';
import { analyzeParagraph, layoutParagraph, type Paragraph, type TextLine, widestWord } from './paragraph.ts';
import type { Spacing } from './look.ts';
import { raiseOf } from './raise.ts';
import { type Scale, style } from './style.ts';

interface PlacedLine extends TextLine {
  /** The baseline in pixels below the top edge of the bar. */
  readonly baseline: number;
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
/** How much closer lines may come than their ink needs, in em, so that all lines of a bar have the same distance. */
const MAX_TIGHTENING = 0.15;
const SHRINK_STEPS = 12;
/** Widths of letters don't scale exactly with the font size. */
const ROUNDING = 0.995;
const MIN_FONT_SIZE = 0.5;

/** `room` is the canvas, or the part of its height that a safe area leaves. */
export function layoutCaption(text: string, room: Size, scale: Scale, measurer: Measurer, lang?: string): CaptionBlock {
  const paragraphs = paragraphsOf(text, lang);
  const wrapWidthAt = (fontSize: number): number => Math.max(1, scale.wrapWidth - 2 * scale.spacing.aside * fontSize);
  const blockAt = (fontSize: number): CaptionBlock => {
    const lines = paragraphs.flatMap((paragraph) =>
      layoutParagraph(paragraph, wrapWidthAt(fontSize), fontSize, measurer),
    );
    return blockOf(lines, fontSize, scale.spacing, measurer);
  };
  const fits = (block: CaptionBlock): boolean =>
    block.height <= room.height && block.lines.every((line) => line.width <= wrapWidthAt(block.fontSize));

  const preferredSize = uncutSize(paragraphs, scale, measurer);
  const preferred = blockAt(preferredSize);
  if (fits(preferred)) return preferred;
  // Text below about 8 px isn't readable, but truncating it would be worse.
  const best = largestFitting(blockAt, fits, MIN_FONT_SIZE, preferredSize);
  return best.height <= room.height ? best : { ...best, height: room.height };
}

function paragraphsOf(text: string, lang: string | undefined): Paragraph[] {
  let offset = 0;
  return text.split('\n').map((paragraph) => {
    const analyzed = analyzeParagraph(paragraph, offset, lang);
    offset += paragraph.length + 1;
    return analyzed;
  });
}

/** The usual font size, or one that is a little smaller if a long word then needs no cut. */
function uncutSize(paragraphs: readonly Paragraph[], scale: Scale, measurer: Measurer): number {
  const { fontSize, wrapWidth, spacing } = scale;
  const widest = Math.max(...paragraphs.map((paragraph) => widestWord(paragraph, fontSize, measurer)));
  const fitting = (ROUNDING * wrapWidth) / (widest / fontSize + 2 * spacing.aside);
  return fitting < fontSize && fitting >= style.leastUncutSize * fontSize ? fitting : fontSize;
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

function blockOf(lines: readonly TextLine[], fontSize: number, spacing: Spacing, measurer: Measurer): CaptionBlock {
  const { baselines, height } = stack(lines, fontSize, spacing);
  const rounded = Math.max(1, Math.round(height));
  const shift = (rounded - height) / 2;
  const inked = lines.map((line, index) => ({
    baseline: must(baselines[index], 'the baseline').baseline + shift,
    ink: measurer.letterInk(line.runs),
  }));
  const raise = Math.round(raiseOf(inked, rounded, fontSize));
  return {
    fontSize,
    height: rounded,
    lines: lines.map((line, index) => {
      const { baseline, above, below } = must(baselines[index], 'the baseline');
      const unraised = Math.round(baseline + shift);
      return {
        ...line,
        baseline: unraised - raise,
        top: index === 0 ? 0 : unraised - Math.round(above),
        bottom: index === lines.length - 1 ? rounded : unraised + Math.round(below),
      };
    }),
  };
}

interface Baseline {
  readonly baseline: number;
  /** The height of the line with its padding, above and below the baseline. */
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
): { baselines: Baseline[]; height: number } {
  const above = (padding + style.lineHeight / 2 + style.baselineBelowMiddle) * em;
  const below = (padding + style.lineHeight / 2 - style.baselineBelowMiddle) * em;
  const edges = lines.map((line) => ({
    above: growToFit(above, line.ascent + clearance * em, em),
    below: growToFit(below, line.descent + clearance * em, em),
  }));
  const distances = evened(
    lines.slice(1).map((line, index) => {
      const before = must(lines[index], 'the line before');
      return growToFit(style.lineHeight * em, before.descent + line.ascent, em);
    }),
    em,
  );
  let baseline = edges[0]?.above ?? above;
  const baselines = edges.map((edge, index) => {
    baseline += distances[index - 1] ?? 0;
    return { baseline, ...edge };
  });
  return { baselines, height: baseline + (edges.at(-1)?.below ?? below) };
}

/** Returns equal distances between all lines, unless one of them needs much more than the others. */
function evened(distances: readonly number[], em: number): readonly number[] {
  const mean = distances.reduce((sum, distance) => sum + distance, 0) / distances.length;
  return Math.max(...distances) - mean <= MAX_TIGHTENING * em ? distances.map(() => mean) : distances;
}

function growToFit(normal: number, needed: number, em: number): number {
  return Math.min(Math.max(normal, needed), normal + MAX_GROWTH * em);
}

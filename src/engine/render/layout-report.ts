// The layout of a render without its pixels: the same steps as a render, up to the point where it would draw.

import { graphemes } from '../caption/graphemes.ts';
import { embeddingLevels } from '../layout/direction.ts';
import type { Bar } from '../layout/layout.ts';
import type { TimedWord } from '../caption/words/timed-words.ts';
import { boundsOf } from '../layout/word-boxes.ts';
import { must } from '../../shared/must.ts';
import { layOut } from './bands.ts';
import type { BarReport, LineReport, LogoBox, PageReport, WordReport } from './bar-report.ts';
import type { LayoutRecipe } from './recipe.ts';
import type { Rendered } from './render.ts';
import type { RenderTools } from './renderer-tools.ts';
import { Stopwatch } from './timing.ts';

export async function renderLayout(recipe: LayoutRecipe, tools: RenderTools): Promise<Rendered> {
  const stopwatch = new Stopwatch();
  const { layout, logoPlace, texts, warningsOfBars, ...facts } = await layOut(recipe, tools, stopwatch);
  const bars = layout.bars.map((bar, index): BarReport => {
    const text = must(texts[index], 'the text of the bar');
    const direction = directionOf(text);
    return {
      top: bar.top,
      height: bar.height,
      left: bar.left,
      width: bar.right - bar.left,
      fontSize: round(bar.fontSize),
      direction,
      lines: bar.lines.map((line) => lineReport(line, bar, direction)),
      fonts: tools.text.fontFamilies(bar.text, bar.lang, bar.look.font),
      missingCharacters: missingIn(text, tools, bar.look.font),
      warnings: must(warningsOfBars[index], 'the warnings of the bar'),
      ...(bar.page.isCue && { page: pageReport(bar) }),
    };
  });
  // The file is empty, because all results are in the facts.
  const logo = logoPlace && { logo: logoBox(logoPlace) };
  return { bytes: Buffer.alloc(0), ...recipe.canvas, ...facts, layout: bars, ...logo, timings: stopwatch.timings };
}

function logoBox({ left, top, width, height }: LogoBox): LogoBox {
  return { left, top, width, height };
}

function pageReport(bar: Bar): PageReport {
  const { text, words = [], start = 0, end = 0 } = bar.page;
  const { source } = bar;
  return { text, start, end, words: words.map((word, index) => wordReport(bar, word, index)), source };
}

function wordReport(bar: Bar, { from, to, start, end }: TimedWord, index: number): WordReport {
  const parts = must(bar.words[index], 'the box of the word');
  const { left, right, top, bottom } = boundsOf(parts.map(({ box }) => box)) ?? {
    left: 0,
    right: 0,
    top: 0,
    bottom: 0,
  };
  return {
    text: bar.text.slice(from, to),
    start,
    end,
    left: round(left),
    top: round(bar.top + top),
    width: round(right - left),
    height: round(bottom - top),
  };
}

function lineReport(line: Bar['lines'][number], bar: Bar, direction: 'ltr' | 'rtl'): LineReport {
  const texts = line.runs.map(({ text }) => text);
  return {
    // Runs are in visual order, from left to right.
    text: (direction === 'rtl' ? texts.toReversed() : texts).join(''),
    x: round(line.x),
    width: round(line.width),
    baseline: bar.top + line.baseline,
  };
}

/** Returns the direction of the first paragraph. */
function directionOf(text: string): 'ltr' | 'rtl' {
  const [first = ''] = text.split('\n');
  const lowest = Math.min(...embeddingLevels(first));
  return lowest % 2 === 1 ? 'rtl' : 'ltr';
}

function missingIn(text: string, tools: RenderTools, font: string | undefined): string[] {
  return [...new Set(graphemes(text))].filter((grapheme) => tools.text.drawable(grapheme, font).missingGlyphs > 0);
}

function round(length: number): number {
  return Math.round(length * 100) / 100;
}

// Measures text without fonts: half an em per character, one em per emoji, nothing for marks and invisible characters.
// That makes expected widths easy to compute by hand.

import { graphemes } from '../src/engine/caption/graphemes.ts';
import type { Extent, Measurer, Run } from '../src/engine/layout/measurer.ts';

const NO_ADVANCE = /[\p{M}\p{Cf}]/u;

const ASCENT = 0.75;
const DESCENT = 0.2;

export const fakeMeasurer: Measurer = {
  measure(run: Run, fontSize: number): Extent {
    const ems = graphemes(run.text).map((grapheme) => (run.kind === 'text' ? letters(grapheme) / 2 : 1));
    const width = ems.reduce((sum, em) => sum + em, 0) * fontSize;
    if (run.kind !== 'text') return { width, ascent: 0, descent: 0 };
    return { width, ascent: ASCENT * fontSize, descent: DESCENT * fontSize };
  },
  letterInk: () => undefined,
  blankAt: () => 0,
  patternCuts: () => [],
};

function letters(grapheme: string): number {
  return Array.from(grapheme).filter((char) => !NO_ADVANCE.test(char)).length;
}

import type { GlyphKind } from './emoji.ts';
import type { PatternCuts } from './syllables.ts';

/** Text of one direction and one kind, which the text engine measures and draws as a unit. */
export interface Run {
  readonly text: string;
  readonly kind: GlyphKind;
  readonly rtl: boolean;
}

/** Extents in pixels. Ascent and descent are the bounds of the ink above and below the baseline. */
export interface Extent {
  readonly width: number;
  readonly ascent: number;
  readonly descent: number;
}

/** The extent of the letters' ink, in em above the baseline. Vowel marks, punctuation and emoji don't count. */
export interface LetterInk {
  readonly top: number;
  readonly bottom: number;
  /** The bounds of the ink with vowel marks. */
  readonly markedTop: number;
  readonly markedBottom: number;
  readonly centerOfGravity: number;
  /** In square em. */
  readonly area: number;
}

/** What fonts and languages say about a caption. It is injected, so that the layout can be tested without them. */
export interface Measurer {
  measure(run: Run, fontSize: number): Extent;
  /** Undefined for a line without letters. */
  letterInk(runs: readonly Run[]): LetterInk | undefined;
  /** The blank part, in em, of full-width punctuation at the left or right end of a line. */
  blankAt(side: 'left' | 'right', run: Run): number;
  readonly patternCuts: PatternCuts;
}

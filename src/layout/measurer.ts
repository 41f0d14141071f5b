import type { GlyphKind } from './emoji.ts';

/** A stretch of one direction and one kind: what the text engine can measure and draw in one go. */
export interface Run {
  readonly text: string;
  readonly kind: GlyphKind;
  readonly rtl: boolean;
}

/** Pixels; ascent and descent bound the ink above and below the baseline. */
export interface Extent {
  readonly width: number;
  readonly ascent: number;
  readonly descent: number;
}

/** Measures runs of one caption. Injected, so that layout is tested as numbers and knows no font. */
export interface Measurer {
  measure(run: Run, fontSize: number): Extent;
}

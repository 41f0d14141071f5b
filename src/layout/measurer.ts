import type { GlyphKind } from './emoji.ts';

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

/** Measures the runs of one caption. It is injected, so that the layout can be tested without fonts. */
export interface Measurer {
  measure(run: Run, fontSize: number): Extent;
}

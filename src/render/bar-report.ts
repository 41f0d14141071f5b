import type { LayoutWarning } from './warnings.ts';

/** One bar as callers see it before they pay. Lengths are in pixels of the canvas. */
export interface BarReport {
  readonly top: number;
  readonly height: number;
  /** The columns of the bar: all of them, or those of a label or of the text. */
  readonly left: number;
  readonly width: number;
  readonly fontSize: number;
  readonly direction: 'ltr' | 'rtl';
  readonly lines: readonly LineReport[];
  /** The families that draw the caption. */
  readonly fonts: readonly string[];
  readonly missingCharacters: readonly string[];
  readonly warnings: readonly LayoutWarning[];
}

export interface LineReport {
  readonly text: string;
  /** The left edge on the canvas. */
  readonly x: number;
  readonly width: number;
  /** The distance from the top edge of the canvas. */
  readonly baseline: number;
}

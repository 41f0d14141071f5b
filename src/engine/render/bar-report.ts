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
  /** When a page of captions is shown, and its words. */
  readonly page?: PageReport;
}

export interface PageReport {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly words: readonly WordReport[];
  /** The overlay that the page is from, and which of its words comes first. */
  readonly source: { readonly overlay: number; readonly firstWord: number };
}

/** A word, and where it stands out. */
export interface WordReport {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface LineReport {
  readonly text: string;
  /** The left edge on the canvas. */
  readonly x: number;
  readonly width: number;
  /** The distance from the top edge of the canvas. */
  readonly baseline: number;
}

/** Where a logo is drawn. */
export interface LogoBox {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

// The bars of a video over time. A set of bars is drawn when the first frame that shows it arrives and freed after the
// last, so memory doesn't grow with the number of captions.

import { isShownAt } from '../caption/timing-field.ts';
import type { Bar, Layout } from '../layout/layout.ts';
import type { Strokes } from '../layout/watermark.ts';
import type { TimedBars } from '../media/video/frames/bar-blender.ts';
import { type PlanarBand, toPlanarBand } from '../raster/planar.ts';
import type { Band } from '../raster/band.ts';
import type { DrawnPages } from '../raster/text-engine.ts';
import { litAt } from './lit-word.ts';

type DrawBars = (layout: Layout, pages: DrawnPages) => readonly Band[];

interface TimelineOptions {
  readonly strokes?: Strokes | undefined;
  readonly always?: readonly PlanarBand[];
}

export class BarTimeline implements TimedBars {
  readonly #layout: Layout;
  readonly #draw: DrawBars;
  readonly strokes: Strokes | undefined;
  readonly #always: readonly PlanarBand[];
  readonly #pages: DrawnPages = new Map();
  #shown: readonly Bar[] | undefined;
  #drawn: readonly Band[] = [];
  #converted: readonly PlanarBand[] = [];
  #bands: readonly PlanarBand[] = [];

  /** `always` is on all frames, below the bars, and converted already. */
  constructor(layout: Layout, draw: DrawBars, { strokes, always = [] }: TimelineOptions = {}) {
    this.#layout = layout;
    this.#draw = draw;
    this.strokes = strokes;
    this.#always = always;
  }

  at(milliseconds: number): readonly PlanarBand[] {
    const shown = this.#layout.bars
      .filter(({ page }) => isShownAt(page, milliseconds))
      .map((bar) => litAt(bar, milliseconds));
    if (this.#shown === undefined || !isSame(shown, this.#shown)) this.#show(shown);
    return this.#bands;
  }

  /** Returns the same array as long as the same bars are shown. */
  drawnAt(milliseconds: number): readonly Band[] {
    this.at(milliseconds);
    return this.#drawn;
  }

  #show(shown: readonly Bar[]): void {
    for (const lines of this.#pages.keys()) {
      if (!shown.some((bar) => bar.lines === lines)) this.#pages.delete(lines);
    }
    const drawn = this.#draw({ ...this.#layout, bars: shown }, this.#pages);
    // When another word stands out, most of a band is as before.
    this.#converted = drawn.map((band) => {
      const index = this.#drawn.findIndex(({ top, height }) => top === band.top && height === band.height);
      const [before, planar] = [this.#drawn[index], this.#converted[index]];
      return toPlanarBand(band, before && planar && { band: before, planar });
    });
    this.#bands = [...this.#always, ...this.#converted];
    this.#drawn = drawn;
    this.#shown = shown;
  }
}

function isSame(one: readonly Bar[], other: readonly Bar[]): boolean {
  const isEqual = ({ lines, lit }: Bar, index: number): boolean =>
    lines === other[index]?.lines && lit === other[index]?.lit;
  return one.length === other.length && one.every(isEqual);
}

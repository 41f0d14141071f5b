// The bars of a video over time. A set of bars is drawn when the first frame that shows it arrives and freed after the
// last, so memory doesn't grow with the number of captions.

import { isShownAt, type ShownTimes } from '../caption/timing-field.ts';
import type { Layout } from '../layout/layout.ts';
import type { Strokes } from '../layout/watermark.ts';
import type { TimedBars } from '../media/video/frames/bar-blender.ts';
import { must } from '../primitives/must.ts';
import { type PlanarBand, toPlanarBand } from '../raster/planar.ts';
import type { Band } from '../raster/band.ts';

export class BarTimeline implements TimedBars {
  readonly #layout: Layout;
  readonly #times: readonly ShownTimes[];
  readonly #draw: (layout: Layout) => readonly Band[];
  readonly strokes: Strokes | undefined;
  #shown: readonly number[] | undefined;
  #bands: readonly PlanarBand[] = [];

  /** `times` has an entry for each bar of the layout. */
  constructor(
    layout: Layout,
    times: readonly ShownTimes[],
    draw: (layout: Layout) => readonly Band[],
    strokes?: Strokes,
  ) {
    this.#layout = layout;
    this.#times = times;
    this.#draw = draw;
    this.strokes = strokes;
  }

  at(milliseconds: number): readonly PlanarBand[] {
    const shown = this.#times.flatMap((times, index) => (isShownAt(times, milliseconds) ? [index] : []));
    if (this.#shown === undefined || !isSame(shown, this.#shown)) {
      const bars = shown.map((index) => must(this.#layout.bars[index], 'the bar'));
      this.#bands = this.#draw({ ...this.#layout, bars }).map(toPlanarBand);
      this.#shown = shown;
    }
    return this.#bands;
  }
}

function isSame(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}

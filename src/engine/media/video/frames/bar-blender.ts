// Blends bars onto finished frames. Frames without a bar never get here, so they cost as much as in a plain transcode.

import type { Frame } from 'node-av/lib';
import type { Size } from '../../../layout/geometry.ts';
import type { Strokes } from '../../../layout/watermark.ts';
import type { Ratio } from './geometry.ts';
import { type BarImage, VideoFilterGraph } from './graph.ts';

/** The bars of a video over time. */
export interface TimedBars {
  /** Returns the bars of the frame at this time. Consecutive frames with the same bars get the same array. */
  at(milliseconds: number): readonly BarImage[];
  /** The watermark, which is on all frames. */
  readonly strokes?: Strokes | undefined;
}

export const NO_BARS: TimedBars = { at: () => [] };

export class BarBlender {
  readonly #canvas: Size;
  readonly #timeBase: Ratio;
  #bars: readonly BarImage[] = [];
  #graph: VideoFilterGraph | undefined;

  constructor(canvas: Size, timeBase: Ratio) {
    this.#canvas = canvas;
    this.#timeBase = timeBase;
  }

  /** Replaces the pixels of the frame, which must have a timestamp. */
  blend(frame: Frame, bars: readonly BarImage[]): void {
    const { pts, duration } = frame;
    const graph = this.#graphFor(bars);
    graph.push(frame);
    if (!graph.pull(frame)) throw new Error('the overlay filter returned no frame');
    frame.pts = pts;
    frame.duration = duration;
  }

  free(): void {
    this.#graph?.free();
    this.#graph = undefined;
  }

  /** Only the bars that are shown now are in memory. */
  #graphFor(bars: readonly BarImage[]): VideoFilterGraph {
    if (this.#graph === undefined || bars !== this.#bars) {
      this.free();
      const colors = { colorspace: 'bt709', range: 'tv' };
      const input = { ...this.#canvas, pixelFormat: 'yuv420p', timeBase: this.#timeBase, ...colors };
      this.#graph = new VideoFilterGraph(input, [], bars);
      this.#bars = bars;
    }
    return this.#graph;
  }
}

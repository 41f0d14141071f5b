// The overlay of one row of MCUs, extended past the right and bottom edge of the image to whole MCUs.

import type { Size } from '../../layout/geometry.ts';
import { type Band, PLAIN_BAR, wordsOf } from '../band.ts';

export type Coverage = 'none' | 'plain' | 'mixed';

export class OverlayStrip {
  /** RGBA words, row by row; transparent where there is no band. */
  readonly words: Int32Array;
  readonly stride: number;

  constructor(image: Size, bands: readonly Band[], top: number, size: Size) {
    this.stride = size.width;
    this.words = new Int32Array(size.width * size.height);
    for (let row = 0; row < size.height; row += 1) {
      const y = Math.min(top + row, image.height - 1);
      const band = bands.find((candidate) => y >= candidate.top && y < candidate.top + candidate.height);
      if (band === undefined) continue;
      const start = row * size.width;
      const from = (y - band.top) * image.width;
      const words = wordsOf(band.pixels);
      this.words.set(words.subarray(from, from + image.width), start);
      this.words.fill(words[from + image.width - 1] ?? 0, start + image.width, start + size.width);
    }
  }

  /** What covers the area of `width` x `height` pixels at this place. */
  coverage(left: number, top: number, width: number, height: number): Coverage {
    const first = this.words[top * this.stride + left] ?? 0;
    if (first !== 0 && first !== PLAIN_BAR) return 'mixed';
    for (let row = top; row < top + height; row += 1) {
      const start = row * this.stride + left;
      for (let at = start; at < start + width; at += 1) if (this.words[at] !== first) return 'mixed';
    }
    return first === 0 ? 'none' : 'plain';
  }
}

// The overlay of an image, one row of MCUs after the other, extended past the right and bottom edge to whole MCUs.

import type { Size } from '../../layout/geometry.ts';
import type { Strokes } from '../../layout/watermark.ts';
import { type Band, wordsOf } from '../band.ts';
import { strokeRow } from '../strokes.ts';

/** What is drawn on an image. Bands must be as wide as the upright image. */
export interface JpegOverlay {
  readonly bands: readonly Band[];
  /** The watermark, which is drawn over everything else. */
  readonly strokes?: Strokes | undefined;
  /** Converts the colors of RGBA words to those of the image, in place. */
  readonly convert?: ((words: Int32Array) => void) | undefined;
}

/** Where the pixels of a row of MCUs come from. */
export interface Strips {
  /** Returns true if anything is drawn on these rows of pixels. */
  touches(top: number, height: number): boolean;
  /** Fills the RGBA words of these rows of pixels, which are wider than the image; transparent where nothing is drawn. */
  fill(words: Int32Array, top: number, size: Size): void;
}

export class OverlayStrips implements Strips {
  readonly #image: Size;
  readonly #overlay: JpegOverlay;

  constructor(image: Size, overlay: JpegOverlay) {
    this.#image = image;
    this.#overlay = overlay;
  }

  touches(top: number, height: number): boolean {
    const { bands, strokes } = this.#overlay;
    return strokes !== undefined || bands.some((band) => band.top < top + height && band.top + band.height > top);
  }

  fill(words: Int32Array, top: number, { width, height }: Size): void {
    const { bands, strokes, convert } = this.#overlay;
    for (let row = 0; row < height; row += 1) {
      const y = Math.min(top + row, this.#image.height - 1);
      const line = words.subarray(row * width, (row + 1) * width);
      const band = bands.find((candidate) => y >= candidate.top && y < candidate.top + candidate.height);
      if (band) fillLine(line, band, y, this.#image.width);
      else line.fill(0);
      if (strokes) strokeRow(strokes, y, line, 0, width);
    }
    convert?.(words);
  }
}

function fillLine(line: Int32Array, band: Band, y: number, width: number): void {
  const from = (y - band.top) * width;
  line.set(wordsOf(band.pixels).subarray(from, from + width));
  line.fill(line[width - 1] ?? 0, width);
}

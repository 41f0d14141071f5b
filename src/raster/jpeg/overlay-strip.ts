// The overlay of one row of MCUs, extended past the right and bottom edge of the image to whole MCUs.

import type { Size } from '../../layout/geometry.ts';
import { type Band, PLAIN_BAR, wordsOf } from '../band.ts';
import { strokeRow } from '../strokes.ts';
import { mcuSize, type SplicedImage } from './mcu.ts';

/** These are numbers, because they are compared for every block. */
const NONE = 0;
/** A bar without text. */
export const PLAIN = 1;
export const MIXED = 2;
type Coverage = number;

type OverlaidImage = Pick<SplicedImage, 'headers' | 'bands' | 'strokes'>;

export class OverlayStrip {
  /** RGBA words, row by row. Transparent where there is no band. */
  readonly words: Int32Array;
  readonly stride: number;
  readonly #cells: Uint8Array;

  constructor({ headers: image, bands, strokes }: OverlaidImage, top: number, size: Size) {
    this.stride = size.width;
    this.words = new Int32Array(size.width * size.height);
    for (let row = 0; row < size.height; row += 1) {
      const y = Math.min(top + row, image.height - 1);
      const start = row * size.width;
      const band = bands.find((candidate) => y >= candidate.top && y < candidate.top + candidate.height);
      if (band) this.#addRow(band, y, start, image.width);
      if (strokes) strokeRow(strokes, y, this.words, start, size.width);
    }
    this.#cells = cellsOf(this.words, this.stride);
  }

  #addRow(band: Band, y: number, start: number, width: number): void {
    const from = (y - band.top) * width;
    const words = wordsOf(band.pixels);
    this.words.set(words.subarray(from, from + width), start);
    this.words.fill(words[from + width - 1] ?? 0, start + width, start + this.stride);
  }

  /** Returns what covers the area of `width` x `height` pixels at this place, all multiples of 8. */
  coverage(left: number, top: number, width: number, height: number): Coverage {
    const perRow = this.stride >> 3;
    const start = (top >> 3) * perRow + (left >> 3);
    const first = this.#cells[start] ?? MIXED;
    for (let row = 0; row < height >> 3; row += 1) {
      for (let column = 0; column < width >> 3; column += 1) {
        if (this.#cells[start + row * perRow + column] !== first) return MIXED;
      }
    }
    return first;
  }
}

/** The strips of an image. */
export class OverlayStrips {
  readonly #image: OverlaidImage;
  readonly #mcu: Size;
  #last: { readonly row: number; readonly strip: OverlayStrip } | undefined;

  constructor(image: OverlaidImage) {
    this.#image = image;
    this.#mcu = mcuSize(image.headers);
  }

  /** Returns the strip of a row of MCUs, or `undefined` if no band or stroke touches it. */
  at(row: number): OverlayStrip | undefined {
    const top = row * this.#mcu.height;
    const isAt = (band: Band): boolean => band.top < top + this.#mcu.height && band.top + band.height > top;
    const { headers, bands, strokes } = this.#image;
    if (strokes === undefined && !bands.some(isAt)) return undefined;
    if (this.#last?.row !== row) {
      const width = Math.ceil(headers.width / this.#mcu.width) * this.#mcu.width;
      const size = { width, height: this.#mcu.height };
      this.#last = { row, strip: new OverlayStrip(this.#image, top, size) };
    }
    return this.#last.strip;
  }
}

/** Returns what covers each cell of 8 x 8 pixels. */
function cellsOf(words: Int32Array, stride: number): Uint8Array {
  const perRow = stride >> 3;
  const cells = new Uint8Array(words.length >> 6);
  for (let cell = 0; cell < cells.length; cell += 1) {
    const start = Math.floor(cell / perRow) * 8 * stride + (cell % perRow) * 8;
    const word = words[start] ?? 0;
    cells[cell] = isFilled(words, start, stride, word) ? coverageBy(word) : MIXED;
  }
  return cells;
}

function isFilled(words: Int32Array, start: number, stride: number, word: number): boolean {
  for (let row = 0; row < 8; row += 1) {
    for (let at = start + row * stride, end = at + 8; at < end; at += 1) if (words[at] !== word) return false;
  }
  return true;
}

function coverageBy(word: number): Coverage {
  if (word === PLAIN_BAR) return PLAIN;
  return word === 0 ? NONE : MIXED;
}

// Converts bands to the format of video frames: BT.709 limited range, 4:2:0, with alpha. A chroma sample covers two
// rows, so a band that starts on an odd row gets a transparent row above it. Every pixel keeps its position, and a
// chroma sample that is shared with the frame outside the band is blended in proportion.

import { type Band, wordsOf } from './band.ts';

/** yuva420p: the Y, U, V and A planes one after the other, without padding. Width, height, top and left are even. */
export interface PlanarBand {
  readonly top: number;
  /** The first column; 0 by default. */
  readonly left?: number;
  readonly width: number;
  readonly height: number;
  readonly planes: Uint8Array;
}

// BT.709 coefficients, from full-range RGB to limited-range YCbCr.
const LUMA = [0.2126, 0.7152, 0.0722].map((weight) => (weight * 219) / 255) as [number, number, number];
const BLUE_DIFFERENCE = [-0.1146, -0.3854, 0.5].map((weight) => (weight * 224) / 255) as [number, number, number];
const RED_DIFFERENCE = [0.5, -0.4542, -0.0458].map((weight) => (weight * 224) / 255) as [number, number, number];

/** A band of the same rows that has been converted. */
interface ConvertedBand {
  readonly band: Band;
  readonly planar: PlanarBand;
}

/** Pixels that are the same in `before` are copied from it. */
export function toPlanarBand(band: Band, before?: ConvertedBand): PlanarBand {
  const top = band.top - (band.top % 2);
  const lead = band.top - top;
  const width = band.width + (band.width % 2);
  const height = lead + band.height + ((lead + band.height) % 2);
  const luma = width * height;
  const planes = before ? before.planar.planes.slice() : new Uint8Array(luma * 2 + luma / 2);
  const grid = { width, height, lead };
  const changed = before ? changedArea(band, before.band, grid) : { left: 0, right: width, top: 0, bottom: height };
  if (before === undefined) {
    planes.fill(16, 0, luma);
    planes.fill(128, luma, luma + luma / 2);
  }
  writeLuma(planes, band, grid, changed);
  writeChroma(planes, band, grid, changed);
  return { top, width, height, planes };
}

/** Even columns and rows of the planes. */
interface Area {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** The smallest area with all pixels that differ. */
function changedArea(band: Band, before: Band, { width, lead }: Grid): Area {
  const [pixels, others] = [wordsOf(band.pixels), wordsOf(before.pixels)];
  let [left, right, top, bottom] = [band.width, 0, band.height, 0];
  for (let row = 0; row < band.height; row += 1) {
    const [start, end] = [row * band.width, (row + 1) * band.width];
    let first = start;
    while (first < end && pixels[first] === others[first]) first += 1;
    if (first === end) continue;
    let last = end;
    while (pixels[last - 1] === others[last - 1]) last -= 1;
    left = Math.min(left, first - start);
    right = Math.max(right, last - start);
    top = Math.min(top, row);
    bottom = row + 1;
  }
  if (right === 0) return { left: 0, right: 0, top: 0, bottom: 0 };
  const even = (value: number): number => value + (value % 2);
  return {
    left: left - (left % 2),
    right: Math.min(width, even(right)),
    top: top + lead - ((top + lead) % 2),
    bottom: even(bottom + lead),
  };
}

function writeLuma(planes: Uint8Array, band: Band, { width, height, lead }: Grid, area: Area): void {
  const alphaAt = (width * height * 3) / 2;
  const right = Math.min(area.right, band.width);
  for (let row = Math.max(area.top, lead); row < Math.min(area.bottom, lead + band.height); row += 1) {
    for (let column = area.left; column < right; column += 1) {
      const source = ((row - lead) * band.width + column) * 4;
      planes[row * width + column] = Math.round(16 + weightedSum(LUMA, band.pixels, source));
      planes[alphaAt + row * width + column] = band.pixels[source + 3] ?? 0;
    }
  }
}

interface Grid {
  readonly width: number;
  readonly height: number;
  readonly lead: number;
}

/** Each chroma sample is the mean of its four pixels, weighted by alpha. */
function writeChroma(planes: Uint8Array, band: Band, { width, height, lead }: Grid, area: Area): void {
  const blueAt = width * height;
  const redAt = blueAt + blueAt / 4;
  for (let row = area.top; row < area.bottom; row += 2) {
    for (let column = area.left; column < area.right; column += 2) {
      let opacity = 0;
      let blue = 0;
      let red = 0;
      for (let corner = 0; corner < 4; corner += 1) {
        const y = row + (corner >> 1) - lead;
        const x = column + (corner & 1);
        if (y < 0 || y >= band.height || x >= band.width) continue;
        const source = (y * band.width + x) * 4;
        const alpha = band.pixels[source + 3] ?? 0;
        opacity += alpha;
        blue += alpha * weightedSum(BLUE_DIFFERENCE, band.pixels, source);
        red += alpha * weightedSum(RED_DIFFERENCE, band.pixels, source);
      }
      const sample = (row / 2) * (width / 2) + column / 2;
      planes[blueAt + sample] = opacity === 0 ? 128 : Math.round(128 + blue / opacity);
      planes[redAt + sample] = opacity === 0 ? 128 : Math.round(128 + red / opacity);
    }
  }
}

function weightedSum(weights: readonly [number, number, number], pixels: Uint8ClampedArray, at: number): number {
  return weights[0] * (pixels[at] ?? 0) + weights[1] * (pixels[at + 1] ?? 0) + weights[2] * (pixels[at + 2] ?? 0);
}

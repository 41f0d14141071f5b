// Converts bands to the format of video frames: BT.709 limited range, 4:2:0, with alpha. A chroma sample covers two
// rows, so a band that starts on an odd row gets a transparent row above it. Every pixel keeps its position, and a
// chroma sample that is shared with the frame outside the band is blended in proportion.

import type { Band } from './band.ts';

/** yuva420p: the Y, U, V and A planes one after the other, without padding. Width, height and top are even. */
export interface PlanarBand {
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly planes: Uint8Array;
}

// BT.709 coefficients, from full-range RGB to limited-range YCbCr.
const LUMA = [0.2126, 0.7152, 0.0722].map((weight) => (weight * 219) / 255) as [number, number, number];
const BLUE_DIFFERENCE = [-0.1146, -0.3854, 0.5].map((weight) => (weight * 224) / 255) as [number, number, number];
const RED_DIFFERENCE = [0.5, -0.4542, -0.0458].map((weight) => (weight * 224) / 255) as [number, number, number];

export function toPlanarBand(band: Band): PlanarBand {
  const top = band.top - (band.top % 2);
  const lead = band.top - top;
  const width = band.width + (band.width % 2);
  const height = lead + band.height + ((lead + band.height) % 2);
  const luma = width * height;
  const planes = new Uint8Array(luma * 2 + luma / 2);
  planes.fill(16, 0, luma);
  planes.fill(128, luma, luma + luma / 2);
  const alphaAt = luma + luma / 2;
  for (let row = 0; row < band.height; row += 1) {
    const target = (row + lead) * width;
    for (let column = 0; column < band.width; column += 1) {
      const source = (row * band.width + column) * 4;
      planes[target + column] = Math.round(16 + weightedSum(LUMA, band.pixels, source));
      planes[alphaAt + target + column] = band.pixels[source + 3] ?? 0;
    }
  }
  writeChroma(planes, band, { width, height, lead });
  return { top, width, height, planes };
}

interface Grid {
  readonly width: number;
  readonly height: number;
  readonly lead: number;
}

/** Each chroma sample is the mean of its four pixels, weighted by alpha. */
function writeChroma(planes: Uint8Array, band: Band, { width, height, lead }: Grid): void {
  const blueAt = width * height;
  const redAt = blueAt + blueAt / 4;
  for (let row = 0; row < height; row += 2) {
    for (let column = 0; column < width; column += 2) {
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
      if (opacity === 0) continue;
      const sample = (row / 2) * (width / 2) + column / 2;
      planes[blueAt + sample] = Math.round(128 + blue / opacity);
      planes[redAt + sample] = Math.round(128 + red / opacity);
    }
  }
}

function weightedSum(weights: readonly [number, number, number], pixels: Uint8ClampedArray, at: number): number {
  return weights[0] * (pixels[at] ?? 0) + weights[1] * (pixels[at + 1] ?? 0) + weights[2] * (pixels[at + 2] ?? 0);
}

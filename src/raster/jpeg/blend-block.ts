// Blends the overlay into the coefficients of a block.

import { BAR_ALPHA_BYTE } from '../band.ts';
import type { OverlayStrip } from './overlay-strip.ts';
import { toFrequencies, toSamples, ZIGZAG } from './transform.ts';

const BAR_ALPHA = BAR_ALPHA_BYTE / 255;
const MIDDLE = 128;
/** The DC coefficient is eight times the mean. */
const DC_SCALE = 8;
/** The coefficients of 8-bit images are in this range. */
const [LOWEST, HIGHEST] = [-1023, 1023];

/** Y, Cb and Cr as sums of red, green and blue, without the offset of Cb and Cr. */
const WEIGHTS = [
  [0.299, 0.587, 0.114],
  [-0.168736, -0.331264, 0.5],
  [0.5, -0.418688, -0.081312],
] as const;

export interface BlockPlace {
  /** 0 is luma, 1 and 2 are chroma. */
  readonly component: 0 | 1 | 2;
  /** The top left pixel in the strip, and how many pixels a sample covers. */
  readonly left: number;
  readonly top: number;
  readonly scaleX: number;
  readonly scaleY: number;
}

/** A bar without text is black at one alpha, so it only scales the coefficients. Black is the middle of Cb and Cr. */
export function blendPlainBar(coefficients: Int32Array, steps: Uint16Array, component: 0 | 1 | 2): void {
  const share = 1 - BAR_ALPHA;
  for (let index = 1; index < 64; index += 1) {
    const value = coefficients[index] ?? 0;
    if (value !== 0) coefficients[index] = Math.round(value * share);
  }
  const shift = component === 0 ? (DC_SCALE * MIDDLE * BAR_ALPHA) / (steps[0] ?? 1) : 0;
  coefficients[0] = Math.round((coefficients[0] ?? 0) * share - shift);
}

const samples = new Float64Array(64);

export function blendPixels(
  coefficients: Int32Array,
  steps: Uint16Array,
  strip: OverlayStrip,
  place: BlockPlace,
): void {
  for (let index = 0; index < 64; index += 1) {
    samples[ZIGZAG[index] ?? 0] = (coefficients[index] ?? 0) * (steps[index] ?? 0);
  }
  toSamples(samples);
  for (let at = 0; at < 64; at += 1) {
    const original = Math.min(255, Math.max(0, (samples[at] ?? 0) + MIDDLE));
    samples[at] = blendSample(original, strip, place, at & 7, at >> 3) - MIDDLE;
  }
  toFrequencies(samples);
  for (let index = 0; index < 64; index += 1) {
    const value = Math.round((samples[ZIGZAG[index] ?? 0] ?? 0) / (steps[index] ?? 1));
    coefficients[index] = index === 0 ? value : Math.min(HIGHEST, Math.max(LOWEST, value));
  }
}

/** The mean over the pixels that the sample covers. */
function blendSample(original: number, strip: OverlayStrip, place: BlockPlace, x: number, y: number): number {
  const { component, scaleX, scaleY } = place;
  const [red, green, blue] = WEIGHTS[component];
  let alphas = 0;
  let color = 0;
  for (let row = 0; row < scaleY; row += 1) {
    const start = (place.top + y * scaleY + row) * strip.stride + place.left + x * scaleX;
    for (let column = 0; column < scaleX; column += 1) {
      const word = strip.words[start + column] ?? 0;
      const alpha = word >>> 24;
      if (alpha === 0) continue;
      alphas += alpha;
      color += alpha * (red * (word & 255) + green * ((word >>> 8) & 255) + blue * ((word >>> 16) & 255));
    }
  }
  if (alphas === 0) return original;
  const total = 255 * scaleX * scaleY;
  const offset = component === 0 ? 0 : MIDDLE * alphas;
  return (original * (total - alphas) + color + offset) / total;
}

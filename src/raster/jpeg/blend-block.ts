// Blends the overlay into the coefficients of a block.

import { BAR_ALPHA_BYTE } from '../band.ts';
import type { McuBlock } from './mcu.ts';
import { MIXED, type OverlayStrip, PLAIN } from './overlay-strip.ts';
import { toFrequencies, toSamples, ZIGZAG } from './transform.ts';

const BAR_ALPHA = BAR_ALPHA_BYTE / 255;
const BAR_SHARE = 1 - BAR_ALPHA;
const MIDDLE = 128;
/** The DC coefficient is eight times the mean. */
const DC_SCALE = 8;
/** The coefficients of 8-bit images are in this range. */
const [LOWEST, HIGHEST] = [-1023, 1023];

/** The weights of red, green and blue in Cb and Cr, relative to the middle of their range. */
const CB_WEIGHTS = [-0.168736, -0.331264, 0.5] as const;
const CR_WEIGHTS = [0.5, -0.418688, -0.081312] as const;

const BLOCK_SIDE = 8;

/** `column` is the column of the MCU. */
export function blendOverlay(coefficients: Int32Array, block: McuBlock, column: number, strip: OverlayStrip): void {
  const { component, steps, top, scaleX, scaleY } = block;
  const left = column * block.mcuWidth + block.left;
  const coverage = strip.coverage(left, top, BLOCK_SIDE * scaleX, BLOCK_SIDE * scaleY);
  if (coverage === PLAIN) blendPlainBar(coefficients, steps, component);
  else if (coverage === MIXED) blendPixels(coefficients, block, strip, left);
}

/** A bar without text is black at one alpha, so it only scales the coefficients. Black is the middle of Cb and Cr. */
function blendPlainBar(coefficients: Int32Array, steps: Uint16Array, component: 0 | 1 | 2): void {
  const share = BAR_SHARE;
  for (let index = 1; index < 64; index += 1) {
    const value = coefficients[index] ?? 0;
    if (value !== 0) coefficients[index] = Math.round(value * share);
  }
  const shift = component === 0 ? (DC_SCALE * MIDDLE * BAR_ALPHA) / (steps[0] ?? 1) : 0;
  coefficients[0] = Math.round((coefficients[0] ?? 0) * share - shift);
}

const samples = new Float64Array(64);

/** `left` is in pixels, from the left edge of the strip. */
function blendPixels(coefficients: Int32Array, shape: McuBlock, strip: OverlayStrip, left: number): void {
  const block = samples;
  const zigzag = ZIGZAG;
  const { toSamples: up, toCoefficients: down } = shape.scales;
  for (let index = 0; index < 64; index += 1) {
    block[zigzag[index] ?? 0] = (coefficients[index] ?? 0) * (up[index] ?? 0);
  }
  toSamples(block);
  if (shape.component === 0) blendLuma(block, strip, shape.top, left);
  else blendChroma(block, strip, shape, left);
  toFrequencies(block);
  for (let index = 0; index < 64; index += 1) {
    const value = Math.round((block[zigzag[index] ?? 0] ?? 0) * (down[index] ?? 0));
    coefficients[index] = index === 0 ? value : Math.min(HIGHEST, Math.max(LOWEST, value));
  }
}

/** Samples are relative to the middle of their range. */
function blendLuma(block: Float64Array, { words, stride }: OverlayStrip, top: number, left: number): void {
  for (let at = 0; at < 64; at += 1) {
    const word = words[(top + (at >> 3)) * stride + left + (at & 7)] ?? 0;
    const alpha = word >>> 24;
    if (alpha === 0) continue;
    const level = 0.299 * (word & 255) + 0.587 * ((word >>> 8) & 255) + 0.114 * ((word >>> 16) & 255) - MIDDLE;
    const original = Math.min(MIDDLE - 1, Math.max(-MIDDLE, block[at] ?? 0));
    block[at] = original + ((level - original) * alpha) / 255;
  }
}

/** Blends the mean over the pixels that a sample covers. */
function blendChroma(block: Float64Array, { words, stride }: OverlayStrip, shape: McuBlock, left: number): void {
  const { top, scaleX, scaleY } = shape;
  const [red, green, blue] = shape.component === 1 ? CB_WEIGHTS : CR_WEIGHTS;
  const total = 255 * scaleX * scaleY;
  for (let at = 0; at < 64; at += 1) {
    let alphas = 0;
    let color = 0;
    for (let row = 0; row < scaleY; row += 1) {
      const start = (top + (at >> 3) * scaleY + row) * stride + left + (at & 7) * scaleX;
      for (let column = 0; column < scaleX; column += 1) {
        const word = words[start + column] ?? 0;
        const alpha = word >>> 24;
        alphas += alpha;
        color += alpha * (red * (word & 255) + green * ((word >>> 8) & 255) + blue * ((word >>> 16) & 255));
      }
    }
    if (alphas === 0) continue;
    const original = Math.min(MIDDLE - 1, Math.max(-MIDDLE, block[at] ?? 0));
    block[at] = (original * (total - alphas) + color) / total;
  }
}

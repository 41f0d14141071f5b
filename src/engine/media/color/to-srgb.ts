// Converts decoded pixels to 8-bit sRGB where the image decoder can't: colors described by chunks, HDR, and CMYK
// without a profile.

import { shownSignal, SHOWN_GAMMA } from '../video/frames/tone-curve.ts';
import { type ColorEncoding, type ImageTransfer, SRGB_CHROMATICITIES } from './encoding.ts';
import { type Matrix3, multiply, toXyz, inverse } from './matrix.ts';

/** Fine enough for the steep start of the sRGB curve. */
const OUTPUT_STEPS = 16_384;

type Samples = Uint8Array | Uint16Array;

/** Writes `target`, which may be `source` itself. The fourth channel is alpha. */
export function encodedToSrgb(source: Samples, target: Uint8Array, channels: 3 | 4, encoding: ColorEncoding): void {
  const levels = source.BYTES_PER_ELEMENT === 2 ? 65_536 : 256;
  const light = Float32Array.from({ length: levels }, (_, level) =>
    encodingToLight(encoding.transfer, level / (levels - 1)),
  );
  const signal = Uint8Array.from({ length: OUTPUT_STEPS + 1 }, (_, step) =>
    Math.round(255 * lightToSignal(encoding.transfer, step / OUTPUT_STEPS)),
  );
  const [rr, rg, rb, gr, gg, gb, br, bg, bb] = matrixToSrgb(encoding.chromaticities);
  const level = (value: number): number =>
    signal[Math.min(OUTPUT_STEPS, Math.max(0, Math.round(value * OUTPUT_STEPS)))] ?? 0;
  for (let at = 0; at + channels <= source.length; at += channels) {
    const red = light[source[at] ?? 0] ?? 0;
    const green = light[source[at + 1] ?? 0] ?? 0;
    const blue = light[source[at + 2] ?? 0] ?? 0;
    target[at] = level(rr * red + rg * green + rb * blue);
    target[at + 1] = level(gr * red + gg * green + gb * blue);
    target[at + 2] = level(br * red + bg * green + bb * blue);
    if (channels === 4) target[at + 3] = levels === 256 ? (source[at + 3] ?? 0) : eightBits(source[at + 3] ?? 0);
  }
}

function eightBits(value: number): number {
  return Math.round(value / 257);
}

/** Converts CMYK without a profile like browsers do, which treat inks as ideal filters. 0 means no ink. */
export function cmykToSrgb(source: Uint8Array, target: Uint8Array): void {
  for (let from = 0, to = 0; from + 4 <= source.length; from += 4, to += 3) {
    const white = 255 - (source[from + 3] ?? 0);
    for (let ink = 0; ink < 3; ink += 1) {
      target[to + ink] = Math.floor(((255 - (source[from + ink] ?? 0)) * white) / 255);
    }
  }
}

/** Returns linear light, or the result of the tone curve. Both are in 0..1. */
export function encodingToLight(transfer: ImageTransfer, signal: number): number {
  if (typeof transfer === 'number') return signal ** transfer;
  switch (transfer) {
    case 'srgb':
      return signal <= 0.04045 ? signal / 12.92 : ((signal + 0.055) / 1.055) ** 2.4;
    case 'pq':
    case 'hlg':
      return shownSignal(transfer, signal) ** SHOWN_GAMMA;
  }
}

/** HDR stills leave the tone curve like video frames do, so that both look the same. */
export function lightToSignal(transfer: ImageTransfer, light: number): number {
  if (transfer === 'pq' || transfer === 'hlg') return light ** (1 / SHOWN_GAMMA);
  return light <= 0.0031308 ? light * 12.92 : 1.055 * light ** (1 / 2.4) - 0.055;
}

/** Returns the matrix to sRGB, for linear light. */
export function matrixToSrgb(chromaticities: readonly number[]): Matrix3 {
  return multiply(inverse(toXyz(SRGB_CHROMATICITIES)), toXyz(chromaticities));
}

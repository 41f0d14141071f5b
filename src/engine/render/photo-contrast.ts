// Measures whether text without a bar can be read on its photo. Its shadow helps only so far on bright or busy photos.

import { contrast, luminance } from '../layout/contrast.ts';
import type { Bar } from '../layout/layout.ts';
import { type Look, MIN_TEXT_CONTRAST } from '../layout/look.ts';
import { style } from '../layout/style.ts';
import { type Band, wordsOf } from '../raster/band.ts';
import type { RawImage } from '../raster/blend.ts';

/** The share of the pixels between letters that may have less contrast to the text. */
const MAX_LOW_SHARE = 0.25;
/** About as many pixels of a line are measured. */
const SAMPLES = 4_000;

export function needsPhoto({ surround }: Look): boolean {
  return surround === 'shadow';
}

/** `photo` is the image before the bands are drawn, or a smaller copy of it. `width` is that of the image. */
export function isFaintOn(photo: RawImage, width: number, bar: Bar, bands: readonly Band[]): boolean {
  const band = bands.find(({ top, height }) => top <= bar.top && bar.top < top + height);
  if (band === undefined) return false;
  const words = wordsOf(band.pixels);
  const { red, green, blue } = bar.look.color;
  const text = luminance(red, green, blue);
  const scale = photo.width / width;
  let [low, count] = [0, 0];
  for (const line of bar.lines) {
    const [left, right] = [Math.max(0, Math.floor(line.x)), Math.min(width, Math.ceil(line.x + line.width))];
    const bottom = bar.top + line.baseline;
    const top = Math.max(bar.top, Math.round(bottom - 2 * style.baselineBelowMiddle * bar.fontSize));
    const step = Math.max(1, Math.floor(Math.sqrt(((right - left) * (bottom - top)) / SAMPLES)));
    for (let y = top; y < bottom; y += step) {
      for (let x = left; x < right; x += step) {
        const word = words[(y - band.top) * width + x] ?? 0;
        // Only the shadow is black. Letters and emoji are measured against what is beside them.
        if ((word & 0xffffff) !== 0) continue;
        const at = (Math.floor(y * scale) * photo.width + Math.floor(x * scale)) * photo.channels;
        const share = 1 - (word >>> 24) / 255;
        const seen = (channel: number): number => (photo.data[at + channel] ?? 0) * share;
        count += 1;
        if (contrast(text, luminance(seen(0), seen(1), seen(2))) < MIN_TEXT_CONTRAST) low += 1;
      }
    }
  }
  return low > MAX_LOW_SHARE * count;
}

import type { AlphaImage } from './still-image.ts';
import { inverse } from './geometry.ts';
import type { Canvas } from './write-pixels.ts';

/** Writes the fourth channel. An alpha image of another size than its image is stretched. */
export function applyAlpha(canvas: Canvas, alpha: Canvas, { map, sourceSize, isPremultiplied }: AlphaImage): void {
  const { width, height, channels, samples } = canvas;
  const { xx, xy, tx, yx, yy, ty } = inverse(map);
  const scaleX = alpha.width / sourceSize.width;
  const scaleY = alpha.height / sourceSize.height;
  const factor = samples.BYTES_PER_ELEMENT === 2 ? 257 : 1;
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const sourceX = Math.floor((xx * x + xy * y + tx + 0.5) * scaleX);
      const sourceY = Math.floor((yx * x + yy * y + ty + 0.5) * scaleY);
      const value = alpha.samples[sourceY * alpha.width + sourceX] ?? 0;
      const at = (y * width + x) * channels;
      samples[at + 3] = value * factor;
      if (isPremultiplied && value > 0 && value < 255) unmultiply(samples, at, value, 255 * factor);
    }
  }
}

function unmultiply(samples: Canvas['samples'], at: number, alpha: number, white: number): void {
  for (let channel = at; channel < at + 3; channel += 1) {
    samples[channel] = Math.min(white, Math.round(((samples[channel] ?? 0) * 255) / alpha));
  }
}

import type { Canvas } from './converter.ts';
import { inverse } from './geometry.ts';
import type { AlphaImage } from './still-image.ts';

/** Writes the fourth channel. An alpha image of another size than its image is stretched. */
export function applyAlpha(canvas: Canvas, alpha: Canvas, { map, sourceSize, isPremultiplied }: AlphaImage): void {
  const { width, height, channels, data } = canvas;
  const { xx, xy, tx, yx, yy, ty } = inverse(map);
  const scaleX = alpha.width / sourceSize.width;
  const scaleY = alpha.height / sourceSize.height;
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const sourceX = Math.floor((xx * x + xy * y + tx + 0.5) * scaleX);
      const sourceY = Math.floor((yx * x + yy * y + ty + 0.5) * scaleY);
      const value = alpha.data[(sourceY * alpha.width + sourceX) * alpha.channels] ?? 0;
      const at = (y * width + x) * channels;
      data[at + 3] = value;
      if (isPremultiplied && value > 0 && value < 255) unmultiply(data, at, value);
    }
  }
}

function unmultiply(data: Uint8Array, at: number, alpha: number): void {
  for (let channel = at; channel < at + 3; channel += 1) {
    data[channel] = Math.min(255, Math.round(((data[channel] ?? 0) * 255) / alpha));
  }
}

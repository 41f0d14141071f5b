// Scales a logo to the size at which it is shown.

import sharp from 'sharp';
import type { Size } from '../layout/geometry.ts';

/**
 * Returns straight RGBA in sRGB. The resizer weights colors by their alpha, so transparent pixels leave no rim. Transparent
 * pixels are 0, as in all bands.
 */
export async function scaleLogo(
  png: Uint8Array,
  { width, height, opacity }: Size & { readonly opacity: number },
): Promise<Uint8ClampedArray> {
  const { data, info } = await sharp(png)
    .resize({ width, height, fit: 'fill' })
    .toColorspace('srgb')
    .ensureAlpha()
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  if (info.channels !== 4) throw new Error(`the logo has ${info.channels} channels`);
  const pixels = new Uint8ClampedArray(data);
  for (let index = 0; index < pixels.length; index += 4) {
    const alpha = Math.round((pixels[index + 3] ?? 0) * opacity);
    if (alpha === 0) pixels.fill(0, index, index + 4);
    else pixels[index + 3] = alpha;
  }
  return pixels;
}

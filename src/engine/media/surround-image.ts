// Puts an image on its canvas, in front of a color or of a blurred copy of itself.

import sharp from 'sharp';
import type { Size } from '../layout/geometry.ts';
import { must } from '../../shared/must.ts';
import { type DecodedImage, resizeImage } from './image.ts';
import { BLUR_BRIGHTNESS, BLUR_SIGMA, smallCopyOf, type ImageSurround } from './surround.ts';

/** The result is opaque: transparent parts of the image show what is behind it. */
export async function surroundImage(image: DecodedImage, canvas: Size, surround: ImageSurround): Promise<DecodedImage> {
  const target = surround.fill === 'blur' ? await blurredCopy(image, canvas) : filled(canvas, bytesOf(surround.fill));
  for (let row = 0; row < image.height; row += 1) {
    const at = ((surround.top + row) * canvas.width + surround.left) * 3;
    const from = row * image.width * image.channels;
    const pixels = image.data.subarray(from, from + image.width * image.channels);
    if (image.channels === 3) target.data.set(pixels, at);
    else blendRow(target.data, at, pixels);
  }
  return target;
}

async function blurredCopy({ data, width, height, channels }: DecodedImage, canvas: Size): Promise<DecodedImage> {
  const small = smallCopyOf(canvas);
  const { data: copy } = await sharp(data, { raw: { width, height, channels }, limitInputPixels: false })
    .flatten({ background: '#000000' })
    .resize({ ...small, fit: 'cover' })
    .blur(BLUR_SIGMA)
    .linear(BLUR_BRIGHTNESS, 0)
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  return await resizeImage({ ...small, channels: 3, data: copy }, canvas);
}

function filled({ width, height }: Size, color: readonly [number, number, number]): DecodedImage {
  const data = Buffer.alloc(width * height * 3, Uint8Array.from(color));
  return { width, height, channels: 3, data };
}

function bytesOf(color: string): readonly [number, number, number] {
  const value = Number.parseInt(color.slice(1), 16);
  return [value >>> 16, (value >>> 8) & 255, value & 255];
}

function blendRow(target: Uint8Array, start: number, rgba: Uint8Array): void {
  for (let from = 0, at = start; from < rgba.length; from += 4, at += 3) {
    const alpha = must(rgba[from + 3], 'the alpha of a pixel');
    for (let channel = 0; channel < 3; channel += 1) {
      const [front = 0, back = 0] = [rgba[from + channel], target[at + channel]];
      target[at + channel] = Math.round((front * alpha + back * (255 - alpha)) / 255);
    }
  }
}

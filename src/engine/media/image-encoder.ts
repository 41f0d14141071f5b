// Encodes upright 8-bit sRGB pixels as JPEG or WebP, without any metadata. PNG has an encoder of its own in `raster/png/`.

import sharp, { type Sharp } from 'sharp';
import type { DecodedImage } from './image.ts';

/** From this quality on, colors keep their full resolution, because captions have sharp edges. */
const FULL_COLOR_QUALITY = 90;
/** JPEG has no transparency. */
const BACKGROUND = '#ffffff';
/** From 0 to 6. The default is 4. Lower values are faster and make larger files. */
const WEBP_EFFORT = 2;
/**
 * From 1 to 100: the meaning of `quality` for lossless files. The default, 80, takes twice as long and saves 10 % of
 * the bytes.
 */
const LOSSLESS_EFFORT = 20;

export async function encodeJpeg(image: DecodedImage, quality: number): Promise<Buffer> {
  const opaque = image.channels === 4 ? open(image).flatten({ background: BACKGROUND }) : open(image);
  const chromaSubsampling = quality >= FULL_COLOR_QUALITY ? '4:4:4' : '4:2:0';
  return await opaque.jpeg({ quality, chromaSubsampling }).toBuffer();
}

export async function encodeWebp(image: DecodedImage, quality: number): Promise<Buffer> {
  return await open(image).webp({ quality, effort: WEBP_EFFORT }).toBuffer();
}

export async function encodeLosslessWebp(image: DecodedImage): Promise<Buffer> {
  return await open(image).webp({ lossless: true, effort: WEBP_EFFORT, quality: LOSSLESS_EFFORT }).toBuffer();
}

function open({ data, width, height, channels }: DecodedImage): Sharp {
  return sharp(data, { raw: { width, height, channels }, limitInputPixels: false });
}

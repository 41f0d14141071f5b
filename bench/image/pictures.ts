// The input photos: one photo at two sizes, encoded before anything is measured.

import path from 'node:path';
import sharp, { type Sharp } from 'sharp';

export interface Photo {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly jpeg: Buffer;
}

const SIZES = [
  { name: '1080x1920', width: 1080, height: 1920 },
  { name: '4000x3000', width: 4000, height: 3000 },
] as const;
const QUALITY = 90;

export interface Photos {
  readonly source: string;
  readonly story: Photo;
  readonly large: Photo;
}

/** Scales the photo of this file, or generates one without a file. */
export async function makePhotos(file: string | undefined): Promise<Photos> {
  const [story, large] = await Promise.all(
    SIZES.map(async (size) => {
      const image = file === undefined ? await noisyGradient(size) : await scaled(file, size);
      return { ...size, jpeg: await image.jpeg({ quality: QUALITY }).toBuffer() };
    }),
  );
  if (!story || !large) throw new Error('a photo is missing');
  return { source: file === undefined ? 'a generated noisy gradient' : path.basename(file), story, large };
}

interface TargetSize {
  readonly width: number;
  readonly height: number;
}

/** Rotates the photo if that avoids enlarging it, because an enlarged photo compresses better than a real one. */
async function scaled(file: string, { width, height }: TargetSize): Promise<Sharp> {
  const { autoOrient } = await sharp(file).metadata();
  const rotation = autoOrient.width > autoOrient.height !== width > height && width > autoOrient.width ? 90 : 0;
  const upright = await sharp(file)
    .autoOrient()
    .toColorspace('srgb')
    .removeAlpha()
    .png({ compressionLevel: 0 })
    .toBuffer();
  return sharp(await sharp(upright).rotate(rotation).png({ compressionLevel: 0 }).toBuffer()).resize(width, height);
}

async function noisyGradient({ width, height }: TargetSize): Promise<Sharp> {
  const data = Buffer.alloc(width * height * 3);
  let seed = 1;
  for (let index = 0; index < data.length; index += 1) {
    // A linear congruential generator, so that the photo is the same on every machine.
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    const pixel = Math.floor(index / 3);
    const across = (pixel % width) / width;
    const down = Math.floor(pixel / width) / height;
    const shade = [across, down, (across + down) / 2][index % 3] ?? 0;
    data[index] = 24 + shade * 200 + (seed >>> 28);
  }
  return sharp(data, { raw: { width, height, channels: 3 } });
}

// The inputs: one photo at two sizes, encoded once before anything is timed.

import path from 'node:path';
import sharp, { type Sharp } from 'sharp';

export interface Picture {
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

export interface Pictures {
  readonly source: string;
  readonly story: Picture;
  readonly large: Picture;
}

export async function makeTestImages(photo: string | undefined): Promise<Pictures> {
  const [story, large] = await Promise.all(
    SIZES.map(async (size) => {
      const image = photo === undefined ? await noisyGradient(size) : await fitted(photo, size);
      return { ...size, jpeg: await image.jpeg({ quality: QUALITY }).toBuffer() };
    }),
  );
  if (!story || !large) throw new Error('a picture is missing');
  return { source: photo === undefined ? 'a generated noisy gradient' : path.basename(photo), story, large };
}

interface Target {
  readonly width: number;
  readonly height: number;
}

/** Turned where that spares enlarging: an enlarged photo is smoother, and compresses better, than a real one. */
async function fitted(photo: string, { width, height }: Target): Promise<Sharp> {
  const { autoOrient } = await sharp(photo).metadata();
  const turn = autoOrient.width > autoOrient.height !== width > height && width > autoOrient.width ? 90 : 0;
  const upright = await sharp(photo)
    .autoOrient()
    .toColorspace('srgb')
    .removeAlpha()
    .png({ compressionLevel: 0 })
    .toBuffer();
  return sharp(await sharp(upright).rotate(turn).png({ compressionLevel: 0 }).toBuffer()).resize(width, height);
}

async function noisyGradient({ width, height }: Target): Promise<Sharp> {
  const data = Buffer.alloc(width * height * 3);
  let seed = 1;
  for (let index = 0; index < data.length; index += 1) {
    // A linear congruential generator: the same picture on every machine.
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    const pixel = Math.floor(index / 3);
    const across = (pixel % width) / width;
    const down = Math.floor(pixel / width) / height;
    const shade = [across, down, (across + down) / 2][index % 3] ?? 0;
    data[index] = 24 + shade * 200 + (seed >>> 28);
  }
  return sharp(data, { raw: { width, height, channels: 3 } });
}

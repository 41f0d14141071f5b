// Small images for tests, and functions to read their pixels.

import sharp from 'sharp';

export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly data: Buffer;
}

export async function plainPng(width: number, height: number, color: string): Promise<Buffer> {
  return await sharp({ create: { width, height, channels: 3, background: color } })
    .png()
    .toBuffer();
}

/** Returns random pixels, which are slow to decode and encode, for tests that need a slow render. */
export async function noisyJpeg(width: number, height: number): Promise<Buffer> {
  return await sharp({
    create: { width, height, channels: 3, background: '#888', noise: { type: 'gaussian', mean: 128, sigma: 60 } },
  })
    .jpeg({ quality: 90 })
    .toBuffer();
}

export async function decode(bytes: ArrayBuffer | Buffer): Promise<Pixels> {
  const { data, info } = await sharp(Buffer.from(bytes as ArrayBuffer))
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height, channels: info.channels };
}

export function pixelAt({ data, width, channels }: Pixels, x: number, y: number): number[] {
  const at = (y * width + x) * channels;
  return [...data.subarray(at, at + channels)];
}

/** The runs of rows whose leftmost pixel satisfies the test. Finds the bars. */
export function rowsWhere(pixels: Pixels, test: (pixel: number[]) => boolean): { top: number; bottom: number }[] {
  const runs: { top: number; bottom: number }[] = [];
  for (let row = 0; row < pixels.height; row += 1) {
    if (!test(pixelAt(pixels, 0, row))) continue;
    const last = runs.at(-1);
    if (last?.bottom === row) last.bottom = row + 1;
    else runs.push({ top: row, bottom: row + 1 });
  }
  return runs;
}

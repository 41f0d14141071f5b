// Small pictures for tests, and ways to read pixels back.

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

/** Random pixels: slow to decode and to encode, for tests that need a render to take a while. */
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

/** Rows, in the leftmost column, whose pixel satisfies the test: where the bars are. */
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

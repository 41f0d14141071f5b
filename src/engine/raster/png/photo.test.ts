import { inflateSync } from 'node:zlib';
import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { randomCases } from '../../../../test/random-cases.ts';
import { must } from '../../../shared/must.ts';
import type { RawImage } from '../blend.ts';
import { COLOR_TYPE } from './chunks.ts';
import { encodePng } from './photo.ts';

/** Returns numbers between 0 and 1 that depend only on the seed. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

type Pattern = (x: number, y: number, channel: number, random: () => number) => number;

/** Patterns from photos to images that would mislead an encoder that looks only at some of the rows. */
const PATTERNS: Readonly<Record<string, Pattern>> = {
  'a gradient with grain': (x, y, channel, random) => x / 3 + y / 5 + channel * 20 + random() * 12,
  noise: (_x, _y, _channel, random) => random() * 256,
  'a single color': (_x, _y, channel) => channel * 80,
  'flat areas': (x, y, channel) => ((x >> 4) ^ (y >> 4)) * 40 + channel,
  'runs of zeros of every length': (x, y, channel, random) => (x % (y + 3) === 0 && channel === 0 ? random() * 256 : 0),
  'extreme steps': (x, y, _channel, random) => ((x ^ y) & 1) * 255 * Math.round(random()),
  'noise in every row but the sampled ones': (_x, y, _channel, random) => (y % 16 === 8 ? 0 : random() * 256),
};

function testImage(name: string, width: number, height: number, channels: 3 | 4, seed: number): RawImage {
  const pattern = PATTERNS[name];
  if (pattern === undefined) throw new Error(`there is no pattern named ${name}`);
  const random = randomNumbers(seed);
  const data = new Uint8Array(width * height * channels);
  let at = 0;
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      for (let channel = 0; channel < channels; channel += 1) data[at++] = pattern(x, y, channel, random);
    }
  }
  return { width, height, channels, data };
}

/** Compares size and pixels. Also throws if one of the checksums is wrong, which some decoders ignore. */
async function hasSamePixels(png: Buffer, { width, height, channels, data }: RawImage): Promise<boolean> {
  const bytesPerPixel = png[25] === COLOR_TYPE.gray ? 1 : channels;
  if (inflateSync(dataOf(png)).length !== height * (width * bytesPerPixel + 1)) return false;
  const decoder = sharp(png, { failOn: 'warning' }).toColorspace('srgb').raw();
  const { data: decoded, info } = await decoder.toBuffer({ resolveWithObject: true });
  return info.width === width && info.channels === channels && Buffer.compare(decoded, data) === 0;
}

function dataOf(png: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  return Buffer.concat(parts);
}

const names = fc.constantFrom(...Object.keys(PATTERNS));

describe('encodePng', () => {
  it('keeps every pixel of images of any size, with and without alpha', async () => {
    const cases = fc.record({
      name: names,
      width: fc.integer({ min: 1, max: 300 }),
      height: fc.integer({ min: 1, max: 300 }),
      channels: fc.constantFrom<3 | 4>(3, 4),
      seed: fc.nat(),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ name, width, height, channels, seed }) => {
        const image = testImage(name, width, height, channels, seed);
        expect(await hasSamePixels(await encodePng(image), image)).toBe(true);
      }),
      { numRuns: randomCases({ usually: 12, all: 300 }) },
    );
  });

  it.each(Object.keys(PATTERNS))('keeps every pixel of an image of several strips: %s', async (name) => {
    for (const channels of [3, 4] as const) {
      const image = testImage(name, 700, 800, channels, 7);
      expect(await hasSamePixels(await encodePng(image), image)).toBe(true);
    }
  });

  it.each([
    [1, 65_535, 3],
    [65_535, 1, 4],
    [65_535, 12, 4],
    [17, 30_000, 3],
  ] as const)('keeps every pixel of an image of %d x %d pixels', async (width, height, channels) => {
    const image = testImage('a gradient with grain', width, height, channels, 1);
    expect(await hasSamePixels(await encodePng(image), image)).toBe(true);
  });

  it('writes an image without color as grayscale, and keeps a single colored pixel', async () => {
    const image = testImage('a gradient with grain', 900, 2_000, 3, 5);
    for (let at = 0; at < image.data.length; at += 3) image.data.fill(image.data[at] ?? 0, at, at + 3);
    const gray = await encodePng(image);
    expect(gray[25]).toBe(COLOR_TYPE.gray);
    expect(await hasSamePixels(gray, image)).toBe(true);
    image.data[image.data.length - 1] = 255 - (image.data.at(-1) ?? 0);
    const color = await encodePng(image);
    expect(color[25]).toBe(COLOR_TYPE.rgb);
    expect(await hasSamePixels(color, image)).toBe(true);
  });

  it.each(['noise', 'noise in every row but the sampled ones'])('never expands %s by more than 1 %', async (name) => {
    const image = testImage(name, 1_000, 1_200, 3, 3);
    expect((await encodePng(image)).length).toBeLessThan(image.data.length * 1.01);
  });

  it('encodes several images at the same time', async () => {
    const images = [1, 2, 3].map((seed) => testImage('a gradient with grain', 800, 900, 3, seed));
    const files = await Promise.all(images.map((image) => encodePng(image)));
    const results = await Promise.all(
      files.map((file, index) => hasSamePixels(file, must(images[index], 'the source of the file'))),
    );
    expect(results).toEqual([true, true, true]);
  });

  it('stops when it is aborted, and the next image is complete', async () => {
    const image = testImage('a gradient with grain', 1_000, 1_200, 3, 9);
    await expect(encodePng(image, AbortSignal.abort())).rejects.toThrow('aborted');
    expect(await hasSamePixels(await encodePng(image), image)).toBe(true);
  });
});

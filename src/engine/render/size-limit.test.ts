import { readFileSync } from 'node:fs';
import path from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { RequestedOutput } from '../caption/format-field.ts';
import { probeImage } from '../media/image.ts';
import { composeImageRecipe, DEFAULT_IMAGE_LIMITS } from './recipe.ts';
import { type Rendered, renderOnImage } from './render.ts';
import { createRenderTools } from './renderer-tools.ts';
import { encodeLargeWithin, encodeWithin, sampleRows } from './size-limit.ts';

const tools = createRenderTools();
const OVERLAYS = [{ text: 'Hello', position: 50 }];
const PHOTO = readFileSync(path.resolve(import.meta.dirname, '../../../examples/photo.jpg'));

async function render(asset: Buffer, output: RequestedOutput): Promise<Rendered> {
  const recipe = composeImageRecipe(await probeImage(asset), OVERLAYS, DEFAULT_IMAGE_LIMITS, { output });
  return await renderOnImage(JSON.parse(JSON.stringify(recipe)), asset, tools);
}

describe('max_bytes of an image', () => {
  it.each(['jpeg', 'webp'] as const)(
    'is met by the best quality of a %s: the next one would not fit',
    async (format) => {
      const png = await sharp(PHOTO).resize(600).png().toBuffer();
      const { bytes, quality = 0 } = await render(png, { format, maxBytes: 40_000 });
      expect(bytes.length).toBeLessThanOrEqual(40_000);
      expect((await render(png, { format, quality })).bytes.length).toBe(bytes.length);
      expect((await render(png, { format, quality: quality + 1 })).bytes.length).toBeGreaterThan(40_000);
    },
  );

  it('leaves the pixels of a JPEG alone if they fit, and encodes them again otherwise', async () => {
    const jpeg = await sharp(PHOTO).resize(600).jpeg({ quality: 85 }).toBuffer();
    const kept = await render(jpeg, { format: 'jpeg', maxBytes: jpeg.length * 2 });
    expect([kept.sourcePixels, kept.quality]).toEqual(['kept', undefined]);
    const smaller = await render(jpeg, { format: 'jpeg', maxBytes: Math.round(jpeg.length * 0.7) });
    expect(smaller.sourcePixels).toBe('reencoded');
    expect(smaller.bytes.length).toBeLessThanOrEqual(jpeg.length * 0.7);
    expect(smaller.quality).toBeGreaterThan(1);
  });

  it('refuses a JPEG that cannot fit before it is encoded', async () => {
    const probe = { kind: 'image', width: 7_000, height: 7_000, isSrgb: false } as const;
    const output = { format: 'jpeg', maxBytes: 200_000 } as const;
    expect(() => composeImageRecipe(probe, OVERLAYS, DEFAULT_IMAGE_LIMITS, { output })).toThrow(
      'at least 287110 bytes',
    );
    expect(() =>
      composeImageRecipe(probe, OVERLAYS, DEFAULT_IMAGE_LIMITS, { output: { ...output, maxBytes: 300_000 } }),
    ).not.toThrow();
  });

  it('finds every limit among growing files, and says how small the file gets', async () => {
    const file = async (quality: number): Promise<Buffer> => Buffer.alloc(1_000 + quality * 10);
    for (let best = 1; best <= 100; best += 1) {
      expect((await encodeWithin(1_009 + best * 10, file)).quality).toBe(best);
    }
    await expect(encodeWithin(1_009, file)).rejects.toThrow('takes at least 1010 bytes');
  });
});

describe('max_bytes of a large image', () => {
  const grows = (quality: number): number => 1_000 + Math.round(40 * quality ** 1.7);

  /** Encodes an image whose file has more bytes than its sample says, by a factor that changes with the quality. */
  async function search(maxBytes: number, factorOf: (quality: number) => number) {
    const encoded: number[] = [];
    const encode = async (quality: number): Promise<Buffer> => {
      encoded.push(quality);
      return Buffer.alloc(Math.round(grows(quality) * factorOf(quality)));
    };
    const found = await encodeLargeWithin(maxBytes, encode, {
      encode: async (quality) => Buffer.alloc(grows(quality)),
      factor: 8,
    });
    return { ...found, encodes: encoded.length };
  }

  it.each([
    ['like its sample', () => 8],
    ['twice as well as its sample', () => 4],
    ['half as well as its sample', () => 16],
    ['better the lower the quality is', (quality: number) => 6 + quality / 25],
    ['worse the lower the quality is', (quality: number) => 10 - quality / 25],
  ])(
    'takes at most three encodes and is at most 5 below the best quality if it compresses %s',
    async (_how, factorOf) => {
      for (let best = 2; best <= 100; best += 1) {
        const { bytes, quality, encodes } = await search(Math.round(grows(best) * factorOf(best)), factorOf);
        expect(bytes.length).toBeLessThanOrEqual(Math.round(grows(best) * factorOf(best)));
        expect(quality).toBeLessThanOrEqual(best);
        expect(quality).toBeGreaterThanOrEqual(Math.max(1, best - 5));
        expect(encodes).toBeLessThanOrEqual(3);
      }
    },
  );

  it('says how small the file gets if no quality fits', async () => {
    await expect(search(100, () => 8)).rejects.toMatchObject({ code: 'cannot_fit' });
  });

  it('samples every eighth strip of 64 rows', () => {
    const data = Uint8Array.from({ length: 1_100 * 3 }, (_, index) => Math.floor(index / 3) % 251);
    const { height, data: sampled } = sampleRows({ width: 1, height: 1_100, channels: 3, data });
    expect(height).toBe(64 + 64 + 64);
    expect([sampled[0], sampled[64 * 3], sampled[128 * 3]]).toEqual([0, 512 % 251, 1_024 % 251]);
  });

  it.each(['jpeg', 'webp'] as const)('finds about the best quality of a %s', async (format) => {
    const png = await sharp(PHOTO).resize(3_400, 2_500, { fit: 'fill' }).png().toBuffer();
    const { length: maxBytes } = (await render(png, { format, quality: 60 })).bytes;
    const { bytes, quality } = await render(png, { format, maxBytes });
    expect(bytes.length).toBeLessThanOrEqual(maxBytes);
    expect(quality).toBeGreaterThanOrEqual(55);
    expect(quality).toBeLessThanOrEqual(60);
  });
});

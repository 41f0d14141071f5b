import { readFileSync } from 'node:fs';
import path from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { RequestedOutput } from '../caption/format-field.ts';
import { probeImage } from '../media/image.ts';
import { composeImageRecipe, DEFAULT_IMAGE_LIMITS } from './recipe.ts';
import { type Rendered, renderOnImage } from './render.ts';
import { createRenderTools } from './renderer-tools.ts';
import { encodeWithin } from './size-limit.ts';

const tools = createRenderTools();
const OVERLAYS = [{ text: 'Hello', position: 50 }];
const PHOTO = readFileSync(path.resolve(import.meta.dirname, '../../examples/photo.jpg'));

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

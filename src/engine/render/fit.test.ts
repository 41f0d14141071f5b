import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { decode, pixelAt, type Pixels } from '../../../test/pictures.ts';
import type { Fit } from '../caption/fit.ts';
import type { RequestedOutput } from '../caption/format-field.ts';
import { probeImage } from '../media/image.ts';
import { BLUR_BRIGHTNESS } from '../media/surround.ts';
import { composeImageRecipe, DEFAULT_IMAGE_LIMITS } from './recipe.ts';
import { type Rendered, renderOnImage } from './render.ts';
import { createRenderTools } from './renderer-tools.ts';
import { mediaWarnings } from './warnings.ts';

const tools = createRenderTools();
/** At the bottom, where it covers none of the pixels below. */
const OVERLAYS = [{ text: 'Hi', position: 100 }];

async function render(asset: Buffer, fit: Partial<Fit>, output: RequestedOutput = {}): Promise<Rendered> {
  const whole = { mode: 'pad', color: '#000000', width: 300, height: 500, ...fit } as const;
  const options = { output: { ...output, fit: whole } };
  const recipe = composeImageRecipe(await probeImage(asset), OVERLAYS, DEFAULT_IMAGE_LIMITS, options);
  const rendered = await renderOnImage(JSON.parse(JSON.stringify(recipe)), asset, tools);
  return { ...rendered, warnings: [...rendered.warnings, ...mediaWarnings(recipe)] };
}

/** Red on the left third, green in the middle, blue on the right. */
async function thirds(channels: 3 | 4 = 3): Promise<Buffer> {
  const third = (background: string) => ({ create: { width: 200, height: 200, channels, background } }) as const;
  return await sharp({ create: { width: 600, height: 200, channels, background: '#00ff00' } })
    .composite([
      { input: third('#ff0000'), left: 0, top: 0 },
      { input: third('#0000ff'), left: 400, top: 0 },
    ])
    .png()
    .toBuffer();
}

function isNear(actual: readonly number[], expected: readonly number[], tolerance: number): boolean {
  return expected.every((value, index) => Math.abs((actual[index] ?? -1) - value) <= tolerance);
}

describe('fit of an image', () => {
  it('pad shows the whole image on the color', async () => {
    const { bytes, width, height } = await render(await thirds(), { color: '#ffcc00' });
    const pixels = await decode(bytes);
    expect([width, height, pixels.width, pixels.height]).toEqual([300, 500, 300, 500]);
    expect(pixelAt(pixels, 150, 190)).toEqual([255, 204, 0]);
    expect(pixelAt(pixels, 150, 350)).toEqual([255, 204, 0]);
    expect(pixelAt(pixels, 20, 250)).toEqual([255, 0, 0]);
    expect(pixelAt(pixels, 150, 250)).toEqual([0, 255, 0]);
    expect(pixelAt(pixels, 280, 250)).toEqual([0, 0, 255]);
  });

  it('crop fills the frame with the middle', async () => {
    const pixels = await decode((await render(await thirds(), { mode: 'crop', width: 100, height: 150 })).bytes);
    expect([pixels.width, pixels.height]).toEqual([100, 150]);
    for (const x of [2, 50, 97]) expect(pixelAt(pixels, x, 20).slice(0, 3)).toEqual([0, 255, 0]);
  });

  it('blur surrounds the whole image with a darker copy in the same colors, up to the edges', async () => {
    const flat = await sharp({ create: { width: 600, height: 200, channels: 3, background: '#c86432' } })
      .png()
      .toBuffer();
    const pixels = await decode((await render(flat, { mode: 'blur' })).bytes);
    const dark = [200, 100, 50].map((value) => value * BLUR_BRIGHTNESS);
    for (const [x, y] of [
      [0, 0],
      [299, 0],
      [150, 199],
      [0, 301],
      [299, 400],
    ] as const) {
      expect(isNear(pixelAt(pixels, x, y), dark, 1)).toBe(true);
    }
    expect(pixelAt(pixels, 150, 201)).toEqual([200, 100, 50]);
  });

  it('blur has no visible steps: neighboring pixels of the copy hardly differ, however hard the edges of the image', async () => {
    const pixels = await decode((await render(await thirds(), { mode: 'blur', width: 800, height: 900 })).bytes);
    expect(largestStep(pixels, 0, 300)).toBeLessThanOrEqual(4);
    expect(largestStep(pixels, 590, 800)).toBeLessThanOrEqual(4);
  });

  it('an image without transparency in its frame is opaque, and shows what is behind it', async () => {
    const glass = await sharp({ create: { width: 600, height: 200, channels: 4, background: '#ff000080' } })
      .png()
      .toBuffer();
    const pixels = await decode((await render(glass, { color: '#0000ff' })).bytes);
    expect(isNear(pixelAt(pixels, 150, 250), [128, 0, 127], 1)).toBe(true);
  });

  it('turns a photo upright first', async () => {
    const turned = await sharp(await thirds())
      .jpeg({ quality: 100, chromaSubsampling: '4:4:4' })
      .withMetadata({ orientation: 6 })
      .toBuffer();
    const pixels = await decode((await render(turned, { width: 500, height: 300 })).bytes);
    expect(isNear(pixelAt(pixels, 250, 20), [255, 0, 0], 6)).toBe(true);
    expect(pixelAt(pixels, 100, 150)).toEqual([0, 0, 0]);
  });

  it('keeps the pixels of a JPEG that has the size already, and encodes others again', async () => {
    const photo = await sharp(await thirds())
      .jpeg({ quality: 80 })
      .toBuffer();
    const same = await render(photo, { width: 600, height: 200 }, { format: 'jpeg' });
    expect(same.sourcePixels).toBe('kept');
    expect((await render(photo, {}, { format: 'jpeg' })).sourcePixels).toBe('reencoded');
  });

  it('warns when the image is enlarged more than twice', async () => {
    expect((await render(await thirds(), { width: 1200, height: 400 })).warnings).toEqual([]);
    expect((await render(await thirds(), { width: 1260, height: 500 })).warnings).toEqual(['upscaled']);
    await expect(render(await thirds(), { width: 2410, height: 2000 })).rejects.toThrow('the limit is 4');
  });

  it('a plan with fewer pixels than the frame refuses it', async () => {
    const fit = { mode: 'pad', color: '#000000', width: 1000, height: 1000 } as const;
    const probe = await probeImage(await thirds());
    const compose = (): unknown => composeImageRecipe(probe, OVERLAYS, { imagePixels: 500_000 }, { output: { fit } });
    expect(compose).toThrow('the limit is 500000');
  });
});

function largestStep(pixels: Pixels, from: number, to: number): number {
  let largest = 0;
  for (let y = from; y < to - 1; y += 1) {
    for (let x = 0; x < pixels.width - 1; x += 1) {
      const here = pixelAt(pixels, x, y);
      for (const other of [pixelAt(pixels, x + 1, y), pixelAt(pixels, x, y + 1)]) {
        for (const [channel, value] of here.entries()) {
          largest = Math.max(largest, Math.abs(value - (other[channel] ?? 0)));
        }
      }
    }
  }
  return largest;
}

import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RequestedOutput } from '../caption/format-field.ts';
import { probeImage } from '../media/image.ts';
import { must } from '../primitives/must.ts';
import { composeImageRecipe, composeTransparentRecipe, DEFAULT_IMAGE_LIMITS } from './recipe.ts';
import { type Rendered, renderOnImage, renderTransparent } from './render.ts';
import { createRenderTools } from './renderer-tools.ts';

const tools = createRenderTools();
const OVERLAYS = [{ text: 'Hello', position: 50 }];
const SIZE = { width: 320, height: 240 };

async function render(asset: Buffer, output: RequestedOutput): Promise<Rendered> {
  const recipe = composeImageRecipe(await probeImage(asset), OVERLAYS, DEFAULT_IMAGE_LIMITS, { output });
  return await renderOnImage(recipe, asset, tools);
}

async function photo(channels: 3 | 4, background: string): Promise<Buffer> {
  return await sharp({ create: { ...SIZE, channels, background } })
    .png()
    .toBuffer();
}

async function firstPixel(bytes: Buffer): Promise<number[]> {
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
  return [...data.subarray(0, info.channels)];
}

describe('an image in another format', () => {
  it('a JPEG has full color resolution at the default quality, and says that its pixels were reencoded', async () => {
    const { bytes, sourcePixels } = await render(await photo(3, '#4682b4'), { format: 'jpeg' });
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'jpeg', ...SIZE, chromaSubsampling: '4:4:4' });
    expect(sourcePixels).toBe('reencoded');
  });

  it('a JPEG below quality 90 is smaller and has half the color resolution', async () => {
    const asset = await photo(3, '#4682b4');
    const [small, large] = [
      await render(asset, { format: 'jpeg', quality: 89 }),
      await render(asset, { format: 'jpeg', quality: 90 }),
    ];
    expect(await sharp(small.bytes).metadata()).toMatchObject({ chromaSubsampling: '4:2:0' });
    expect(small.bytes.length).toBeLessThan(large.bytes.length);
  });

  it('a WebP has no x-source-pixels', async () => {
    const { bytes, sourcePixels } = await render(await photo(3, '#4682b4'), { format: 'webp', quality: 80 });
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'webp', ...SIZE });
    expect(sourcePixels).toBeUndefined();
  });

  it('transparent areas become white in a JPEG and stay transparent in a WebP', async () => {
    const asset = await photo(4, '#00000000');
    const jpeg = await render(asset, { format: 'jpeg' });
    const webp = await render(asset, { format: 'webp' });
    expect(await firstPixel(jpeg.bytes)).toEqual([255, 255, 255]);
    expect((await firstPixel(webp.bytes)).at(-1)).toBe(0);
  });

  it.each(['jpeg', 'webp'] as const)('an image has no metadata as %s', async (format) => {
    const asset = await sharp(await photo(3, '#4682b4'))
      .withExif({ IFD0: { Artist: 'Someone' } })
      .withIccProfile('p3')
      .jpeg()
      .toBuffer();
    const { exif, icc, xmp } = await sharp((await render(asset, { format })).bytes).metadata();
    expect({ exif, icc, xmp }).toEqual({ exif: undefined, icc: undefined, xmp: undefined });
  });

  it('an image is refused when a side is too long for the format', async () => {
    const probe = { kind: 'image', width: 16_384, height: 16, isSrgb: false } as const;
    const compose = (output: RequestedOutput): unknown =>
      composeImageRecipe(probe, OVERLAYS, DEFAULT_IMAGE_LIMITS, { output });
    expect(() => compose({ format: 'webp' })).toThrow('the limit for webp is 16383 pixels per side');
    expect(() => compose({ format: 'jpeg' })).not.toThrow();
  });
});

describe('a JPEG that stays a JPEG', () => {
  let jpeg: Buffer;
  beforeAll(async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;
    jpeg = await sharp({ create: { ...SIZE, channels: 3, background: '#4682b4', noise } })
      .jpeg({ quality: 80 })
      .toBuffer();
  });

  /** Returns the rows of each file that differ from the asset, as the first and the last one. */
  async function changedRows(bytes: Buffer): Promise<(number | undefined)[]> {
    const [before, after] = [await sharp(jpeg).raw().toBuffer(), await sharp(bytes).raw().toBuffer()];
    const stride = SIZE.width * 3;
    const rows = Array.from({ length: SIZE.height }, (_, row) => row).filter(
      (row) => before.compare(after, row * stride, (row + 1) * stride, row * stride, (row + 1) * stride) !== 0,
    );
    return [rows[0], rows.at(-1)];
  }

  it('a JPEG keeps every pixel outside the rows of MCUs that the bar touches', async () => {
    const { bytes, sourcePixels, bars } = await render(jpeg, { format: 'jpeg' });
    const [{ top, height } = { top: 0, height: 0 }] = bars;
    const [first = 0, last = 0] = await changedRows(bytes);
    expect(sourcePixels).toBe('kept');
    expect(first).toBeGreaterThanOrEqual(Math.floor(top / 16) * 16 - 1);
    expect(last).toBeLessThanOrEqual(Math.ceil((top + height) / 16) * 16);
    expect(bytes.length).toBeLessThan(jpeg.length * 1.05);
  });

  it('a JPEG is encoded again when a quality is given', async () => {
    const { bytes, sourcePixels } = await render(jpeg, { format: 'jpeg', quality: 80 });
    expect(sourcePixels).toBe('reencoded');
    expect(await changedRows(bytes)).toEqual([0, SIZE.height - 1]);
  });

  it('a JPEG that stays a JPEG has the watermark of a test key', async () => {
    const recipe = composeImageRecipe(await probeImage(jpeg), OVERLAYS, DEFAULT_IMAGE_LIMITS, {
      output: { format: 'jpeg' },
    });
    const { bytes, sourcePixels } = await renderOnImage({ ...recipe, watermark: true }, jpeg, tools);
    expect(sourcePixels).toBe('kept');
    expect((await changedRows(bytes))[1]).toBeGreaterThan(SIZE.height - 20);
  });

  it('a JPEG is turned upright without being encoded again when EXIF says so', async () => {
    for (const orientation of [3, 6]) {
      const turned = await sharp(jpeg).keepMetadata().withMetadata({ orientation }).jpeg({ quality: 80 }).toBuffer();
      const { bytes, bars, sourcePixels, ...size } = await render(turned, { format: 'jpeg' });
      expect(sourcePixels).toBe('kept');
      const { width, height, orientation: tag } = await sharp(bytes).metadata();
      expect({ width, height, tag }).toEqual({ width: size.width, height: size.height, tag: undefined });
      const [before, after] = [await sharp(turned).autoOrient().raw().toBuffer(), await sharp(bytes).raw().toBuffer()];
      const untouched = (must(bars[0], 'the bar').top - 17) * width * 3;
      const difference = before
        .subarray(0, untouched)
        .reduce((most, value, at) => Math.max(most, Math.abs(value - (after[at] ?? 0))), 0);
      expect(difference).toBeLessThanOrEqual(4);
      expect(bytes.length).toBeLessThan(turned.length * 1.05);
    }
  });

  it('a JPEG is encoded again, upright, when a side that EXIF says to mirror ends within an MCU', async () => {
    const cut = await sharp(jpeg).resize(320, 232, { fit: 'fill' }).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const { bytes, sourcePixels } = await render(cut, { format: 'jpeg' });
    expect(sourcePixels).toBe('reencoded');
    const { width, height, orientation } = await sharp(bytes).metadata();
    expect({ width, height, orientation }).toEqual({ width: 232, height: 320, orientation: undefined });
  });

  it('a JPEG asks workers of older versions, which ignore the turn, to encode it again', async () => {
    const turned = await sharp(jpeg).withMetadata({ orientation: 3 }).toBuffer();
    const { output } = composeImageRecipe(await probeImage(turned), OVERLAYS, DEFAULT_IMAGE_LIMITS, {
      output: { format: 'jpeg' },
    });
    expect(output).toEqual({ format: 'jpeg', quality: 90, keepsSource: false, turnsSource: 3 });
  });

  it('a JPEG loses an sRGB profile, and is encoded again with another one', async () => {
    const withProfile = async (name: string): Promise<Rendered> =>
      await render(await sharp(jpeg).withIccProfile(name, { attach: true }).toBuffer(), { format: 'jpeg' });
    const [srgb, p3] = [await withProfile('srgb'), await withProfile('p3')];
    expect([srgb.sourcePixels, p3.sourcePixels]).toEqual(['kept', 'reencoded']);
    expect((await sharp(srgb.bytes).metadata()).icc).toBeUndefined();
  });

  it('a truncated JPEG is encoded as far as it can be decoded', async () => {
    const { sourcePixels } = await render(jpeg.subarray(0, jpeg.length / 2), { format: 'jpeg' });
    expect(sourcePixels).toBe('reencoded');
  });

  it('a JPEG becomes a PNG when no format is given', async () => {
    const { bytes, sourcePixels } = await render(jpeg, {});
    expect([(await sharp(bytes).metadata()).format, sourcePixels]).toEqual(['png', undefined]);
  });
});

describe('a transparent overlay as WebP', () => {
  it('a transparent overlay as WebP has exactly the pixels of the PNG', async () => {
    const png = await renderTransparent(composeTransparentRecipe(SIZE, OVERLAYS), tools);
    const webp = await renderTransparent(composeTransparentRecipe(SIZE, OVERLAYS, { format: 'webp' }), tools);
    expect(await sharp(webp.bytes).metadata()).toMatchObject({ format: 'webp', ...SIZE, hasAlpha: true });
    const [expected, actual] = [
      await sharp(png.bytes).ensureAlpha().raw().toBuffer(),
      await sharp(webp.bytes).raw().toBuffer(),
    ];
    expect(actual.equals(expected)).toBe(true);
  });
});

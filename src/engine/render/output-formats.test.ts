import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RequestedOutput } from '../caption/format-field.ts';
import { grayProfile, withProfile } from '../../../test/icc-samples.ts';
import { probeImage } from '../media/image.ts';
import { must } from '../../shared/must.ts';
import { readHeaders } from '../raster/jpeg/headers.ts';
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

  it.each([
    ['jpeg', undefined],
    ['jpeg', 'srgb'],
    ['webp', undefined],
  ] as const)(
    'has no metadata as %s with the color space %s, except for a profile that is kept',
    async (format, colorSpace) => {
      const asset = await sharp(await photo(3, '#4682b4'))
        .withExif({ IFD0: { Artist: 'Someone' } })
        .withIccProfile('p3')
        .jpeg()
        .toBuffer();
      const { bytes } = await render(asset, { format, ...(colorSpace && { colorSpace }) });
      const { exif, icc, xmp } = await sharp(bytes).metadata();
      const isKept = format === 'jpeg' && colorSpace === undefined;
      expect({ exif, hasProfile: icc !== undefined, xmp }).toEqual({
        exif: undefined,
        hasProfile: isKept,
        xmp: undefined,
      });
    },
  );

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

  it('keeps its color profile, and loses it with the color space srgb', async () => {
    const rendered = async (name: string, colorSpace: 'source' | 'srgb'): Promise<unknown> => {
      const asset = await sharp(jpeg).withIccProfile(name, { attach: true }).toBuffer();
      const { bytes, sourcePixels } = await render(asset, { format: 'jpeg', colorSpace });
      const [before, after] = [await sharp(asset).metadata(), await sharp(bytes).metadata()];
      return [sourcePixels, after.icc?.equals(must(before.icc, 'profile'))];
    };
    expect(await rendered('srgb', 'source')).toEqual(['kept', true]);
    expect(await rendered('p3', 'source')).toEqual(['kept', true]);
    expect(await rendered('srgb', 'srgb')).toEqual(['kept', undefined]);
    expect(await rendered('p3', 'srgb')).toEqual(['reencoded', undefined]);
  });

  it('shows emoji in the same colors with the profile of a phone as without', async () => {
    const asset = await sharp({ create: { ...SIZE, channels: 3, background: '#4682b4' } })
      .withIccProfile('p3')
      .jpeg({ quality: 95, chromaSubsampling: '4:4:4' })
      .toBuffer();
    const recipeFor = async (colorSpace: 'source' | 'srgb'): Promise<Rendered> => {
      const overlays = [{ text: '🍎🍏🎃💙', position: 50 }];
      const output = { format: 'jpeg', colorSpace } as const;
      const recipe = composeImageRecipe(await probeImage(asset), overlays, DEFAULT_IMAGE_LIMITS, { output });
      return await renderOnImage(recipe, asset, tools);
    };
    const [source, srgb] = [await recipeFor('source'), await recipeFor('srgb')];
    expect([source.sourcePixels, srgb.sourcePixels]).toEqual(['kept', 'reencoded']);
    const shown = async ({ bytes }: Rendered): Promise<Buffer> =>
      await sharp(bytes).toColorspace('srgb').raw().toBuffer();
    const [actual, expected] = [await shown(source), await shown(srgb)];
    const difference = expected.reduce((sum, value, at) => sum + Math.abs(value - (actual[at] ?? 0)), 0);
    expect(difference / expected.length).toBeLessThan(1);
    // Without the conversion, red would be more than ten levels off.
    const reddest = expected.reduce(
      (best, value, at) => (at % 3 === 0 && value > (expected[best] ?? 0) ? at : best),
      0,
    );
    for (const channel of [0, 1, 2]) {
      expect(Math.abs((actual[reddest + channel] ?? 0) - (expected[reddest + channel] ?? 0))).toBeLessThan(10);
    }
  });

  it.each(['no profile', 'a gray profile'])(
    'keeps the luma of a gray image with %s below color emoji',
    async (kind) => {
      const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;
      const plain = await sharp({ create: { ...SIZE, channels: 3, background: '#888', noise } })
        .toColorspace('b-w')
        .jpeg({ quality: 85 })
        .toBuffer();
      const gray = kind === 'no profile' ? plain : withProfile(plain, grayProfile(1.8));
      const overlays = [{ text: 'Hi 🍎', position: 50 }];
      const recipe = composeImageRecipe(await probeImage(gray), overlays, DEFAULT_IMAGE_LIMITS, {
        output: { format: 'jpeg' },
      });
      const { bytes, sourcePixels, bars } = await renderOnImage(recipe, gray, tools);
      const { channels, icc } = await sharp(bytes).metadata();
      expect([sourcePixels, channels, icc !== undefined]).toEqual(['kept', 3, kind !== 'no profile']);
      const untouched = (must(bars[0], 'the bar').top - 17) * SIZE.width * 3;
      const [before, after] = [
        await sharp(plain).toColorspace('srgb').raw().toBuffer(),
        await sharp(bytes, { ignoreIcc: true }).raw().toBuffer(),
      ];
      expect(after.subarray(0, untouched).equals(before.subarray(0, untouched))).toBe(true);
    },
  );

  it('is encoded with its own tables and color resolution when it must be encoded again', async () => {
    const cut = sharp(jpeg).resize(320, 232, { fit: 'fill' }).withMetadata({ orientation: 6 }).jpeg({ quality: 70 });
    const asset = await cut.toBuffer();
    const { bytes, sourcePixels } = await render(asset, { format: 'jpeg' });
    const [before, after] = [must(readHeaders(asset), 'headers'), must(readHeaders(bytes), 'headers')];
    expect(sourcePixels).toBe('reencoded');
    // Turned by a quarter, so rows and columns are swapped. The first steps of the zigzag order are at 0:0, 0:1 and 1:0.
    const steps = ({ components: [luma] }: typeof before): number[] => [...must(luma, 'luma').steps];
    const [first = 0, second = 0, third = 0] = steps(before);
    expect(steps(after).slice(0, 3)).toEqual([first, third, second]);
    const byStep = (a: number, b: number): number => a - b;
    expect(steps(after).toSorted(byStep)).toEqual(steps(before).toSorted(byStep));
    expect((await sharp(bytes).metadata()).chromaSubsampling).toBe('4:2:0');
    expect(bytes.length).toBeLessThan(asset.length * 1.1);
    const [expected, actual] = [await sharp(asset).autoOrient().raw().toBuffer(), await sharp(bytes).raw().toBuffer()];
    const top = 232 * 3 * 60;
    const difference = expected
      .subarray(0, top)
      .reduce((sum, value, at) => sum + Math.abs(value - (actual[at] ?? 0)), 0);
    expect(difference / top).toBeLessThan(6);
  });

  it('is encoded again at quality 90 when it is below about quality 45', async () => {
    const qualityOf = async (quality: number): Promise<unknown> => {
      const { bytes, sourcePixels } = await render(await sharp(jpeg).jpeg({ quality }).toBuffer(), { format: 'jpeg' });
      return [sourcePixels, (await sharp(bytes).metadata()).chromaSubsampling];
    };
    expect(await qualityOf(48)).toEqual(['kept', '4:2:0']);
    expect(await qualityOf(40)).toEqual(['reencoded', '4:4:4']);
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

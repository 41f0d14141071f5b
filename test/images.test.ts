// Image rendering from upload to PNG, with real and generated images.

import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { renderImage, renderOverlay, StorybarError } from '../src/engine/index.ts';
import { decode, type Pixels, pixelAt } from './pictures.ts';
import { filesOf, hasSharedMedia, sharedMedia } from './shared-media.ts';

const CAPTION = 'Hello 👋 مرحبا';

async function captioned(asset: string | Buffer): Promise<Pixels> {
  return await decode((await renderImage(asset, CAPTION)).bytes);
}

/** The rows above and below the bar in the middle. */
function outsideBar({ data, width, height, channels }: Pixels): Buffer {
  const bar = Math.ceil(0.12 * Math.min(width, height));
  const stride = width * channels;
  const top = Math.floor((height - bar) / 2) * stride;
  return Buffer.concat([data.subarray(0, top), data.subarray(top + bar * stride)]);
}

function largestDifference(a: Buffer, b: Buffer): number {
  expect(a.length).toBe(b.length);
  return a.reduce((largest, value, index) => Math.max(largest, Math.abs(value - (b[index] ?? 0))), 0);
}

async function gradient(channels: 3 | 4): Promise<Buffer> {
  const size = 200;
  const data = Buffer.alloc(size * size * channels);
  for (let index = 0; index < size * size; index += 1) {
    data.set(
      [index % 256, Math.floor(index / size), (index * 7) % 256, (index * 3) % 256].slice(0, channels),
      index * channels,
    );
  }
  return await sharp(data, { raw: { width: size, height: size, channels } })
    .png()
    .toBuffer();
}

describe('an 8-bit sRGB image', () => {
  it.each([3, 4] as const)(
    'an 8-bit sRGB image with %i channels keeps every pixel outside the bar unchanged',
    async (channels) => {
      const source = await gradient(channels);
      const result = await captioned(source);
      expect(result.channels).toBe(channels);
      expect(outsideBar(result).equals(outsideBar(await decode(source)))).toBe(true);
    },
  );

  it('an 8-bit sRGB image with an embedded sRGB profile keeps every pixel outside the bar unchanged', async () => {
    const source = await sharp(await gradient(3))
      .withIccProfile('srgb')
      .png()
      .toBuffer();
    expect((await sharp(source).metadata()).icc).toBeDefined();
    const plain = await sharp(source, { ignoreIcc: true }).raw().toBuffer({ resolveWithObject: true });
    const result = await captioned(source);
    expect(outsideBar(result).equals(outsideBar({ ...result, data: plain.data }))).toBe(true);
  });
});

describe('an overlay PNG composited over the image', () => {
  it.each([
    ['RGB', 3],
    ['RGBA', 4],
  ] as const)(
    'an overlay PNG over the image equals the rendered image within one level per channel: %s',
    async (_name, channels) => {
      const source = await gradient(channels);
      const captions = [
        { text: CAPTION, position: 30 },
        { text: 'overlapping 🎉', position: 36 },
        { text: 'below', position: 80 },
      ];
      const baked = await decode((await renderImage(source, captions)).bytes);
      const overlay = await decode((await renderOverlay({ width: 200, height: 200 }, captions)).bytes);
      expect(overlay.channels).toBe(4);
      expect(largestDifference(baked.data, over(await decode(source), overlay.data))).toBeLessThanOrEqual(1);
    },
  );

  it('an overlay PNG over the image equals the rendered image within one level when sharp composites it', async () => {
    const source = await gradient(3);
    const baked = await decode((await renderImage(source, CAPTION)).bytes);
    const overlay = (await renderOverlay({ width: 200, height: 200 }, CAPTION)).bytes;
    const composited = await sharp(source)
      .composite([{ input: overlay }])
      .png()
      .toBuffer();
    const opaque = await sharp(composited).removeAlpha().raw().toBuffer();
    expect(largestDifference(baked.data, opaque)).toBeLessThanOrEqual(1);
  });
});

/** Computes Porter-Duff "over" with straight alpha, in floating point and rounded once. */
function over({ data, channels }: Pixels, overlay: Buffer): Buffer {
  return Buffer.from(
    data.map((value, index) => {
      const pixel = Math.floor(index / channels);
      const above = (overlay[pixel * 4 + 3] ?? 0) / 255;
      const below = (channels === 4 ? (data[pixel * 4 + 3] ?? 0) / 255 : 1) * (1 - above);
      if (index % channels === 3) return Math.round((above + below) * 255);
      const color = overlay[pixel * 4 + (index % channels)] ?? 0;
      return above + below === 0 ? value : Math.round((color * above + value * below) / (above + below));
    }),
  );
}

describe('color and depth', () => {
  it('converts Display P3 to sRGB', async () => {
    const source = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#ff0000' } })
      .withIccProfile('p3')
      .png()
      .toBuffer();
    // sRGB red stored in P3 coordinates must become sRGB red again.
    const [red = 0, green = 255, blue = 255] = pixelAt(await captioned(source), 1, 1);
    expect(red).toBeGreaterThan(250);
    expect(green).toBeLessThan(12);
    expect(blue).toBeLessThan(12);
  });

  it.each([
    ['CMYK', () => sharp(whitePage()).toColorspace('cmyk').jpeg().toBuffer(), 3],
    ['gray', () => sharp(whitePage()).greyscale().jpeg().toBuffer(), 3],
    ['16-bit', () => sharp(whitePage()).toColorspace('rgb16').png().toBuffer(), 3],
    ['palette', () => sharp(whitePage()).png({ palette: true }).toBuffer(), 3],
  ] as const)('keeps the white of a %s image white', async (_name, make, channels) => {
    const result = await captioned(await make());
    expect(result.channels).toBe(channels);
    for (const value of pixelAt(result, 2, 2)) expect(value).toBeGreaterThanOrEqual(250);
  });

  function whitePage() {
    return { create: { width: 64, height: 64, channels: 3 as const, background: '#fff' } };
  }
});

it('the output has no EXIF and XMP metadata', async () => {
  const source = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#888' } })
    .withExif({ IFD0: { Make: 'SecretCam' }, IFD3: { GPSLatitude: '51/1 30/1 0/1' } })
    .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/">SecretPlace</x:xmpmeta>')
    .jpeg()
    .toBuffer();
  expect(source.toString('latin1')).toContain('SecretCam');
  const { bytes } = await renderImage(source, 'a');
  expect(bytes.toString('latin1')).not.toMatch(/Secret|GPS|Exif/u);
  expect(await sharp(bytes).metadata()).not.toHaveProperty('exif');
});

it('an animated WebP is rendered as its first frame', async () => {
  const frames = ['#ff0000', '#00ff00'].map((background) => ({
    create: { width: 32, height: 32, channels: 3 as const, background },
  }));
  const source = await sharp(await Promise.all(frames.map((frame) => sharp(frame).png().toBuffer())), {
    join: { animated: true },
  })
    .webp({ lossless: true })
    .toBuffer();
  const result = await captioned(source);
  expect([result.width, result.height]).toEqual([32, 32]);
  expect(pixelAt(result, 1, 1)).toEqual([255, 0, 0]);
});

describe('a lossless WebP whose header says that it uses no alpha', () => {
  async function webpWithoutHint(alpha: number): Promise<Buffer> {
    const pixels = Buffer.alloc(64 * 64 * 4, Buffer.of(200, 40, 40, alpha));
    const source = await sharp(pixels, { raw: { width: 64, height: 64, channels: 4 } })
      .webp({ lossless: true, exact: true })
      .toBuffer();
    // The bit after the 14 bits each of width and height.
    const hint = source.indexOf('VP8L') + 12;
    source.writeUInt8(source.readUInt8(hint) & ~0x10, hint);
    return source;
  }

  it('a lossless WebP that claims to use no alpha keeps its alpha, as in browsers', async () => {
    expect(pixelAt(await captioned(await webpWithoutHint(128)), 1, 1)).toEqual([200, 40, 40, 128]);
  });

  it('an opaque lossless WebP becomes a PNG without alpha', async () => {
    expect(pixelAt(await captioned(await webpWithoutHint(255)), 1, 1)).toEqual([200, 40, 40]);
  });
});

describe('a damaged image', () => {
  it('a damaged image is rendered as far as it can be decoded, as in browsers', async () => {
    const whole = await sharp(await gradient(3))
      .jpeg()
      .toBuffer();
    const result = await captioned(whole.subarray(0, whole.length / 2));
    expect([result.width, result.height]).toEqual([200, 200]);
  });

  it('an image without pixel data is refused', async () => {
    const whole = await gradient(3);
    await expect(renderImage(whole.subarray(0, 60), 'a')).rejects.toMatchObject({ code: 'asset_undecodable' });
  });

  it('an image whose header fails its checksum is refused', async () => {
    const forged = Buffer.from(await gradient(3));
    forged.writeUInt32BE(40, 16);
    await expect(renderImage(forged, 'a')).rejects.toMatchObject({ code: 'asset_undecodable' });
  });
});

describe.skipIf(!hasSharedMedia)('real image files (skipped without ../shared/media)', () => {
  it.each(['Landscape', 'Portrait'])(
    'real photos are rendered upright from all eight EXIF orientations: %s',
    async (name) => {
      const upright = await thumbnail(sharedMedia(`jpeg_orientation/exiforientatio__${name}_1.jpg`));
      for (let orientation = 2; orientation <= 8; orientation += 1) {
        const other = await thumbnail(sharedMedia(`jpeg_orientation/exiforientatio__${name}_${orientation}.jpg`));
        expect([other.width, other.height]).toEqual([upright.width, upright.height]);
        expect(meanDifference(other.data, upright.data)).toBeLessThan(6);
      }
    },
  );

  async function thumbnail(file: string): Promise<Pixels> {
    const { bytes } = await renderImage(file, 'a');
    return await decode(await sharp(bytes).resize(60, 60, { fit: 'inside' }).png().toBuffer());
  }

  function meanDifference(a: Buffer, b: Buffer): number {
    return a.reduce((sum, value, index) => sum + Math.abs(value - (b[index] ?? 0)), 0) / a.length;
  }

  const REFUSED: Readonly<Record<string, string>> = {
    'jpeg_corrupt/sharp__corrupt-header.jpg': 'asset_undecodable',
    'jpeg_variants/libjpegturbo__monkey12.jpg': 'asset_undecodable',
    'png_apng/pillow__syntax_num_frames_zero.png': 'asset_undecodable',
    'png_corrupt/pillow__broken.png': 'asset_undecodable',
    'tiny/small__png-truncated.png': 'asset_undecodable',
    'tiny/small__webp.webp': 'asset_undecodable',
    'bombs/sharp__65536-uint32-limit.png': 'asset_too_many_pixels',
    'bombs/sharp__giant-image.jpg': 'asset_too_many_pixels',
  };
  const FOLDERS =
    'jpeg_corrupt jpeg_hdr jpeg_photos jpeg_variants png_apng png_corrupt png_variants webp bombs tiny png_suite image_wrongtype';
  const files = FOLDERS.split(' ')
    .flatMap(filesOf)
    .filter((file) => !/\.(?:mp4|webm)$/u.test(file));

  it(`real images are rendered, or refused where browsers refuse them: all ${files.length} files`, async () => {
    expect(files.length).toBeGreaterThan(200);
    for (const file of files) {
      const outcome = await renderImage(sharedMedia(file), CAPTION).then(
        ({ bytes }) => (bytes.length > 60 ? 'rendered' : 'empty'),
        (error: unknown) => (error instanceof StorybarError ? error.code : String(error)),
      );
      expect(`${file} ${outcome}`).toBe(`${file} ${expectedOutcome(file)}`);
    }
  });

  /** The x files of PngSuite are corrupt. Only those with a wrong IDAT checksum can still be rendered. */
  function expectedOutcome(file: string): string {
    if (file.startsWith('image_wrongtype/') && !file.endsWith('.gif')) return 'unsupported_asset';
    if (/pngsuite__x(?!cs)/u.test(file)) {
      const signature = readFileSync(sharedMedia(file)).subarray(0, 8).toString('hex');
      return signature === '89504e470d0a1a0a' ? 'asset_undecodable' : 'unsupported_asset';
    }
    return REFUSED[file] ?? 'rendered';
  }
});

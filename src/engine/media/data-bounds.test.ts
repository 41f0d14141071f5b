import { randomBytes } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { chunk } from '../../../test/png-file.ts';
import { AppError } from '../../shared/errors.ts';
import { lacksMostData } from './data-bounds.ts';
import { decodeImage, probeImage } from './image.ts';

/** An image of this side has 17 megapixels. */
const SIDE = 4_100;
const FLAT = { create: { width: SIDE, height: SIDE, channels: 3, background: '#a0b0c0' } } as const;

function png(data: Buffer, { colorType = 2, bits = 8, interlace = 0 } = {}, ...chunks: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(SIDE, 0);
  header.writeUInt32BE(SIDE, 4);
  header.set([bits, colorType, 0, 0, interlace], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', header), ...chunks, chunk('IDAT', data)]);
}

/** Some rows differ, so that the image has more than one color. */
const FEW_ROWS = deflateSync(
  Buffer.from(Array.from({ length: (SIDE * 3 + 1) * 4 }, (_, at) => (at % 997 === 0 ? 0 : 7))),
);

/** Puts another size into the header of a GIF and its first frame. */
function enlargedGif(gif: Buffer): Buffer {
  const copy = Buffer.from(gif);
  const frame = copy.indexOf(Buffer.from([0x2c, 0, 0, 0, 0]));
  for (const at of [6, 8, frame + 5, frame + 7]) copy.writeUInt16LE(SIDE, at);
  return copy;
}

/** Puts another size into the frame header of a JPEG. */
function enlargedJpeg(jpeg: Buffer): Buffer {
  const copy = Buffer.from(jpeg);
  const frame = copy.findIndex((byte, at) => byte === 0xff && [0xc0, 0xc2].includes(copy[at + 1] ?? 0));
  for (const at of [frame + 5, frame + 7]) copy.writeUInt16BE(SIDE, at);
  return copy;
}

/** Puts another size into a lossy WebP. */
function enlargedWebp(webp: Buffer): Buffer {
  const copy = Buffer.from(webp);
  const frame = copy.indexOf('VP8 ', 12, 'latin1');
  for (const at of [frame + 14, frame + 16]) copy.writeUInt16LE(SIDE, at);
  return copy;
}

const small = () => sharp({ create: { ...FLAT.create, width: 64, height: 64 } });

describe('lacksMostData', () => {
  it.each([
    ['a PNG with a few rows', () => png(FEW_ROWS)],
    ['a PNG with a few rows and other data', () => png(FEW_ROWS, {}, chunk('tEXt', Buffer.alloc(500_000, 'a')))],
    ['an interlaced PNG with a few rows', () => png(FEW_ROWS, { interlace: 1 })],
    ['a PNG of 16 bits with a few rows', () => png(FEW_ROWS, { colorType: 6, bits: 16 })],
    ['a PNG without data', () => png(Buffer.alloc(0))],
    ['a JPEG', async () => enlargedJpeg(await small().jpeg().toBuffer())],
    [
      'a JPEG with data behind its end',
      async () => Buffer.concat([enlargedJpeg(await small().jpeg().toBuffer()), FEW_ROWS, Buffer.alloc(500_000)]),
    ],
    ['a progressive JPEG', async () => enlargedJpeg(await small().jpeg({ progressive: true }).toBuffer())],
    ['a lossy WebP', async () => enlargedWebp(await small().webp().toBuffer())],
    ['a GIF', async () => enlargedGif(await small().gif().toBuffer())],
  ])('finds 17 megapixels without their data: %s', async (_what, make) => {
    const file = await make();
    expect(lacksMostData(file)).toBe(true);
    const refused: unknown = await probeImage(file).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(AppError);
    expect(refused).toMatchObject({
      code: 'asset_undecodable',
      message: expect.stringContaining('far too short') as string,
    });
  });

  it.each([
    ['PNG', () => sharp(FLAT).png({ compressionLevel: 9 })],
    ['JPEG', () => sharp(FLAT).jpeg({ quality: 1, optimizeCoding: true })],
    ['progressive JPEG', () => sharp(FLAT).jpeg({ quality: 1, progressive: true })],
    ['gray JPEG', () => sharp(FLAT).toColorspace('b-w').jpeg({ quality: 1 })],
    ['lossy WebP', () => sharp(FLAT).webp({ quality: 1, effort: 0 })],
    ['lossless WebP', () => sharp(FLAT).webp({ lossless: true, effort: 0 })],
    ['GIF', () => sharp(FLAT).gif({ effort: 1 })],
  ])('accepts a complete flat image of 17 megapixels: %s', async (_format, encode) => {
    expect(lacksMostData(await encode().toBuffer())).toBe(false);
  });

  it('accepts a large photo of which only two percent are left', async () => {
    // A photo has about 1.5 bytes per pixel as PNG and 0.15 as JPEG.
    const pixels = SIDE * SIDE;
    expect(lacksMostData(png(randomBytes((pixels * 1.5) / 50)))).toBe(false);
    const jpeg = enlargedJpeg(await small().jpeg().toBuffer());
    const scan = jpeg.indexOf(Buffer.from([0xff, 0xda]));
    const data = Buffer.alloc((pixels * 0.15) / 50, 0x5a);
    expect(lacksMostData(Buffer.concat([jpeg.subarray(0, scan + 14), data]))).toBe(false);
  });

  it('accepts a small image with hardly any data, because trying costs little', async () => {
    const file = await sharp({ create: { ...FLAT.create, width: 4_000, height: 3_000 } })
      .jpeg()
      .toBuffer();
    expect(lacksMostData(file.subarray(0, 1_000))).toBe(false);
  });
});

describe('decodeImage', () => {
  it('refuses an image without pixel data that the decoder fills with one color', async () => {
    const flat = await sharp({ create: { ...FLAT.create, width: 300, height: 200 } })
      .png()
      .toBuffer();
    const cut = flat.subarray(0, flat.indexOf('IDAT') + 6);
    await expect(decodeImage(cut, { maxPixels: 1e6, ignoreProfile: true })).rejects.toThrow(
      /before its first pixels|damaged/u,
    );
  });
});

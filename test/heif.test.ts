// HEIC and AVIF files of real encoders, compared with other decoders.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import sharp, { type AvifOptions, type Raw } from 'sharp';
import { afterAll, describe, expect, it } from 'vitest';
import { AppError } from '../src/shared/errors.ts';
import { decodeHeif } from '../src/engine/media/heif/decode.ts';
import { probeHeif, readStillImage } from '../src/engine/media/heif/still-image.ts';
import type { DecodedImage } from '../src/engine/media/image.ts';
import { grid, heifFile, ispe } from './heif-boxes.ts';
import { filesOf, sharedMedia } from './shared-media.ts';

const PLAN = { maxPixels: 60_000_000 };
const folder = mkdtempSync(path.join(tmpdir(), 'storybar-heif-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function srgbOf(input: string | Buffer, channels: 3 | 4): Promise<Buffer> {
  const image = sharp(input).toColorspace('srgb');
  return await (channels === 4 ? image.ensureAlpha() : image.removeAlpha()).raw({ depth: 'uchar' }).toBuffer();
}

function meanDifference(a: Uint8Array, b: Uint8Array): number {
  expect(a.length).toBe(b.length);
  let sum = 0;
  for (let index = 0; index < a.length; index += 1) sum += Math.abs((a[index] ?? 0) - (b[index] ?? 0));
  return sum / a.length;
}

/** Returns a photo of smooth colors with an edge, so that wrong planes, ranges and turns show. */
function testImage(width: number, height: number, channels: 3 | 4): { data: Buffer; raw: Raw } {
  const data = Buffer.alloc(width * height * channels);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const isRight = x > width / 2 && y > height / 3;
      const alpha = Math.round((255 * y) / (height - 1));
      const pixel = [(255 * x) / width, isRight ? 200 : (180 * y) / height, isRight ? 30 : 120, alpha];
      data.set(pixel.slice(0, channels), (y * width + x) * channels);
    }
  }
  return { data, raw: { width, height, channels } };
}

async function avif(options: AvifOptions, channels: 3 | 4 = 3, [width, height] = [161, 97]): Promise<Buffer> {
  const { data, raw } = testImage(width, height, channels);
  return await sharp(data, { raw })
    .avif({ quality: 95, effort: 0, ...options })
    .toBuffer();
}

const hasHeifConvert = spawnSync('heif-convert', []).error === undefined;
const heicFiles = hasHeifConvert ? filesOf('heif') : [];
const why = hasHeifConvert ? '' : ' (skipped: heif-convert is not installed)';

describe('HEIC photos', () => {
  it.skipIf(heicFiles.length === 0)(`HEIC photos have the pixels that libheif decodes${why}`, async () => {
    const differences: Record<string, number> = {};
    // Only one photo of a phone is tested, because the program takes seconds for each.
    for (const file of heicFiles.filter((name) => /IMG_2927|cheers|still_photo/u.test(name))) {
      const reference = path.join(folder, 'reference.png');
      execFileSync('heif-convert', [sharedMedia(file), reference], { stdio: 'ignore' });
      const image = await decodeHeif(readFileSync(sharedMedia(file)), PLAN);
      const { width, height } = await sharp(reference).metadata();
      expect([file, image.width, image.height]).toEqual([file, width, height]);
      differences[file] = meanDifference(image.data, await srgbOf(reference, 3));
    }
    expect(Object.entries(differences).filter(([, difference]) => difference > 1)).toEqual([]);
  });

  it.skipIf(filesOf('heif').length === 0)('HEIC photos are scaled down when a preview asks for less', async () => {
    const source = readFileSync(sharedMedia('heif/metadataextrac__cheers_1440x960.heic'));
    const image = await decodeHeif(source, { ...PLAN, scaleTo: { width: 144, height: 96 } });
    expect([image.width, image.height, image.data.length]).toEqual([144, 96, 144 * 96 * 3]);
  });

  it.skipIf(filesOf('heif').length === 0)('a HEIC photo without irot is turned by its EXIF orientation', () => {
    const source = readFileSync(sharedMedia('heif/metadataextrac__Issue_263.heic'));
    const placesOf = (bytes: Buffer): unknown =>
      readStillImage(bytes).layout.images.map(({ map, clip }) => ({ map, clip }));
    const turned = placesOf(source);
    const at = source.indexOf('irot');
    expect(at).toBeGreaterThan(0);
    source.write('free', at, 'latin1');
    expect(placesOf(source)).toEqual(turned);
  });

  it.skipIf(filesOf('heif').length === 0)('stop between two tiles when the render is canceled', async () => {
    const source = readFileSync(sharedMedia('heif/metadataextrac__IMG_1034.heic'));
    const canceled = new AbortController();
    const decoding = decodeHeif(source, PLAN, canceled.signal);
    canceled.abort(new Error('canceled'));
    await expect(decoding).rejects.toThrow('canceled');
  });
});

describe('AVIF images', () => {
  it.each([
    ['4:2:0 in 8 bits', { chromaSubsampling: '4:2:0' }, 1],
    ['4:4:4 in 8 bits', { chromaSubsampling: '4:4:4' }, 0.2],
    ['4:4:4 in 10 bits', { chromaSubsampling: '4:4:4', bitdepth: 10 }, 0.6],
    ['4:2:0 in 12 bits', { chromaSubsampling: '4:2:0', bitdepth: 12 }, 1.2],
  ] as const)('AVIF images of odd size have the pixels that libheif decodes: %s', async (_name, options, limit) => {
    const file = await avif(options);
    const image = await decodeHeif(file, PLAN);
    expect([image.width, image.height, image.channels]).toEqual([161, 97, 3]);
    expect(meanDifference(image.data, await srgbOf(file, 3))).toBeLessThan(limit);
  });

  it('AVIF images keep their alpha', async () => {
    const file = await avif({ chromaSubsampling: '4:4:4' }, 4);
    const image = await decodeHeif(file, PLAN);
    expect(image.channels).toBe(4);
    expect(meanDifference(image.data, await srgbOf(file, 4))).toBeLessThan(0.3);
  });

  it('AVIF images are converted from the color space of their profile', async () => {
    const { data, raw } = testImage(120, 80, 3);
    const file = await sharp(data, { raw })
      .withIccProfile('p3')
      .avif({ quality: 100, lossless: true, effort: 0 })
      .toBuffer();
    const image = await decodeHeif(file, PLAN);
    // Encoding converted sRGB to Display P3, so decoding must give back the original.
    expect(meanDifference(image.data, data)).toBeLessThan(0.7);
    const untagged = await sharp(file).keepIccProfile().raw().toBuffer();
    expect(meanDifference(untagged, data)).toBeGreaterThan(3);
  });

  const rotated = filesOf('avif').filter((name) => /rot\dmir\d/u.test(name));
  it.skipIf(rotated.length === 0)('AVIF images are rotated and mirrored upright', async () => {
    const upright = await decodeHeif(readFileSync(sharedMedia('avif/pillow__rot0mir0.avif')), PLAN);
    const small = async ({ data, width, height, channels }: DecodedImage): Promise<Buffer> =>
      await sharp(data, { raw: { width, height, channels } }).resize(64, 43, { fit: 'fill' }).raw().toBuffer();
    const expected = await small(upright);
    expect(rotated).toHaveLength(8);
    for (const name of rotated) {
      const image = await decodeHeif(readFileSync(sharedMedia(name)), PLAN);
      expect([name, image.width, image.height]).toEqual([name, upright.width, upright.height]);
      expect([name, meanDifference(await small(image), expected) < 4]).toEqual([name, true]);
    }
  });
});

/** The result is an image, or a refusal that tells the caller what to do. Anything else is a bug. */
async function outcomeOf(file: Buffer): Promise<string> {
  try {
    const { width, height } = probeHeif(file);
    if (width * height > 1_000_000) return 'too large';
    const image = await decodeHeif(file, { maxPixels: 1_000_000 });
    return image.data.length === width * height * image.channels ? 'decoded' : 'wrong size';
  } catch (error) {
    return error instanceof AppError && error.code === 'asset_undecodable' ? 'refused' : String(error);
  }
}

describe('damaged and hostile files', () => {
  it('damaged files are decoded or refused, whatever bytes are changed', async () => {
    const shared = filesOf('avif').filter((name) => /transparency|icc_profile/u.test(name));
    const files = [
      await avif({}, 4, [64, 48]),
      await avif({ bitdepth: 10 }, 3, [33, 31]),
      ...shared.map((name) => readFileSync(sharedMedia(name))),
    ];
    const outcomes = new Set<string>();
    const change = fc.record({ at: fc.nat(700), value: fc.integer({ min: 0, max: 255 }), isFar: fc.boolean() });
    const mutation = fc.record({
      file: fc.constantFrom(...files),
      changes: fc.array(change, { minLength: 1, maxLength: 6 }),
    });
    await fc.assert(
      fc.asyncProperty(mutation, async ({ file, changes }) => {
        const mutated = Buffer.from(file);
        for (const { at, value, isFar } of changes) mutated[(isFar ? at * 13 : at) % mutated.length] = value;
        const outcome = await outcomeOf(mutated);
        outcomes.add(outcome);
        expect(['decoded', 'refused', 'too large']).toContain(outcome);
      }),
      { seed: 20_261_117, numRuns: 400 },
    );
    expect([...outcomes].toSorted()).toEqual(expect.arrayContaining(['decoded', 'refused']));
  });

  it('files are refused when their tiles have far more pixels than the image', async () => {
    const source = await sharp({ create: { width: 2_048, height: 2_048, channels: 3, background: '#456' } })
      .avif({ effort: 0 })
      .toBuffer();
    const [start, length] = [source.indexOf('mdat') + 4, source.length - source.indexOf('mdat') - 4];
    const configuration = source.subarray(source.indexOf('av1C') - 4, source.indexOf('av1C') + 8);
    const tile = { id: 2, type: 'av01', properties: [1, 2], extents: [[12, length]] } as const;
    const bomb = (rows: number, columns: number): Buffer =>
      heifFile({
        items: [{ id: 1, type: 'grid', extents: [[0, 12]] }, tile],
        properties: [ispe(64, 64), configuration],
        references: [['dimg', 1, Array.from({ length: rows * columns }, () => 2)]],
        data: Buffer.concat([grid(rows, columns, columns * 64, rows * 64), source.subarray(start)]),
      });
    expect(await outcomeOf(bomb(1, 1))).toBe('decoded');
    await expect(decodeHeif(bomb(5, 5), PLAN)).rejects.toThrow('its tiles have far more pixels than the image');
  });
});

import { inflateSync } from 'node:zlib';
import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { RawImage } from '../blend.ts';
import { encodeInStrips, encodePng } from './opaque.ts';

/** A gradient with noise, similar to a photo. With a `grain` of 256 it is pure noise. */
function testImage(width: number, height: number, channels: 3 | 4, grain: number): RawImage {
  const data = new Uint8Array(width * height * channels);
  let seed = width * 31 + height;
  for (let index = 0; index < data.length; index += 1) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    data[index] = Math.floor(index / channels / 3) + Math.floor((seed / 2 ** 32) * grain);
  }
  return { width, height, channels, data };
}

async function pixelsOf(png: Buffer): Promise<{ width: number; height: number; channels: number; data: Buffer }> {
  const { data, info } = await sharp(png, { failOn: 'warning' }).raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, channels: info.channels, data };
}

describe('encodeInStrips', () => {
  it('returns a PNG with the same pixels for images of any size', async () => {
    const size = fc.integer({ min: 30, max: 400 });
    const cases = fc.record({
      width: size,
      height: size,
      channels: fc.constantFrom<3 | 4>(3, 4),
      grain: fc.integer({ min: 1, max: 24 }),
      count: fc.integer({ min: 2, max: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ width, height, channels, grain, count }) => {
        const image = testImage(width, height, channels, grain);
        const joined = await encodeInStrips(image, count, undefined);
        if (joined === undefined)
          throw new Error('the output of the encoder changed, so its strips can no longer be joined');
        // Also verifies the Adler-32 checksum, which image decoders may ignore.
        const rows = inflateSync(joined.subarray(41, -16));
        expect(rows.length).toBe(height * (width * channels + 1));
        const decoded = await pixelsOf(joined);
        expect({ ...decoded, data: Buffer.compare(decoded.data, image.data) }).toEqual({
          width,
          height,
          channels,
          data: 0,
        });
      }),
      { numRuns: 150 },
    );
  });

  it('returns undefined when the encoder stored the strips uncompressed', async () => {
    expect(await encodeInStrips(testImage(64, 64, 3, 256), 2, undefined)).toBeUndefined();
  });
});

it('encodePng keeps every pixel of a large image, whether it can be encoded in strips or not', async () => {
  for (const grain of [8, 256]) {
    const image = testImage(3_000, 2_100, 3, grain);
    const decoded = await pixelsOf(await encodePng(image));
    expect(Buffer.compare(decoded.data, image.data)).toBe(0);
  }
});

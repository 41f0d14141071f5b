import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { randomCases } from '../../../../test/random-cases.ts';
import {
  barAt,
  barsOn,
  compareWithBars,
  encodeSample,
  type JpegSample,
  pixelsOf,
} from '../../../../test/jpeg-samples.ts';
import { must } from '../../../shared/must.ts';
import { bakeBands } from '../blend.ts';
import { readHeaders } from './headers.ts';
import { spliceBands } from './splice.ts';

const samples: fc.Arbitrary<JpegSample> = fc.record({
  width: fc.integer({ min: 1, max: 200 }),
  height: fc.integer({ min: 1, max: 200 }),
  quality: fc.integer({ min: 40, max: 100 }),
  chromaSubsampling: fc.constantFrom<'4:2:0' | '4:4:4'>('4:2:0', '4:4:4'),
  optimizeCoding: fc.boolean(),
  isGray: fc.boolean(),
  seed: fc.nat(),
});

describe('spliceBands', () => {
  it('changes no pixel outside the touched rows of MCUs, for images of any size and one to ten bars', async () => {
    await fc.assert(
      fc.asyncProperty(samples, fc.integer({ min: 1, max: 10 }), async (sample, count) => {
        const source = await encodeSample(sample);
        const bands = barsOn(sample, Math.min(count, sample.height));
        const spliced = spliceBands(source, { bands });
        expect(spliced).toBeDefined();
        const { changedRowsOutside } = await compareWithBars(source, must(spliced, 'spliced image'), bands);
        expect(changedRowsOutside).toBe(0);
      }),
      { numRuns: randomCases({ usually: 30, all: 150 }) },
    );
  });

  it('draws the bars as exactly as a new encoding at the same quality would', async () => {
    for (const chromaSubsampling of ['4:2:0', '4:4:4'] as const) {
      const size = { width: 333, height: 250 };
      const coding = { quality: 95, chromaSubsampling, optimizeCoding: true };
      const source = await encodeSample({ ...size, ...coding, isGray: false, seed: 1 });
      const bands = barsOn(size, 2);
      const baked = { ...size, channels: 3 as const, data: await pixelsOf(source) };
      bakeBands(baked, bands);
      const encoded = await sharp(baked.data, { raw: { ...size, channels: 3 } })
        .jpeg(coding)
        .toBuffer();
      const reference = await compareWithBars(source, encoded, bands);
      const ours = await compareWithBars(source, must(spliceBands(source, { bands }), 'spliced image'), bands);
      expect(ours.differenceInside).toBeLessThan(reference.differenceInside * 1.15);
    }
  });

  it('keeps the entropy-coded data of an image without bars', async () => {
    const options = { quality: 80, chromaSubsampling: '4:2:0', optimizeCoding: false, isGray: false, seed: 3 } as const;
    const source = await encodeSample({ width: 123, height: 77, ...options });
    const { dataStart } = must(readHeaders(source), 'headers').firstScan;
    const spliced = must(spliceBands(source, { bands: [] }), 'spliced image');
    expect(spliced.subarray(-(source.length - dataStart)).equals(source.subarray(dataStart))).toBe(true);
  });

  it('gives a grayscale image color where the overlay has some, and keeps its other pixels, turned or not', async () => {
    for (const orientation of [1, 3, 6]) {
      const size = { width: 72, height: 72 };
      const options = { quality: 80, chromaSubsampling: '4:4:4', optimizeCoding: true, seed: 4 } as const;
      const gray = await encodeSample({ ...size, ...options, isGray: true });
      const color = barAt(72, 16, 16);
      for (let pixel = 0; pixel < 72 * 16; pixel += 1) color.pixels.set([255, 0, 0, 255], pixel * 4);
      const upright = must(spliceBands(gray, { bands: [] }, { orientation }), 'upright image');
      const colored = must(spliceBands(gray, { bands: [color] }, { orientation }), 'spliced image');
      const { data, info } = await sharp(colored).raw().toBuffer({ resolveWithObject: true });
      expect(info.channels).toBe(3);
      const before = await pixelsOf(upright);
      const [top, bottom] = [14 * 72 * 3, 34 * 72 * 3];
      expect(data.subarray(0, top).equals(before.subarray(0, top))).toBe(true);
      expect(data.subarray(bottom).equals(before.subarray(bottom))).toBe(true);
      const [red = 0, green = 0, blue = 0] = data.subarray((24 * 72 + 36) * 3);
      expect([red > 225, green < 40, blue < 40]).toEqual([true, true, true]);
    }
  });

  it('refuses bands of another width', async () => {
    const options = { quality: 80, chromaSubsampling: '4:4:4', optimizeCoding: true, isGray: true, seed: 4 } as const;
    const gray = await encodeSample({ width: 64, height: 64, ...options });
    expect(spliceBands(gray, { bands: [barAt(63, 16, 16)] })).toBeUndefined();
  });

  it('leaves every mutated file that the decoder refuses to the decoder, and keeps the size of the others', async () => {
    const size = { width: 90, height: 70 };
    const options = { quality: 75, chromaSubsampling: '4:2:0', optimizeCoding: true, isGray: false, seed: 5 } as const;
    const source = await encodeSample({ ...size, ...options });
    const edits = fc.array(fc.tuple(fc.nat(source.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(edits, fc.nat(source.length), async (changes, cut) => {
        const file = Buffer.from(source);
        for (const [at, value] of changes) file[at] = value;
        const damaged = cut % 3 === 0 ? file.subarray(0, cut) : file;
        const headers = readHeaders(damaged);
        const spliced = spliceBands(damaged, { bands: headers ? barsOn(headers, 1) : [] });
        if (spliced === undefined) return;
        await expect(sharp(damaged, { failOn: 'error' }).raw().toBuffer()).resolves.toBeDefined();
        const { width, height } = await sharp(spliced, { failOn: 'none' }).metadata();
        expect({ width, height }).toEqual({ width: headers?.width, height: headers?.height });
      }),
      { numRuns: randomCases({ usually: 100, all: 1_000 }) },
    );
  });
});

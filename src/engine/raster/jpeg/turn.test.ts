import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { barsOn, encodeSample, type JpegSample, pixelsOf, touchedRows } from '../../../../test/jpeg-samples.ts';
import { randomCases } from '../../../../test/random-cases.ts';
import { must } from '../../../shared/must.ts';
import { bakeBands } from '../blend.ts';
import { readHeaders } from './headers.ts';
import { spliceBands } from './splice.ts';
import { readUprightHeaders } from './turn.ts';

const ORIENTATIONS = [2, 3, 4, 5, 6, 7, 8] as const;
type Orientation = (typeof ORIENTATIONS)[number];
/** The orientations that turn an image back. */
const INVERSE: Readonly<Record<Orientation, Orientation>> = { 2: 2, 3: 3, 4: 4, 5: 5, 6: 8, 7: 7, 8: 6 };

function turned(source: Uint8Array, orientation: Orientation): Buffer {
  return must(spliceBands(source, { bands: [] }, { orientation }), `image of orientation ${orientation}`);
}

/** Returns the decoded pixels of the source, turned afterwards. */
async function turnedPixels(source: Uint8Array, orientation: Orientation): Promise<Buffer> {
  const { width, height } = must(readHeaders(source), 'headers');
  const raw = { width, height, channels: 3 as const };
  const tagged = await sharp(await pixelsOf(source), { raw })
    .withMetadata({ orientation })
    .png({ compressionLevel: 0 })
    .toBuffer();
  return await sharp(tagged).autoOrient().raw().toBuffer();
}

function largestDifference(one: Buffer, other: Buffer): number {
  expect(one.length).toBe(other.length);
  let largest = 0;
  for (let at = 0; at < one.length; at += 1) largest = Math.max(largest, Math.abs((one[at] ?? 0) - (other[at] ?? 0)));
  return largest;
}

/** Samples have whole MCUs of every sampling. */
const samples: fc.Arbitrary<JpegSample> = fc.record({
  width: fc.integer({ min: 1, max: 10 }).map((mcus) => mcus * 16),
  height: fc.integer({ min: 1, max: 10 }).map((mcus) => mcus * 16),
  quality: fc.integer({ min: 40, max: 100 }),
  chromaSubsampling: fc.constantFrom<'4:2:0' | '4:4:4'>('4:2:0', '4:4:4'),
  optimizeCoding: fc.boolean(),
  isGray: fc.boolean(),
  seed: fc.nat(),
});
const orientations = fc.constantFrom(...ORIENTATIONS);
const PLAIN = { quality: 75, chromaSubsampling: '4:2:0', optimizeCoding: true, isGray: false, seed: 7 } as const;

describe('spliceBands on a turned JPEG', () => {
  it('writes the same bytes again when the image is turned back', async () => {
    await fc.assert(
      fc.asyncProperty(samples, orientations, async (sample, orientation) => {
        const source = await encodeSample(sample);
        const upright = turned(turned(source, 2), 2);
        expect(turned(turned(source, orientation), INVERSE[orientation]).equals(upright)).toBe(true);
        const fullCircle = [6, 6, 6, 6].reduce((image) => turned(image, 6), source);
        expect(fullCircle.equals(upright)).toBe(true);
      }),
      { numRuns: randomCases({ usually: 20, all: 100 }) },
    );
  });

  it("shows the decoded pixels of the source, turned, within the decoder's rounding", async () => {
    await fc.assert(
      fc.asyncProperty(samples, orientations, async (sample, orientation) => {
        const source = await encodeSample(sample);
        const pixels = await pixelsOf(turned(source, orientation));
        expect(largestDifference(pixels, await turnedPixels(source, orientation))).toBeLessThanOrEqual(4);
      }),
      { numRuns: randomCases({ usually: 20, all: 100 }) },
    );
  });

  it('changes no pixel outside the touched rows, and draws the bars on the upright image', async () => {
    await fc.assert(
      fc.asyncProperty(samples, orientations, fc.integer({ min: 1, max: 5 }), async (sample, orientation, count) => {
        const source = await encodeSample({ ...sample, quality: 95 });
        const before = turned(source, orientation);
        const headers = must(readHeaders(before), 'headers');
        const bands = barsOn(headers, count);
        const after = must(spliceBands(source, { bands }, { orientation }), 'spliced image');
        const baked = { width: headers.width, height: headers.height, channels: 3 as const };
        const [expected, actual] = [await pixelsOf(before), await pixelsOf(after)];
        const touched = touchedRows(headers, bands);
        const stride = headers.width * 3;
        const isChanged = (row: number): boolean =>
          expected.compare(actual, row * stride, (row + 1) * stride, row * stride, (row + 1) * stride) !== 0;
        const rows = Array.from({ length: headers.height }, (_, row) => row);
        expect(rows.filter((row) => !touched.has(row) && isChanged(row))).toEqual([]);
        bakeBands({ ...baked, data: expected }, bands);
        const difference = expected.reduce((sum, value, at) => sum + Math.abs(value - (actual[at] ?? 0)), 0);
        expect(difference / expected.length).toBeLessThan(8);
      }),
      { numRuns: randomCases({ usually: 15, all: 80 }) },
    );
  });

  it('leaves an image to the decoder when a mirrored side ends within an MCU', async () => {
    const wide = await encodeSample({ ...PLAIN, width: 72, height: 64 });
    const tall = await encodeSample({ ...PLAIN, width: 64, height: 72 });
    const isTurned = (file: Buffer): boolean[] =>
      ORIENTATIONS.map((orientation) => spliceBands(file, { bands: [] }, { orientation }) !== undefined);
    // Orientation:                 2      3      4     5     6      7      8
    expect(isTurned(wide)).toEqual([false, false, true, true, true, false, false]);
    expect(isTurned(tall)).toEqual([true, false, false, true, false, false, true]);
  });

  it('swaps the pixel densities of the image', async () => {
    const sample = await encodeSample({ ...PLAIN, width: 32, height: 32 });
    const jfif = Buffer.from([0xff, 0xe0, 0, 16, ...Buffer.from('JFIF\0'), 1, 1, 1, 0, 72, 0, 36, 0, 0]);
    const source = Buffer.concat([sample.subarray(0, 2), jfif, sample.subarray(2)]);
    const densities = (file: Buffer): number[] => [...file.subarray(14, 18)];
    expect(densities(turned(source, 6))).toEqual([0, 36, 0, 72]);
    expect(densities(turned(source, 3))).toEqual([0, 72, 0, 36]);
  });

  it('leaves an unknown orientation, and a small file that claims to be huge, to the decoder', async () => {
    const source = await encodeSample({ ...PLAIN, width: 32, height: 32 });
    expect(spliceBands(source, { bands: [] }, { orientation: 9 })).toBeUndefined();
    const frame = source.indexOf(Buffer.of(0xff, 0xc0));
    source.set([0xff, 0xf0, 0xff, 0xf0], frame + 5);
    expect(must(readUprightHeaders(source, 6), 'headers').width).toBe(0xfff0);
    expect(spliceBands(source, { bands: [] }, { orientation: 6 })).toBeUndefined();
  });

  it('leaves every mutated file that the decoder refuses to the decoder, and keeps the size of the others', async () => {
    const source = await encodeSample({ ...PLAIN, width: 96, height: 64 });
    const edits = fc.array(fc.tuple(fc.nat(source.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(edits, fc.nat(source.length), orientations, async (changes, cut, orientation) => {
        const file = Buffer.from(source);
        for (const [at, value] of changes) file[at] = value;
        const damaged = cut % 3 === 0 ? file.subarray(0, cut) : file;
        const headers = readUprightHeaders(damaged, orientation);
        const spliced = spliceBands(damaged, { bands: headers ? barsOn(headers, 1) : [] }, { orientation });
        if (spliced === undefined) return;
        await expect(sharp(damaged, { failOn: 'error' }).raw().toBuffer()).resolves.toBeDefined();
        const { width, height } = await sharp(spliced, { failOn: 'none' }).metadata();
        expect({ width, height }).toEqual({ width: headers?.width, height: headers?.height });
      }),
      { numRuns: randomCases({ usually: 100, all: 1_000 }) },
    );
  });
});

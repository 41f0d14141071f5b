// Images whose coefficients are spread over several scans.

import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { barsOn, compareWithBars, encodeSample, type JpegSample, pixelsOf } from '../../../../test/jpeg-samples.ts';
import { randomCases } from '../../../../test/random-cases.ts';
import { must } from '../../../shared/must.ts';
import { readHeaders, readSegments } from './headers.ts';
import { spliceBands } from './splice.ts';

const samples: fc.Arbitrary<JpegSample> = fc.record({
  width: fc.integer({ min: 1, max: 200 }),
  height: fc.integer({ min: 1, max: 200 }),
  quality: fc.integer({ min: 40, max: 100 }),
  chromaSubsampling: fc.constantFrom<'4:2:0' | '4:4:4'>('4:2:0', '4:4:4'),
  optimizeCoding: fc.constant(true),
  progressive: fc.constantFrom<'usual' | 'optimized'>('usual', 'optimized'),
  isGray: fc.boolean(),
  seed: fc.nat(),
});

/** The segments of a JPEG with this marker, and the entropy-coded data of its only scan. */
function partsOf(jpeg: Buffer): { readonly segments: (marker: number) => Buffer[]; readonly data: Buffer } {
  const { dataStart } = must(readHeaders(jpeg), 'headers').firstScan;
  const found: Buffer[] = [];
  for (let at = 2; at < dataStart; at += 2 + jpeg.readUInt16BE(at + 2)) {
    found.push(jpeg.subarray(at, at + 2 + jpeg.readUInt16BE(at + 2)));
  }
  return { segments: (marker) => found.filter((one) => one[1] === marker), data: jpeg.subarray(dataStart, -2) };
}

async function grayJpeg(width: number, height: number, seed: number, optimizeCoding: boolean): Promise<Buffer> {
  const options = { quality: 80, chromaSubsampling: '4:4:4', isGray: true } as const;
  return await encodeSample({ width, height, seed, optimizeCoding, ...options });
}

const EOI = Buffer.of(0xff, 0xd9);
const [DHT, DQT] = [0xc4, 0xdb];

function frame(width: number, height: number, factors: readonly number[]): Buffer {
  const components = factors.flatMap((factor, index) => [index + 1, factor, 0]);
  const body = [8, height >> 8, height & 255, width >> 8, width & 255, factors.length, ...components];
  return Buffer.of(0xff, 0xc0, 0, body.length + 2, ...body);
}

/** Three gray images as the components of one, each with a scan and Huffman tables of its own. */
async function separateScans(width: number, height: number): Promise<Buffer> {
  const half = { width: Math.ceil(width / 2), height: Math.ceil(height / 2) };
  const planes = [
    partsOf(await grayJpeg(width, height, 1, true)),
    partsOf(await grayJpeg(half.width, half.height, 2, true)),
    partsOf(await grayJpeg(half.width, half.height, 3, true)),
  ];
  const scans = planes.flatMap(({ segments, data }, index) => [
    ...segments(DHT),
    Buffer.of(0xff, 0xda, 0, 8, 1, index + 1, 0, 0, 63, 0),
    data,
  ]);
  const tables = must(planes[0], 'luma').segments(DQT);
  return Buffer.concat([Buffer.of(0xff, 0xd8), ...tables, frame(width, height, [0x22, 0x11, 0x11]), ...scans, EOI]);
}

/** Strips of 8 rows as the restart intervals of one gray image. */
async function restartIntervals(width: number, rows: number): Promise<Buffer> {
  const strips = await Promise.all(
    Array.from({ length: rows }, async (_, row) => partsOf(await grayJpeg(width, 8, row, false))),
  );
  const first = must(strips[0], 'strip');
  const data = strips.flatMap((strip, row) =>
    row === 0 ? [strip.data] : [Buffer.of(0xff, 0xd0 + ((row - 1) % 8)), strip.data],
  );
  return Buffer.concat([
    Buffer.of(0xff, 0xd8),
    ...first.segments(DQT),
    frame(width, rows * 8, [0x11]),
    ...first.segments(DHT),
    Buffer.of(0xff, 0xdd, 0, 4, 0, Math.ceil(width / 8)),
    Buffer.of(0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0),
    ...data,
    EOI,
  ]);
}

/** One block, with scans of these bands of zeros. */
function blockInBands(bands: readonly (readonly [number, number])[]): Buffer {
  const oneCode = (id: number): Buffer =>
    Buffer.of(0xff, 0xc4, 0, 20, id, 1, ...Array.from({ length: 15 }, () => 0), 0);
  const scan = (start: number, end: number): Buffer => Buffer.of(0xff, 0xda, 0, 8, 1, 1, 0, start, end, 0, 0x7f);
  const sof = Buffer.from(frame(8, 8, [0x11]));
  sof[1] = 0xc2;
  const steps = Buffer.of(0xff, DQT, 0, 67, 0, ...Array.from({ length: 64 }, () => 1));
  const scans = [scan(0, 0), ...bands.map(([start, end]) => scan(start, end))];
  // Enough bytes behind the image for the check of its length.
  return Buffer.concat([Buffer.of(0xff, 0xd8), steps, sof, oneCode(0), oneCode(16), ...scans, EOI]);
}

describe('spliceBands on images with several scans', () => {
  it('changes no pixel of progressive images outside the touched rows', async () => {
    await fc.assert(
      fc.asyncProperty(samples, fc.integer({ min: 1, max: 4 }), async (sample, count) => {
        const source = await encodeSample(sample);
        expect(must(readHeaders(source), 'headers').isProgressive).toBe(true);
        const bands = barsOn(sample, Math.min(count, sample.height));
        const spliced = must(spliceBands(source, { bands }), 'spliced image');
        expect((await compareWithBars(source, spliced, bands)).changedRowsOutside).toBe(0);
        expect((await sharp(spliced).metadata()).isProgressive).toBe(false);
      }),
      { numRuns: randomCases({ usually: 30, all: 150 }) },
    );
  });

  it.each([
    [64, 64],
    [83, 45],
    [9, 17],
  ])('reads components in separate scans with tables of their own, %i x %i', async (width, height) => {
    const source = await separateScans(width, height);
    const bands = barsOn({ width, height }, 1);
    const spliced = must(spliceBands(source, { bands }), 'spliced image');
    expect((await compareWithBars(source, spliced, bands)).changedRowsOutside).toBe(0);
    expect(
      (await pixelsOf(must(spliceBands(source, { bands: [] }), 'spliced image'))).equals(await pixelsOf(source)),
    ).toBe(true);
  });

  it.each([
    [16, 3],
    [61, 20],
  ])('reads restart intervals, %i pixels wide, %i of them', async (width, rows) => {
    const source = await restartIntervals(width, rows);
    const bands = barsOn({ width, height: rows * 8 }, 2);
    const spliced = must(spliceBands(source, { bands }), 'spliced image');
    expect((await compareWithBars(source, spliced, bands)).changedRowsOutside).toBe(0);
    const wrong = Buffer.from(source);
    wrong[wrong.indexOf(Buffer.of(0xff, 0xd1)) + 1] = 0xd2;
    expect(spliceBands(wrong, { bands })).toBeUndefined();
  });

  it('leaves an image that lacks coefficients to the decoder, which smooths it', async () => {
    const { bytes, scans } = await progressiveScans();
    for (const count of [1, 3, scans.length - 1]) {
      const cut = Buffer.concat([bytes.subarray(0, scans[count]), EOI]);
      expect(spliceBands(cut, { bands: [] })).toBeUndefined();
      await expect(sharp(cut, { failOn: 'none' }).raw().toBuffer()).resolves.toBeDefined();
    }
    expect(spliceBands(bytes, { bands: [] })).toBeDefined();
  });

  it('leaves an image with far more scans than encoders write to the decoder', () => {
    const single = Array.from({ length: 63 }, (_, index): [number, number] => [index + 1, index + 1]);
    expect(spliceBands(blockInBands([[1, 63]]), { bands: [] })).toBeDefined();
    expect(
      spliceBands(
        blockInBands([
          [1, 20],
          [21, 63],
        ]),
        { bands: [] },
      ),
    ).toBeDefined();
    expect(
      spliceBands(
        blockInBands([
          [1, 20],
          [20, 63],
        ]),
        { bands: [] },
      ),
    ).toBeUndefined();
    expect(spliceBands(blockInBands(single), { bands: [] })).toBeUndefined();
  });

  it('leaves every mutated progressive file that the decoder refuses to the decoder', async () => {
    const { bytes: source } = await progressiveScans();
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
      { numRuns: randomCases({ usually: 150, all: 1_500 }) },
    );
  });
});

/** A progressive image, and where each of its scans starts. */
async function progressiveScans(): Promise<{ bytes: Buffer; scans: number[] }> {
  const options = { quality: 75, chromaSubsampling: '4:2:0', optimizeCoding: true, isGray: false, seed: 5 } as const;
  const bytes = await encodeSample({ width: 90, height: 70, progressive: 'usual', ...options });
  const scans: number[] = [];
  const start = Buffer.of(0xff, 0xda);
  for (let at = bytes.indexOf(start); at >= 0; at = bytes.indexOf(start, at + 2)) scans.push(at);
  expect(readSegments(bytes)?.headers.isProgressive).toBe(true);
  return { bytes, scans };
}

import { inflateSync } from 'node:zlib';
import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { randomCases } from '../../../../test/random-cases.ts';
import type { Band } from '../band.ts';
import { COLOR_TYPE } from './chunks.ts';
import { ZeroRuns } from './deflate.ts';
import { writeTransparentPng } from './transparent.ts';

const CANVAS = { width: 101, height: 90 };
const byte = fc.integer({ min: 0, max: 255 });

/** Generates a row with this many colors. Few enough fit into a palette. */
const rowOf = (colors: number): fc.Arbitrary<number[]> =>
  fc
    .array(fc.tuple(byte, byte, byte, fc.integer({ min: 1, max: 255 })), { minLength: colors, maxLength: colors })
    .map((some) => Array.from({ length: CANVAS.width }, (_, column) => some[column % some.length] ?? []).flat());

/** Generates bands with rows that occur once or repeat. */
const bandsOf = (colors: number): fc.Arbitrary<Band[]> =>
  fc
    .array(
      fc.record({
        gap: fc.nat(4),
        rows: fc.array(fc.tuple(rowOf(colors), fc.constantFrom(1, 1, 2, 7, 13)), { minLength: 1, maxLength: 3 }),
      }),
      { maxLength: 2 },
    )
    .map((blocks) => {
      let next = 0;
      return blocks.map(({ gap, rows }) => {
        const all = rows.flatMap(([row, times]) => Array.from({ length: times }, () => row));
        const top = next + gap;
        next = top + all.length;
        return { top, height: all.length, width: CANVAS.width, pixels: Uint8ClampedArray.from(all.flat()) };
      });
    });

describe('writeTransparentPng', () => {
  const zeros = new ZeroRuns();

  it.each([
    ['with a palette', 3, COLOR_TYPE.palette],
    ['in full color', CANVAS.width, COLOR_TYPE.rgba],
  ])('contains exactly the pixels of the bands, %s', async (_encoding, colors, colorType) => {
    const colorTypes = new Set<number | undefined>();
    await fc.assert(
      fc.asyncProperty(bandsOf(colors), async (bands) => {
        const expected = new Uint8Array(CANVAS.width * CANVAS.height * 4);
        for (const { top, pixels } of bands) expected.set(pixels, top * CANVAS.width * 4);
        const png = writeTransparentPng(CANVAS, bands, zeros);
        colorTypes.add(png[25]);
        // Throws when the Adler-32 checksum at the end is wrong.
        inflateSync(png.subarray(png.indexOf('IDAT') + 4));
        const data = await sharp(png, { failOn: 'warning' }).ensureAlpha().raw().toBuffer();
        expect(Buffer.compare(data, expected)).toBe(0);
      }),
      { numRuns: randomCases({ usually: 30, all: 100 }) },
    );
    expect(colorTypes).toContain(colorType);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomCases } from '../../../test/random-cases.ts';
import { BAR_ALPHA_BYTE, type Band } from './band.ts';
import { bakeBands } from './blend.ts';

const PLAIN = [0, 0, 0, BAR_ALPHA_BYTE];

/**
 * The pixels are mostly plain, as in real bars, with random ones anywhere: at the ends of a row, in whole rows, or
 * nowhere.
 */
const cases = fc
  .record({ width: fc.integer({ min: 1, max: 70 }), height: fc.integer({ min: 1, max: 6 }), top: fc.nat(3) })
  .chain(({ width, height, top }) => {
    const byte = fc.integer({ min: 0, max: 255 });
    const pixel = fc.oneof({ weight: 6, arbitrary: fc.constant(PLAIN) }, fc.tuple(byte, byte, byte, byte));
    const mixedRow = fc.array(pixel, { minLength: width, maxLength: width });
    const row = fc.oneof(fc.constant(Array.from({ length: width }, () => PLAIN)), mixedRow);
    return fc.record({
      width: fc.constant(width),
      top: fc.constant(top),
      rows: fc.array(row, { minLength: height, maxLength: height }),
      // The alignment of the photo in memory.
      offset: fc.nat(7),
      photo: fc.uint8Array({ minLength: width * (top + height + 1) * 3, maxLength: width * (top + height + 1) * 3 }),
    });
  });

function bandOf(top: number, rows: readonly (readonly (readonly number[])[])[], width: number): Band {
  return { top, height: rows.length, width, pixels: Uint8ClampedArray.from(rows.flat(2)) };
}

describe('bakeBands', () => {
  it('blends every pixel with an opaque photo, rounded to the nearest value, and changes no other bytes', () => {
    fc.assert(
      fc.property(cases, ({ width, top, rows, offset, photo }) => {
        const memory = new Uint8Array(offset + photo.length + 8).fill(77);
        const data = memory.subarray(offset, offset + photo.length);
        data.set(photo);
        const expected = [...photo];
        rows.flat().forEach(([red = 0, green = 0, blue = 0, alpha = 0], index) => {
          for (const [channel, value] of [red, green, blue].entries()) {
            const at = (top * width + index) * 3 + channel;
            expected[at] = Math.round((value * alpha + (photo[at] ?? 0) * (255 - alpha)) / 255);
          }
        });
        bakeBands({ width, height: top + rows.length + 1, channels: 3, data }, [bandOf(top, rows, width)]);
        expect([...data]).toEqual(expected);
        expect(new Set([...memory.subarray(0, offset), ...memory.subarray(offset + photo.length)])).toEqual(
          new Set([77]),
        );
      }),
      { numRuns: randomCases({ usually: 100, all: 300 }) },
    );
  });

  it.each([
    ['a plain bar', PLAIN],
    ['nothing', [0, 0, 0, 0]],
    ['a colored bar', [200, 10, 30, 120]],
  ])('blends a band with the same pixels beside its ink, %s, like any other band', (_, side) => {
    const ink = { left: 9, columns: 5 };
    const width = 40;
    const rows = Array.from({ length: 3 }, (_row, y) =>
      Array.from({ length: width }, (_column, x) =>
        x >= ink.left && x < ink.left + ink.columns ? [250, x, y, 40 * x - 300] : side,
      ),
    );
    const photo = Uint8Array.from({ length: width * 5 * 3 }, (_byte, at) => (at * 37) & 255);
    const band = bandOf(1, rows, width);
    const [expected, data] = [photo.slice(), photo.slice()];
    bakeBands({ width, height: 5, channels: 3, data: expected }, [band]);
    bakeBands({ width, height: 5, channels: 3, data }, [{ ...band, ink }]);
    expect(data).toEqual(expected);
  });
});

import { describe, expect, it } from 'vitest';
import { grown } from './grown-mask.ts';
import { blurred, type Mask, SHARES } from './soft-shadow.ts';

const SHARE_STEP = 4_096;
/** A value for each share, so that a drawn line shows what was blurred. */
const SHARE_VALUES = Int32Array.from({ length: SHARES }, (_, share) => share * SHARE_STEP);

/** All lines of a blurred mask. */
function linesOf(mask: Mask, radius: number): Int32Array {
  const result = new Int32Array(mask.width * mask.height);
  const shadow = blurred(mask, radius);
  for (let row = 0; row < mask.height; row += 1) {
    shadow.drawLine(row, 0, result.subarray(row * mask.width, (row + 1) * mask.width), SHARE_VALUES);
  }
  return result;
}

function square(size: number, from: number, to: number): Mask {
  const values = new Uint8Array(size * size);
  for (let y = from; y < to; y += 1) values.fill(255, y * size + from, y * size + to);
  return { width: size, height: size, values };
}

describe('blurred', () => {
  it.each([1, 3, 7, 12])('keeps the total and reaches three times its radius: %d', (radius) => {
    const mask = square(120, 55, 65);
    const result = linesOf(mask, radius);
    const total = result.reduce((sum, value) => sum + value, 0) / 65_536;
    expect(total).toBeGreaterThan(0.98 * 100 * 255);
    expect(total).toBeLessThan(1.02 * 100 * 255);
    const row = result.slice(60 * 120, 61 * 120);
    expect(row[60]).toBeGreaterThan(row[54 - radius] ?? 0);
    const reach = 4 * radius + 2;
    expect(row.slice(0, 55 - reach).every((value) => value === 0)).toBe(true);
  });

  it.each([1, 7, 30])('draws a part of a line like the whole of it: %d', (radius) => {
    const mask = square(120, 40, 70);
    const all = linesOf(mask, radius);
    const shadow = blurred(mask, radius);
    for (const column of [0, 1, 13, 58, 119]) {
      const part = new Int32Array(Math.min(40, 120 - column)).fill(-1);
      shadow.drawLine(50, column, part, SHARE_VALUES);
      const expected = all.slice(50 * 120 + column, 50 * 120 + column + part.length);
      const isSame = part.every((value, at) => Math.abs(value - (expected[at] ?? 0)) <= SHARE_STEP);
      expect([column, isSame]).toEqual([column, true]);
    }
  });

  it('falls without steps from the middle outward', () => {
    const row = linesOf(square(200, 90, 110), 12).slice(100 * 200, 101 * 200);
    for (let x = 101; x < 160; x += 1) {
      const step = (row[x - 1] ?? 0) - (row[x] ?? 0);
      expect(step).toBeGreaterThanOrEqual(0);
      expect(step / 65_536).toBeLessThan(12);
    }
  });
});

describe('grown', () => {
  it('grows a mask by the distance on all sides, with round corners', () => {
    const { values, width } = { values: grown(square(40, 15, 25), 4), width: 40 };
    const at = (x: number, y: number): number => values[y * width + x] ?? 0;
    expect([at(11, 20), at(28, 20), at(20, 11), at(20, 28)]).toEqual([255, 255, 255, 255]);
    expect([at(10, 20), at(29, 20), at(20, 10), at(20, 29)]).toEqual([0, 0, 0, 0]);
    expect(at(11, 11)).toBe(0);
    expect(at(13, 13)).toBe(255);
  });

  it('moves a partly covered edge by a part of a pixel', () => {
    const mask = square(40, 15, 25);
    for (let y = 15; y < 25; y += 1) mask.values[y * 40 + 25] = 128;
    expect(grown(mask, 4)[20 * 40 + 29]).toBe(128);
  });
});

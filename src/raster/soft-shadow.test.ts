import { describe, expect, it } from 'vitest';
import { grown } from './grown-mask.ts';
import { blurred, type Mask } from './soft-shadow.ts';

function square(size: number, from: number, to: number): Mask {
  const values = new Uint8Array(size * size);
  for (let y = from; y < to; y += 1) values.fill(255, y * size + from, y * size + to);
  return { width: size, height: size, values };
}

describe('blurred', () => {
  it.each([1, 3, 7, 12])('keeps the total and reaches three times its radius: %d', (radius) => {
    const mask = square(120, 55, 65);
    const result = blurred(mask, radius);
    const total = result.reduce((sum, value) => sum + value, 0) / 65_536;
    expect(total).toBeGreaterThan(0.98 * 100 * 255);
    expect(total).toBeLessThan(1.02 * 100 * 255);
    const row = result.slice(60 * 120, 61 * 120);
    expect(row[60]).toBeGreaterThan(row[54 - radius] ?? 0);
    const reach = 4 * radius + 2;
    expect(row.slice(0, 55 - reach).every((value) => value === 0)).toBe(true);
  });

  it('falls without steps from the middle outward', () => {
    const row = blurred(square(200, 90, 110), 12).slice(100 * 200, 101 * 200);
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

import { describe, expect, it } from 'vitest';
import type { Size } from './geometry.ts';
import { eachStroke, strokesFor, strokesOn } from './watermark.ts';

const SIZES: readonly Size[] = [
  { width: 16, height: 16 },
  { width: 320, height: 240 },
  { width: 1_080, height: 1_920 },
  { width: 4_000, height: 300 },
  { width: 7_000, height: 7_000 },
];

describe('strokesOn', () => {
  it('crosses every line as wide and high as one and a half letters, whatever its size', () => {
    for (const canvas of SIZES) {
      for (const fontSize of [6, 10, 24, 60, 200, 600]) {
        expect(strokesOn({ fontSize }, canvas).period).toBeLessThanOrEqual(Math.max(12, 1.5 * fontSize));
      }
    }
  });

  it('has all strokes of the canvas among its own', () => {
    for (const canvas of SIZES) {
      const { period } = strokesFor(canvas);
      for (const fontSize of [1, 6, 10, 24, 60, 200]) expect(period % strokesOn({ fontSize }, canvas).period).toBe(0);
    }
  });
});

describe('strokesFor', () => {
  it('depends only on the canvas, and covers a small part of it', () => {
    expect(strokesFor({ width: 1_080, height: 1_920 })).toEqual({ period: 128, tone: 1 });
    const { period, tone } = strokesFor({ width: 7_000, height: 7_000 });
    expect((2 * tone) / period).toBeLessThan(0.04);
  });
});

describe('eachStroke', () => {
  it('returns the columns of a row that are on a stroke, cut off at the edges', () => {
    const strokes = { period: 8, tone: 2 };
    const isLight = (x: number, y: number): boolean => (x + y) % 8 < 2;
    const isDark = (x: number, y: number): boolean => (x + y) % 8 >= 2 && (x + y) % 8 < 4;
    for (let row = 0; row < 20; row += 1) {
      const drawn = Array.from({ length: 19 }, () => ' ');
      eachStroke(strokes, row, 19, (from, middle, to) => drawn.fill('l', from, middle).fill('d', middle, to));
      expect(drawn).toEqual(drawn.map((_, x) => (isLight(x, row) ? 'l' : isDark(x, row) ? 'd' : ' ')));
    }
  });
});

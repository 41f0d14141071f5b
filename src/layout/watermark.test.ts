import { describe, expect, it } from 'vitest';
import type { Size } from './geometry.ts';
import type { Layout } from './layout.ts';
import { eachStroke, type Strokes, strokesFor } from './watermark.ts';

const SIZES: readonly Size[] = [
  { width: 16, height: 16 },
  { width: 320, height: 240 },
  { width: 1_080, height: 1_920 },
  { width: 4_000, height: 300 },
  { width: 7_000, height: 7_000 },
];

function strokesOn(canvas: Size, ...fontSizes: number[]): Strokes {
  return strokesFor({ canvas, bars: fontSizes.map((fontSize) => ({ fontSize })) } as unknown as Layout);
}

describe('strokesFor', () => {
  it('crosses every line as wide and high as one and a half letters, whatever its size', () => {
    for (const canvas of SIZES) {
      for (const fontSize of [6, 10, 24, 60, 200, 600]) {
        expect(strokesOn(canvas, 900, fontSize).period).toBeLessThanOrEqual(Math.max(12, 1.5 * fontSize));
      }
    }
  });

  it('keeps the strokes of larger text where they are when a smaller text needs more', () => {
    for (const canvas of SIZES) {
      const { period } = strokesOn(canvas, 900);
      for (const fontSize of [1, 6, 10, 24, 60, 200]) expect(period % strokesOn(canvas, fontSize).period).toBe(0);
    }
  });

  it('covers only a small part of the canvas', () => {
    const { period, tone } = strokesOn({ width: 1_080, height: 1_920 }, 51.84);
    expect({ period, tone }).toEqual({ period: 64, tone: 1 });
    const large = strokesOn({ width: 7_000, height: 7_000 }, 336);
    expect((2 * large.tone) / large.period).toBeLessThan(0.04);
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

import { describe, expect, it } from 'vitest';
import { must } from '../../shared/must.ts';
import { lookOf } from './look.ts';
import { eachStroke, strokesFor, textStrokes } from './watermark.ts';

describe('textStrokes', () => {
  const source = { start: 0, lead: 0 };
  const run = { text: 'Hello', kind: 'text', rtl: false, x: 0, source } as const;
  const line = { runs: [run], x: 100, width: 200, ascent: 30, descent: 10, top: 0, bottom: 60 };
  const barAt = (top: number, baseline: number, fontSize: number) => ({
    top,
    fontSize,
    look: lookOf(),
    lines: [{ ...line, baseline }],
  });
  /** The heights of the strokes above the baseline, in em. */
  const heights = (fontSize: number, top = 0, baseline = 500): [from: number, to: number][] =>
    textStrokes(barAt(top, baseline, fontSize)).map((stroke) => [
      (top + baseline - stroke.bottom) / fontSize,
      (top + baseline - stroke.top) / fontSize,
    ]);

  it('is at the same heights above the baseline, wherever the line is', () => {
    expect(heights(60, 0, 55)).toEqual(heights(60, 1_234, 217));
  });

  it('overlaps with the strokes on the same letters in another size', () => {
    const sizes = Array.from({ length: 600 }, (_, index) => 4 + index * 0.7);
    const lower = sizes.map((fontSize) => must(heights(fontSize)[0], 'the lower stroke'));
    expect(Math.max(...lower.map(([from]) => from))).toBeLessThan(Math.min(...lower.map(([, to]) => to)));
    const upper = sizes.flatMap((fontSize) => heights(fontSize).slice(1));
    expect(Math.max(...upper.map(([from]) => from))).toBeLessThan(Math.min(...upper.map(([, to]) => to)));
  });

  it('covers each line from before its first letter to after its last one, and no empty line', () => {
    const bar = barAt(10, 50, 40);
    const empty = { ...line, baseline: 98, width: 0, runs: [] };
    expect(textStrokes({ ...bar, lines: [...bar.lines, empty] })).toEqual([
      { left: 84, right: 316, top: 53, middle: 54, bottom: 55 },
      { left: 84, right: 316, top: 42, middle: 43, bottom: 44 },
    ]);
  });

  it('covers the whole width where words pop, because a long one is wider than its place', () => {
    const strokes = textStrokes({ ...barAt(10, 50, 40), look: lookOf({ highlight: 'pop' }) });
    expect(strokes.map(({ left, right }) => [left, right])).toEqual([
      [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
      [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
    ]);
  });
});

describe('strokesFor', () => {
  it('depends only on the canvas, and covers a small part of it', () => {
    expect(strokesFor({ width: 1_080, height: 1_920 })).toEqual({ period: 155, tone: 1 });
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

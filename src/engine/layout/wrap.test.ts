import { describe, expect, it } from 'vitest';
import { type WrapSegment, wrapBalanced } from './wrap.ts';

const SPACE = 1;

/** Wraps words of these widths, each followed by a space of width 1. Returns the widths of the words per line. */
function wrap(widths: readonly number[], maxWidth: number): number[][] {
  const segments: WrapSegment[] = widths.map((width, index) => ({
    start: index,
    end: index + 1,
    width,
    spaceWidth: SPACE,
    penalty: 0,
  }));
  return wrapBalanced(segments, maxWidth).map(({ first, last }) => widths.slice(first, last + 1));
}

describe('wrapBalanced', () => {
  it('returns no lines for no segments', () => {
    expect(wrap([], 100)).toEqual([]);
  });

  it('counts the spaces between words but not the one at the end of a line', () => {
    expect(wrap([10, 10, 10], 32)).toEqual([[10, 10, 10]]);
    expect(wrap([10, 10, 10], 31)).toEqual([[10, 10], [10]]);
  });

  it('wraps four words as two and two rather than three and one', () => {
    expect(wrap([10, 10, 10, 10], 32)).toEqual([
      [10, 10],
      [10, 10],
    ]);
  });

  it('leaves no single word on the last line when an earlier word determines the width', () => {
    expect(wrap([30, 8, 8, 8, 5], 31)).toEqual([[30], [8, 8], [8, 5]]);
  });

  it('keeps a long last word on its own line', () => {
    expect(wrap([8, 8, 30], 40)).toEqual([[8, 8], [30]]);
  });

  it('balances three lines', () => {
    expect(
      wrap(
        Array.from({ length: 9 }, () => 10),
        43,
      ),
    ).toEqual([
      [10, 10, 10],
      [10, 10, 10],
      [10, 10, 10],
    ]);
  });

  it('never uses more lines than greedy wrapping', () => {
    expect(wrap([20, 5, 5, 5, 20], 26)).toHaveLength(3);
    expect(wrap([20, 5, 5, 5, 20], 32)).toHaveLength(2);
  });

  it('puts a segment that is wider than the line on its own line', () => {
    expect(wrap([5, 50, 5], 20)).toEqual([[5], [50], [5]]);
  });

  it('makes no line wider than the maximum', () => {
    const widths = [7, 3, 9, 4, 4, 8, 2, 6, 5, 9, 1, 3];
    for (let maxWidth = 9; maxWidth < 80; maxWidth += 1) {
      const lines = wrap(widths, maxWidth);
      expect(lines.flat()).toEqual(widths);
      for (const line of lines)
        expect(line.reduce((sum, width) => sum + width + SPACE, -SPACE)).toBeLessThanOrEqual(maxWidth);
    }
  });

  it('counts a soft hyphen only at the end of a line', () => {
    const hyphenated = { width: 11, spaceWidth: -1, penalty: 0 };
    const segments: WrapSegment[] = [0, 1, 2].map((start) => ({ start, end: start + 1, ...hyphenated }));
    expect(wrapBalanced(segments, 31)).toEqual([{ first: 0, last: 2 }]);
    expect(wrapBalanced(segments, 30)).toHaveLength(2);
  });
});

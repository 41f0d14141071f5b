import { describe, expect, it } from 'vitest';
import { type WrapSegment, wrapBalanced } from './wrap.ts';

const SPACE = 1;

/** Words of these widths, a space of one after each; the lines as lists of widths. */
function wrap(widths: readonly number[], maxWidth: number): number[][] {
  const segments: WrapSegment[] = widths.map((width, index) => ({
    start: index,
    end: index + 1,
    width,
    spaceWidth: SPACE,
  }));
  return wrapBalanced(segments, maxWidth).map(({ first, last }) => widths.slice(first, last + 1));
}

describe('wrapBalanced', () => {
  it('has no lines for no segments', () => {
    expect(wrap([], 100)).toEqual([]);
  });

  it('keeps on one line what fits, spaces between words counted and the one at the end not', () => {
    expect(wrap([10, 10, 10], 32)).toEqual([[10, 10, 10]]);
    expect(wrap([10, 10, 10], 31)).toEqual([[10, 10], [10]]);
  });

  it('leaves no orphan: four words on two lines are two and two, not three and one', () => {
    expect(wrap([10, 10, 10, 10], 32)).toEqual([
      [10, 10],
      [10, 10],
    ]);
  });

  it('leaves no orphan behind a word that sets the width', () => {
    expect(wrap([30, 8, 8, 8, 5], 31)).toEqual([[30], [8, 8], [8, 5]]);
  });

  it('takes no word down to a long last one, which is no orphan', () => {
    expect(wrap([8, 8, 30], 40)).toEqual([[8, 8], [30]]);
  });

  it('evens out three lines', () => {
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

  it('never takes more lines than the widest setting needs', () => {
    expect(wrap([20, 5, 5, 5, 20], 26)).toHaveLength(3);
    expect(wrap([20, 5, 5, 5, 20], 32)).toHaveLength(2);
  });

  it('gives a segment wider than the line a line of its own', () => {
    expect(wrap([5, 50, 5], 20)).toEqual([[5], [50], [5]]);
  });

  it('makes no line wider than asked', () => {
    const widths = [7, 3, 9, 4, 4, 8, 2, 6, 5, 9, 1, 3];
    for (let maxWidth = 9; maxWidth < 80; maxWidth += 1) {
      const lines = wrap(widths, maxWidth);
      expect(lines.flat()).toEqual(widths);
      for (const line of lines)
        expect(line.reduce((sum, width) => sum + width + SPACE, -SPACE)).toBeLessThanOrEqual(maxWidth);
    }
  });

  it('counts a disappearing hyphen as nothing while the line goes on', () => {
    const hyphenated = { width: 11, spaceWidth: -1 };
    const segments: WrapSegment[] = [0, 1, 2].map((start) => ({ start, end: start + 1, ...hyphenated }));
    expect(wrapBalanced(segments, 31)).toEqual([{ first: 0, last: 2 }]);
    expect(wrapBalanced(segments, 30)).toHaveLength(2);
  });
});

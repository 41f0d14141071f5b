import { describe, expect, it } from 'vitest';
import { fakeMeasurer } from '../../../test/fake-measurer.ts';
import type { Overlay, Paging } from '../caption/overlay.ts';
import { atOnce } from '../../shared/slices.ts';
import { estimateWords } from '../caption/words/estimate.ts';
import { layoutOverlays } from './layout.ts';

/** Ten characters of half an em fill a line. */
const CANVAS = { width: 543, height: 543 };
const SIZE = 3.85;

function pagesOf(text: string, paging: Paging, size = SIZE): Overlay[] {
  const words = atOnce(estimateWords(text, 1, 11));
  const overlay: Overlay = { text, position: 50, start: 1, end: 12, isCue: true, words, paging, style: { size } };
  return layoutOverlays([overlay], CANVAS, () => fakeMeasurer).bars.map(({ page }) => page);
}

const textsOf = (pages: readonly Overlay[]): string[] => pages.map(({ text }) => text);

describe('pages of a phrase', () => {
  it('have at most as many words as the request allows, and similar lengths', () => {
    const text = 'aa bb cc dd ee ff gg';
    expect(textsOf(pagesOf(text, { maxLines: 4, maxWords: 3 }, 1))).toEqual(['aa bb cc', 'dd ee', 'ff gg']);
    expect(textsOf(pagesOf(text, { maxLines: 4, maxWords: 4 }, 1))).toEqual(['aa bb cc dd', 'ee ff gg']);
    expect(textsOf(pagesOf(text, { maxLines: 4, maxWords: 1 }, 1))).toHaveLength(7);
  });

  it('have at most as many lines as the request allows, at the size of the style', () => {
    const text = 'aaaa bbbb cccc dddd eeee ffff gggg hhhh';
    const linesOf = (maxLines: number): number[] => {
      const words = atOnce(estimateWords(text, 0, 10));
      const overlay: Overlay = { text, position: 50, isCue: true, words, paging: { maxLines }, style: { size: SIZE } };
      const { bars } = layoutOverlays([overlay], CANVAS, () => fakeMeasurer);
      expect(new Set(bars.map(({ fontSize }) => fontSize)).size).toBe(1);
      return bars.map(({ lines }) => lines.length);
    };
    expect(linesOf(1)).toEqual([1, 1, 1, 1]);
    expect(linesOf(2)).toEqual([2, 2]);
  });

  it('prefer to end with a clause', () => {
    expect(textsOf(pagesOf('one two, three four five six', { maxLines: 4, maxWords: 4 }, 1))).toEqual([
      'one two,',
      'three four five six',
    ]);
  });

  it('follow each other without a gap, from the start of the phrase to its end', () => {
    const pages = pagesOf('aa bb cc dd ee ff', { maxLines: 4, maxWords: 2 }, 1);
    expect(pages[0]?.start).toBe(1);
    expect(pages.at(-1)?.end).toBe(12);
    for (const [index, { end }] of pages.slice(0, -1).entries()) expect(end).toBe(pages[index + 1]?.start);
  });

  it('have their own words, and one that is too wide is a page of its own', () => {
    const pages = pagesOf('a bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb c', { maxLines: 1 });
    expect(textsOf(pages)).toEqual(['a', 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', 'c']);
    expect(pages.map(({ words }) => words?.map(({ from, to }) => [from, to]))).toEqual([[[0, 1]], [[0, 30]], [[0, 1]]]);
  });

  it('keep the words of scripts without spaces together', () => {
    expect(textsOf(pagesOf('今日はいい天気ですね', { maxLines: 4, maxWords: 3 }, 1)).join('|')).toBe(
      '今日はいい|天気ですね',
    );
  });
});

describe('boxes of words', () => {
  it('are in the order of the line, with the space beside their letters shared', () => {
    const words = atOnce(estimateWords('aa bb', 0, 1));
    const overlay: Overlay = { text: 'aa bb', position: 50, isCue: true, words };
    const [bar] = layoutOverlays([overlay], CANVAS, () => fakeMeasurer).bars;
    const [first, second] = (bar?.words ?? []).map((parts) => parts[0]);
    expect(first?.cell.right).toBe(second?.cell.left);
    expect(first?.cell.left).toBe(0);
    expect(second?.cell.right).toBe(CANVAS.width);
    expect(second?.box.left ?? 0).toBeGreaterThanOrEqual(first?.box.right ?? 0);
  });
});

// Checks what readers expect of words, dashes, quotations and rows of symbols, with the real fonts.

import { describe, expect, it } from 'vitest';
import { isEmoji } from '../src/layout/emoji.ts';
import { type Bar, layoutOverlays } from '../src/layout/layout.ts';
import { must } from '../src/primitives/must.ts';
import { graphemes } from '../src/caption/graphemes.ts';
import { TextEngine } from '../src/raster/text-engine.ts';

const engine = new TextEngine();
const CANVAS = { width: 1080, height: 1920 };
const FONT_SIZE = 51.84;

function barOf(text: string): Bar {
  const overlay = { text: engine.drawable(text).text, position: 50 };
  return must(layoutOverlays([overlay], CANVAS, (...caption) => engine.measurerFor(...caption)).bars[0], 'the bar');
}

function linesOf(text: string): string[] {
  return barOf(text).lines.map(({ runs }) => runs.map((run) => run.text).join(''));
}

describe('a long word', () => {
  it('stays whole if the caption can be up to 15 % smaller', () => {
    const text = 'Die Donaudampfschifffahrtsgesellschaftskapitäne';
    const { fontSize, lines } = barOf(text);
    expect(fontSize).toBeLessThan(FONT_SIZE);
    expect(fontSize).toBeGreaterThanOrEqual(0.85 * FONT_SIZE);
    expect(
      lines.some(({ runs }) => runs.some((run) => run.text.includes('Donaudampfschifffahrtsgesellschaftskapitäne'))),
    ).toBe(true);
  });

  it('is cut at the usual size if that is not enough', () => {
    const { fontSize, lines } = barOf('a'.repeat(60));
    expect(fontSize).toBeCloseTo(FONT_SIZE, 6);
    expect(lines).toHaveLength(2);
  });
});

describe('a line', () => {
  it.each([
    'We left at four in the morning — and still saw the whole bay turn gold',
    'Wir fuhren um vier Uhr morgens los – und sahen die ganze Bucht golden',
    'We left at four in the morning - and still saw the whole bay turn gold',
    'we left at four in the early morning—and still saw the whole bay turn gold',
  ])('never starts with a dash: %s', (text) => {
    for (let words = 4; words <= 12; words += 1) {
      for (const line of linesOf(`${'word '.repeat(words)}${text}`)) expect(line).not.toMatch(/^[-–—]/u);
    }
  });

  it('can start with a negative number', () => {
    expect(linesOf('It was really really cold today\n-5 degrees')[1]).toBe('-5 degrees');
  });

  it('ends between two quotations instead of inside one', () => {
    const text = '“I have never seen it”, she said. “Then come with me tonight”';
    expect(linesOf(text)).toEqual(
      ['“I have never seen it”, she said. ', '“Then come with me tonight”'].map((line) => line.trim()),
    );
  });

  it('keeps full-width Latin words whole', () => {
    const lines = linesOf('私の好きな番組はＷＯＲＬＤ　ＢＵＳＩＮＥＳＳ　ＳＡＴＥＬＬＩＴＥです');
    for (const word of ['ＷＯＲＬＤ', 'ＢＵＳＩＮＥＳＳ', 'ＳＡＴＥＬＬＩＴＥ']) {
      expect(lines.some((line) => line.includes(word))).toBe(true);
    }
  });
});

describe('a row of symbols', () => {
  it.each(['♠♥♦♣', '♥ ♦ ♣ ♠', '🅰🅱🅲🅳', '🅷🅾🆃'])('is all text if one symbol of it is: %s', (row) => {
    const clusters = graphemes(engine.drawable(row).text).filter((cluster) => cluster.trim() !== '');
    expect(clusters.filter(isEmoji)).toEqual([]);
  });

  it.each(['♥♥', '🅰🅱', '🆎🅾'])('is all emoji if each symbol of it is: %s', (row) => {
    expect(graphemes(engine.drawable(row).text).every(isEmoji)).toBe(true);
  });

  it('keeps selectors as they were written', () => {
    expect(engine.drawable('♠️♥️').text).toBe('♠️♥️');
    expect(engine.drawable('I ♥ you').text).toBe('I ♥ you');
  });
});

describe('digits of Urdu', () => {
  it('have the shapes of Urdu beside its letters, without a language', () => {
    const widthOf = (caption: string, lang?: string): number =>
      engine.measurerFor(caption, lang).measure({ text: '۴۵۶۷', kind: 'text', rtl: false }, 100).width;
    expect(widthOf('یہ ٹرین ۴۵۶۷ ہے')).toBe(widthOf('یہ ٹرین ۴۵۶۷ ہے', 'ur'));
    expect(widthOf('قطار ۴۵۶۷ است')).toBe(widthOf('قطار ۴۵۶۷ است', 'fa'));
  });
});

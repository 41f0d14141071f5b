// Checks punctuation and invisible characters whose look depends on the script around them, with the real fonts.

import { openSync } from 'fontkit';
import { describe, expect, it } from 'vitest';
import { splitByKind } from '../src/engine/layout/emoji.ts';
import { layoutOverlays } from '../src/engine/layout/layout.ts';
import { must } from '../src/shared/must.ts';
import { FAMILIES } from '../src/engine/raster/catalogue.ts';
import { fontFiles } from '../src/engine/raster/font-files.ts';
import { TextEngine } from '../src/engine/raster/text-engine.ts';

const engine = new TextEngine();
const CANVAS = { width: 1080, height: 1080 };

/** The width of the only line of a caption with the blank parts of the punctuation at its ends, in em. */
function lineWidth(text: string): number {
  const { bars } = layoutOverlays([{ text, position: null }], CANVAS, (caption) => engine.measurerFor(caption));
  const { lines, fontSize } = must(bars[0], 'the bar');
  expect(lines).toHaveLength(1);
  const measurer = engine.measurerFor(text);
  const widths = must(lines[0], 'the line').runs.map((run) => measurer.measure(run, fontSize).width);
  return widths.reduce((sum, width) => sum + width, 0) / fontSize;
}

describe('a sequence of ASCII punctuation', () => {
  const [file] = fontFiles(must(FAMILIES[0], 'the main font'));
  const font = openSync(must(file, 'the file of the main font').file);
  if (!('layout' in font)) throw new Error('the main font is a collection');

  it('ASCII punctuation is never drawn as an arrow or another ligature of the main font', () => {
    const marks = Array.from('-=<>|~+*/:.!()_#ax1→←');
    const texts = marks.flatMap((a) => marks.flatMap((b) => marks.map((c) => a + b + c)));
    const glyphsOf = (text: string): number => font.layout(text).glyphs.length;
    expect(texts.filter((text) => glyphsOf(text) < text.length).length).toBeGreaterThan(100);
    const joined = texts.filter((text) => splitByKind(text).some((piece) => glyphsOf(piece.text) < piece.text.length));
    expect(joined).toEqual([]);
  });

  it.each(['->', '==>', '<-', '<=>', '-->', ':->'])(
    'a sequence of ASCII punctuation is as wide as its characters: %s',
    (text) => {
      const separate = Array.from(text, (char) => lineWidth(char)).reduce((sum, width) => sum + width, 0);
      expect(Math.abs(lineWidth(text) - separate)).toBeLessThan(0.05);
    },
  );
});

describe('a Chinese, Japanese or Korean caption', () => {
  it.each([
    ['好…好', 3],
    ['“好”', 3],
    ['‘好’', 3],
    ['好·好', 3],
    ['はい…', 3],
    ['네…네', 2.84],
  ])('a CJK caption takes punctuation that it shares with Latin from the Han font: %s', (text, ems) => {
    expect(lineWidth(text)).toBeCloseTo(ems, 1);
  });

  it('a Latin caption with a few Han characters keeps its punctuation', () => {
    expect(lineWidth('I love 日本 very much…')).toBeLessThan(lineWidth('I love 日本 very much') + 0.9);
  });

  it.each([
    ['「『日本』（笑）。」', 8],
    ['（《书》），好', 5.5],
    ['“你好。”他', 5.5],
    ['（好）你（好）', 7],
  ])(
    'a CJK caption sets adjacent full-width brackets closer together, as CSS text-spacing-trim does: %s',
    (text, ems) => {
      expect(lineWidth(text)).toBeCloseTo(ems, 1);
    },
  );
});

describe('the Mongolian vowel separator', () => {
  it('the Mongolian vowel separator changes the letters around it', () => {
    expect(lineWidth('ᠬᠠᠷ\u180eᠠ')).not.toBeCloseTo(lineWidth('ᠬᠠᠷᠠ'), 2);
  });

  it('the Mongolian vowel separator is removed from other scripts', () => {
    expect(lineWidth('a\u180eb')).toBe(lineWidth('ab'));
  });
});

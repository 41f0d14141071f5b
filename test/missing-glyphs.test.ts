// Checks against the pixels that no caption shows a missing-glyph box of a font. Each text is drawn twice, the second time
// with a font for every code point at the end of the font list. The images differ only if the first one has such a box.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanText } from '../src/engine/caption/clean.ts';
import { layoutOverlays } from '../src/engine/layout/layout.ts';
import { decodeRanges } from '../src/engine/raster/code-points.ts';
import { COVERAGE } from '../src/engine/raster/coverage.generated.ts';
import { FontIndex } from '../src/engine/raster/font-index.ts';
import { TextEngine } from '../src/engine/raster/text-engine.ts';
import { catchAllFont } from './catch-all-font.ts';
import { randomCases } from './random-cases.ts';

const CANVAS = { width: 200, height: 100 };
const folder = mkdtempSync(path.join(tmpdir(), 'storybar-glyphs-'));
const file = path.join(folder, 'catch-all.ttf');
const index = new FontIndex();
const usual = new TextEngine(index);
const withCatchAll = new TextEngine({
  drawable: (text) => index.drawable(text),
  needsFallback: () => false,
  useOwn: () => undefined,
  fontsFor: (text) => {
    const fonts = index.fontsFor(text);
    return { ...fonts, text: [...fonts.text, { familyId: 'catch-all', alias: 'catch-all', file, ranges: undefined }] };
  },
});

beforeAll(() => writeFileSync(file, catchAllFont()));
afterAll(() => rmSync(folder, { recursive: true }));

function pixelsOf(engine: TextEngine, text: string): Buffer {
  const layout = layoutOverlays([{ text, position: null }], CANVAS, (caption) => engine.measurerFor(caption));
  return Buffer.concat(engine.draw(layout).map(({ pixels }) => Buffer.from(pixels.buffer)));
}

/** Returns whether Skia draws a missing-glyph box for this text. */
function showsBox(text: string): boolean {
  return !pixelsOf(usual, text).equals(pixelsOf(withCatchAll, text));
}

function drawable(text: string): { text: string; missingGlyphs: number } {
  return usual.drawable(cleanText(text));
}

describe('the comparison with a font for every code point', () => {
  it.each(['\u0378', 'a\u0378', '你\u0336', 'م\u0336', '★\u0336'])('the comparison detects the box in %j', (text) => {
    expect(showsBox(text)).toBe(true);
  });

  it.each(['A', 'Ångström', '你好', 'مرحبا', '👍🏽', 'a\u0336'])('the comparison detects no box in %j', (text) => {
    expect(showsBox(text)).toBe(false);
  });
});

describe('a caption', () => {
  const VOICED = Array.from('ｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾊﾋﾌﾍﾎ', (kana) => `${kana}ﾞ`);
  const SEMI_VOICED = Array.from('ﾊﾋﾌﾍﾎ', (kana) => `${kana}ﾟ`);

  it.each([...VOICED, ...SEMI_VOICED, 'ｳﾞ', 'ｶﾞﾝﾊﾞﾚ', '(ﾟ∀ﾟ)', '☆ﾟ', 'ｷﾀ━━(ﾟ∀ﾟ)━━!!', 'ﾟ･*:.｡'])(
    'a caption shows half-width kana with their voicing marks: %s',
    (text) => {
      expect(drawable(text)).toEqual({ text, missingGlyphs: 0 });
      expect(showsBox(text)).toBe(false);
    },
  );

  it.each([
    ['你̶', '你'],
    ['م̶', 'م'],
    ['★̶', '★'],
    ['😀̶', '😀'],
  ])('a caption shows %s without a mark that no font has together with its base, and counts it', (text, drawn) => {
    expect(drawable(text)).toEqual({ text: drawn, missingGlyphs: 1 });
    expect(showsBox(drawn)).toBe(false);
  });

  it('a caption shows an emoji in color when no text font can obey its text selector', () => {
    expect(drawable('😀\ufe0e')).toEqual({ text: '😀\ufe0f', missingGlyphs: 0 });
  });

  it('a caption shows no box for invisible characters and rare spaces', () => {
    const invisible: number[] = [];
    for (let point = 0; point < 0x1_00_00; point += 1) {
      if (/^[\s\p{Default_Ignorable_Code_Point}]$/u.test(String.fromCodePoint(point))) invisible.push(point);
    }
    expect(invisible.length).toBeGreaterThan(50);
    const texts = invisible.flatMap((point) =>
      ['a', '好', 'ᠠ'].map((base) => base + String.fromCodePoint(point) + base),
    );
    const counted = texts.filter((text) => drawable(text).missingGlyphs > 0);
    expect(counted).toEqual([]);
    expect(texts.filter((text) => showsBox(drawable(text).text))).toEqual([]);
  });

  const families = Object.values(COVERAGE).map((encoded) => {
    const chars = decodeRanges(encoded).flatMap(([first, last]) =>
      Array.from({ length: last - first + 1 }, (_, offset) => String.fromCodePoint(first + offset)),
    );
    return {
      bases: fc.constantFrom(...chars.filter((char) => /[\p{L}\p{N}\p{P}\p{S}]/u.test(char))),
      marks: chars.filter((char) => /\p{M}|\p{Grapheme_Extend}|\u200d|\ufe0f/u.test(char)),
    };
  });
  const anyMark = fc.oneof(
    ...families.filter(({ marks }) => marks.length > 0).map(({ marks }) => fc.constantFrom(...marks)),
  );
  const cluster = fc.oneof(
    ...families.map(({ bases, marks }) => {
      const mark = marks.length > 0 ? fc.oneof(anyMark, fc.constantFrom(...marks)) : anyMark;
      return fc.tuple(bases, mark, fc.oneof(fc.constant(''), mark, bases)).map((parts) => parts.join(''));
    }),
  );

  const CLUSTERS = randomCases({ usually: 150, all: 400 });

  it('a caption never shows a missing-glyph box, whatever marks follow whatever characters', () => {
    const texts = fc.sample(cluster, { numRuns: CLUSTERS, seed: 15 });
    expect(new Set(texts).size).toBeGreaterThan(0.875 * CLUSTERS);
    const complete = texts.filter((text) => drawable(text).missingGlyphs === 0);
    // Otherwise, the property would only test reduced clusters.
    expect(complete.length).toBeGreaterThan(0.375 * CLUSTERS);
    expect(texts.filter((text) => showsBox(drawable(text).text))).toEqual([]);
  });
});

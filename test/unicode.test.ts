// Tests text handling with the data files of the Unicode Consortium, the Big List of Naughty Strings, and a sample of
// each script drawn with the real fonts.

import { describe, expect, it } from 'vitest';
import { cleanText, isBlank } from '../src/engine/caption/clean.ts';
import { graphemes } from '../src/engine/caption/graphemes.ts';
import { MAX_TEXT_GRAPHEMES } from '../src/engine/caption/overlay.ts';
import { breakPositions } from '../src/engine/layout/breaks.ts';
import { isEmoji } from '../src/engine/layout/emoji.ts';
import { layoutOverlays } from '../src/engine/layout/layout.ts';
import type { Band } from '../src/engine/raster/band.ts';
import { TextEngine } from '../src/engine/raster/text-engine.ts';
import { dataLines, textData } from './text-data.ts';

const engine = new TextEngine();

/** Parses a line such as `÷ 0061 × 0308 ÷` into the text and the offsets of its breaks (÷). */
function parseBreakTest(line: string): { text: string; breaks: number[] } {
  let text = '';
  const breaks: number[] = [];
  for (const token of (line.split('#')[0] ?? '').trim().split(/\s+/u)) {
    if (token === '÷') breaks.push(text.length);
    else if (token !== '×') text += String.fromCodePoint(Number.parseInt(token, 16));
  }
  return { text, breaks };
}

function hexOf(text: string): string {
  return Array.from(text, (char) => (char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')).join(' ');
}

function boundaries(text: string): Set<number> {
  let at = 0;
  return new Set(graphemes(text).map((grapheme) => (at += grapheme.length)));
}

describe('GraphemeBreakTest.txt', () => {
  it('every row of GraphemeBreakTest.txt passes', () => {
    const rows = dataLines('GraphemeBreakTest.txt').map(parseBreakTest);
    expect(rows.length).toBeGreaterThan(700);
    const wrong = rows.filter(({ text, breaks }) => String([0, ...boundaries(text)]) !== String(breaks));
    expect(wrong.map(({ text }) => hexOf(text))).toEqual([]);
  });
});

describe('LineBreakTest.txt', () => {
  /**
   * The file is from Unicode 15.0, but the library implements 15.1, where LB15a and LB15b replaced LB15. Only an
   * opening quotation mark (Pi) now prevents a break after its spaces, and only a closing one (Pf) a break before it.
   */
  const CHANGED_IN_15_1: Readonly<Record<string, readonly number[]>> = {
    '0022 0020 2329': [2, 3],
    '0022 0308 0020 2329': [3, 4],
    '0022 0020 0028': [2, 3],
    '0022 0308 0020 0028': [3, 4],
    '0061 006d 0062 0069 0067 0075 00ab 0020 0028 0020 0308 0020 0029 0020 00bb 0028 0065 0308 0029': [8, 14, 19],
    '0061 006d 0062 0069 0067 0075 00ab 0020 007b 0020 0308 0020 007d 0020 00bb 0028 0065 0308 0029': [8, 14, 19],
    '0061 006d 0062 0069 0067 0075 0028 00ab 0020 0308 0020 00bb 0029 0028 0065 0308 0029': [13, 17],
    '0061 006d 0062 0069 0067 0075 007b 00ab 0020 0308 0020 00bb 007d 0028 0065 0308 0029': [13, 17],
  };

  const rows = dataLines('LineBreakTest.txt').map(parseBreakTest);

  /** UAX #14 allows a break between a space and a following joiner or skin tone. We never break inside a grapheme. */
  function insideGrapheme(text: string, position: number): boolean {
    return !boundaries(text).has(position);
  }

  /** Example 7 of 15.0 allows a break in "No.1" and ".35". Unicode 16 removed it (LB25: IS × NU). */
  function betweenPointAndDigit(text: string, position: number): boolean {
    return /^[,.:;]\d/u.test(text.slice(position - 1));
  }

  /** UAX #14 allows a line that starts with a dash. We don't, but a hyphen before a letter or digit belongs to it. */
  function beforeDash(text: string, position: number): boolean {
    return /^(?:\u2014|[-\u2010](?:[-\s]|$))/u.test(text.slice(position));
  }

  it('every row of LineBreakTest.txt passes, except breaks inside graphemes, before dashes and the two rules that changed later', () => {
    expect(rows.length).toBeGreaterThan(7_000);
    const wrong = rows.filter(({ text, breaks }) => {
      const ours = breaks.filter(
        (at) => !insideGrapheme(text, at) && !betweenPointAndDigit(text, at) && !beforeDash(text, at),
      );
      return String(breakPositions(text)) !== String(CHANGED_IN_15_1[hexOf(text)] ?? ours);
    });
    expect(wrong.map(({ text }) => hexOf(text))).toEqual([]);
  });

  it('only 8 % of the rows of LineBreakTest.txt are exceptions, nearly all with a dash or with a space before a joiner or skin tone', () => {
    const count = (exception: (text: string, position: number) => boolean): number =>
      rows.filter(({ text, breaks }) => breaks.some((position) => exception(text, position))).length;
    expect(count(insideGrapheme)).toBe(315);
    expect(count(betweenPointAndDigit)).toBe(13);
    expect(count(beforeDash)).toBe(242);
  });

  it('contains every row that is listed as changed, with other breaks', () => {
    const inFile = new Map(rows.map(({ text, breaks }) => [hexOf(text), String(breaks)]));
    for (const [hex, breaks] of Object.entries(CHANGED_IN_15_1)) {
      expect(inFile.has(hex)).toBe(true);
      expect(inFile.get(hex)).not.toBe(String(breaks));
    }
  });
});

describe('emoji data files', () => {
  const SIZE = 100;

  function widthOf(text: string): number {
    return engine.measurerFor(text).measure({ text, kind: 'emoji', rtl: false }, SIZE).width;
  }

  /** Returns the sequences of a data file whose status or type, after the first semicolon, is `kind`. */
  function sequences(file: string, kind: string): string[] {
    return dataLines(file)
      .map((line) => line.split(/[;#]/u).map((part) => part.trim()))
      .filter(([, status]) => status === kind)
      .map(([codes = '']) => String.fromCodePoint(...codes.split(' ').map((code) => Number.parseInt(code, 16))));
  }

  it.each([
    ['emoji-test.txt, fully qualified', 'emoji-test.txt', 'fully-qualified', 3_655],
    ['emoji-test.txt, minimally qualified', 'emoji-test.txt', 'minimally-qualified', 827],
    ['emoji-zwj-sequences.txt', 'emoji-zwj-sequences.txt', 'RGI_Emoji_ZWJ_Sequence', 1_350],
  ])(
    'emoji data files contain only sequences that are one grapheme, one emoji and one glyph: %s',
    (_name, file, kind, count) => {
      const all = sequences(file, kind);
      expect(all).toHaveLength(count);
      const one = widthOf('😀');
      expect(one).toBeGreaterThan(SIZE);
      const wrong = all.filter(
        (text) =>
          cleanText(text) !== text ||
          graphemes(text).length !== 1 ||
          !isEmoji(text) ||
          engine.drawable(text).missingGlyphs > 0 ||
          Math.abs(widthOf(text) - one) > 0.01,
      );
      expect(wrong.map(hexOf)).toEqual([]);
    },
  );

  it('list emoji that become text with a text selector', () => {
    const both = sequences('emoji-test.txt', 'fully-qualified').filter((text) => /^.\ufe0f$/u.test(text));
    expect(both.length).toBeGreaterThan(150);
    expect(both.filter((text) => isEmoji(text.replace('\ufe0f', '\ufe0e')))).toEqual([]);
  });
});

const CANVAS = { width: 360, height: 640 };
const BAR_ALPHA_BYTE = 153;

function draw(text: string): Band {
  const layout = layoutOverlays([{ text, position: null }], CANVAS, (caption) => engine.measurerFor(caption));
  const [band] = engine.draw(layout);
  if (!band) throw new Error('no band was drawn');
  return band;
}

/** Returns whether a column or row of a band has no text. */
function isPlain({ pixels, width, height }: Band, axis: 'column' | 'row', at: number): boolean {
  const length = axis === 'column' ? height : width;
  for (let index = 0; index < length; index += 1) {
    const pixel = (axis === 'column' ? index * width + at : at * width + index) * 4;
    if (
      pixels[pixel] !== 0 ||
      pixels[pixel + 1] !== 0 ||
      pixels[pixel + 2] !== 0 ||
      pixels[pixel + 3] !== BAR_ALPHA_BYTE
    )
      return false;
  }
  return true;
}

/** A loop, because a callback for every byte takes longer than drawing the caption. */
function hasInk({ pixels }: Band): boolean {
  for (let alpha = 3; alpha < pixels.length; alpha += 4) {
    if ((pixels[alpha] ?? 0) > BAR_ALPHA_BYTE) return true;
  }
  return false;
}

describe('the Big List of Naughty Strings', () => {
  const strings = JSON.parse(textData('naughty-strings.json')) as string[];
  const captions = strings
    .map((raw) => graphemes(cleanText(raw)).slice(0, MAX_TEXT_GRAPHEMES).join(''))
    .map(cleanText)
    .filter((text) => !isBlank(text));

  it(`the Big List of Naughty Strings is drawn inside the bars: ${captions.length} captions`, () => {
    expect(captions.length).toBeGreaterThan(480);
    const inkless: string[] = [];
    const clipped: string[] = [];
    for (const text of captions) {
      const band = draw(text);
      expect(band.top).toBeGreaterThanOrEqual(0);
      expect(band.top + band.height).toBeLessThanOrEqual(CANVAS.height);
      if (!hasInk(band)) inkless.push(text);
      // Lines use 92 % of the width. Letters can extend beyond their line a little, but never to the edge.
      const atEdge = [0, 1, 2, 357, 358, 359].some((column) => !isPlain(band, 'column', column));
      if (atEdge || !isPlain(band, 'row', 0) || !isPlain(band, 'row', band.height - 1)) clipped.push(text);
    }
    expect(inkless).toEqual([]);
    // Bars clip only large stacks of combining marks.
    expect(clipped.filter((text) => !/\p{M}{4}/u.test(text))).toEqual([]);
  });
});

describe('a sample of each script', () => {
  /** ISO 15924 codes of historical scripts, and of living ones without a font in the catalog yet. */
  const KNOWN_MISSING = `
    Ahom Armi Avst Bass Batk Berf Bhks Brah Buhd Cari Chrs Copt Cprt Diak Dogr Dsrt Elba Elym Glag Gong Gonm Goth Gran
    Hani Hano Hatr Hluw Hmng Hung Ital Kawi Khar Khoj Krai Kthi Linb Lyci Lydi Mahj Maka Mand Mani Marc Medf Mend Modi
    Mroo Mult Nagm Nand Narb Nbat Nshu Ogam Orkh Osma Ougr Palm Phag Phli Phlp Phnx Plrd Prti Rjng Samr Sarb Saur Shaw
    Shrd Sidd Sind Sogd Sogo Sora Soyo Sunu Tagb Takr Tale Tang Tirh Tnsa Todr Toto Ugar Vith Wcho Xpeo Xsux Yezi Zanb
  `;

  const samples = dataLines('script-samples.tsv')
    .slice(1)
    .map((line) => {
      const [script = '', , , tester = '', specimen = ''] = line.split('\t');
      return { script, text: cleanText(`${tester} ${specimen}`) };
    });
  const missing = samples.filter(({ text }) => engine.drawable(text).missingGlyphs > 0);
  const covered = samples.filter((sample) => !missing.includes(sample));

  it('a sample of each script has a font, or is listed as missing one', () => {
    expect(samples.length).toBeGreaterThan(150);
    expect(missing.map(({ script }) => script)).toEqual(KNOWN_MISSING.trim().split(/\s+/u));
  });

  it(`a sample of each script is drawn without missing-glyph boxes in all ${covered.length} supported scripts`, () => {
    expect(engine.drawable('\u0378').missingGlyphs).toBe(1);
    const box = draw('\u0378');
    expect(hasInk(box)).toBe(true);
    expect(isSame(draw('\u0379'), box)).toBe(true);
    const wrong = covered.flatMap(({ script, text }) =>
      [...new Set(graphemes(text))]
        .filter((grapheme) => !isBlank(grapheme))
        .map((grapheme) => ({ grapheme, band: draw(grapheme) }))
        .filter(({ band }) => !hasInk(band) || isSame(band, box))
        .map(({ grapheme }) => `${script} ${grapheme}`),
    );
    expect(wrong).toEqual([]);
  });

  function isSame(a: Band, b: Band): boolean {
    return Buffer.from(a.pixels.buffer).equals(Buffer.from(b.pixels.buffer));
  }
});

// Words that stand out, drawn with the real fonts in as many scripts as there are samples: nothing else may move or change.

import { beforeAll, describe, expect, it } from 'vitest';
import { graphemes } from '../src/engine/caption/graphemes.ts';
import type { Overlay } from '../src/engine/caption/overlay.ts';
import type { HighlightMode } from '../src/engine/caption/style.ts';
import { STYLE_PRESETS, type StylePreset } from '../src/engine/caption/style-presets.ts';
import { atOnce } from '../src/shared/slices.ts';
import { estimateWords } from '../src/engine/caption/words/estimate.ts';
import { isEmoji } from '../src/engine/layout/emoji.ts';
import { type Bar, layoutOverlays } from '../src/engine/layout/layout.ts';
import { must } from '../src/shared/must.ts';
import { wordsOf } from '../src/engine/raster/band.ts';
import { type DrawnPages, TextEngine } from '../src/engine/raster/text-engine.ts';
import { dataLines } from './text-data.ts';

const CANVAS = { width: 240, height: 426 };
const CAPTIONS = 100;
const LENGTH = 40;

const engine = new TextEngine();

interface Sample {
  readonly script: string;
  readonly text: string;
}

/** Own captions for what samples lack: mixed directions, emoji, marks and words that touch. */
const OWN: readonly Sample[] = [
  { script: 'mixed', text: 'قال لي OpenAI إن 2024 سنة جيدة 😀 حقا' },
  { script: 'mixed', text: 'שלום Storybar 42% הנחה' },
  { script: 'emoji', text: 'So 👩‍👩‍👧 fun 🇧🇷 and 👍🏽 nice' },
  { script: 'Latn', text: 'WAVE fjord Affe ‘quoted’ Ärger' },
  { script: 'Latn', text: 'Việt Ấn Độ ngữ pháp' },
];

function samples(): Sample[] {
  const rows = dataLines('script-samples.tsv')
    .slice(1)
    .flatMap((line): Sample[] => {
      const [script = '', , , tester = '', specimen = ''] = line.split('\t');
      return [tester, specimen].map((text) => ({ script, text: graphemes(text).slice(0, LENGTH).join('').trim() }));
    })
    .filter(({ text }) => engine.drawable(text).missingGlyphs === 0 && atOnce(estimateWords(text, 0, 10)).length > 1);
  return [...OWN, ...rows].slice(0, CAPTIONS);
}

function barOf(text: string, preset: StylePreset, highlight: HighlightMode): Bar {
  const words = atOnce(estimateWords(text, 0, 10));
  const style = { preset, highlight: { mode: highlight, color: '#00ff00', background: '#0000ff' } } as const;
  const overlay: Overlay = { text, position: 50, isCue: true, words, style };
  const layout = layoutOverlays([overlay], CANVAS, (caption, lang, look) => engine.measurerFor(caption, lang, look));
  return must(layout.bars[0], 'the bar');
}

function draw(bar: Bar, pages: DrawnPages): Int32Array {
  return wordsOf(must(engine.draw({ canvas: CANVAS, bars: [bar] }, pages)[0], 'the band').pixels).slice();
}

/**
 * The pixels that make each word appear, with its outline or shadow. Where lines touch, a pixel can belong to words of both.
 */
const inks = new Map<number, readonly ReadonlySet<number>[]>();

function inkOfWords(index: number): readonly ReadonlySet<number>[] {
  const known = inks.get(index);
  if (known) return known;
  const bar = barOf(must(captions[index], 'the caption').text, presetAt(index), 'reveal');
  const pages: DrawnPages = new Map();
  const states = Array.from({ length: bar.words.length + 1 }, (_, lit) => draw({ ...bar, lit }, pages));
  const found = bar.words.map((_, lit) => {
    const [before, after] = [must(states[lit], 'the state before'), must(states[lit + 1], 'the state after')];
    return new Set(changedPixels(before, after));
  });
  inks.set(index, found);
  return found;
}

/** Every preset has its turn. */
function presetAt(index: number): StylePreset {
  return must(STYLE_PRESETS[index % STYLE_PRESETS.length], 'the preset');
}

/** Whether a pixel may change with the word: it is one of its own, or in its box. */
function isOfWord(word: Bar['words'][number], ink: ReadonlySet<number>, at: number): boolean {
  const [x, y] = [at % CANVAS.width, Math.floor(at / CANVAS.width)];
  const isInBox = word.some(({ box }) => x >= box.left && x < box.right && y >= box.top && y < box.bottom);
  return ink.has(at) || isInBox;
}

function changedPixels(one: Int32Array, other: Int32Array): number[] {
  const changed: number[] = [];
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) changed.push(at);
  return changed;
}

/** Emoji have colors of their own. */
function isColorEmoji({ page }: Bar, lit: number, mode: HighlightMode): boolean {
  const { from, to } = must(page.words?.[lit], 'the word');
  return mode === 'color' && isEmoji(page.text.slice(from, to));
}

let captions: readonly Sample[] = [];
beforeAll(() => {
  captions = samples();
});

describe('a hundred captions in at least thirty scripts', () => {
  it('are what is tested', () => {
    expect(captions.length).toBe(CAPTIONS);
    expect(new Set(captions.map(({ script }) => script)).size).toBeGreaterThanOrEqual(30);
  });

  it.each(['color', 'box'] as const)('keep every pixel outside the word that stands out: %s', (mode) => {
    const wrong: string[] = [];
    for (const [index, { text }] of captions.entries()) {
      const bar = barOf(text, presetAt(index), mode);
      const pages: DrawnPages = new Map();
      const plain = draw(bar, pages);
      for (const [lit, word] of bar.words.entries()) {
        const changed = changedPixels(draw({ ...bar, lit }, pages), plain);
        const ink = must(inkOfWords(index)[lit], 'the ink of the word');
        const outside = changed.filter((at) => !isOfWord(word, ink, at));
        if (outside.length > 0) wrong.push(`${text}: ${outside.length} pixels outside of word ${lit}`);
        if (changed.length === 0 && !isColorEmoji(bar, lit, mode)) wrong.push(`${text}: nothing of word ${lit}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('appear word by word until they are the plain caption', () => {
    const wrong: string[] = [];
    for (const [index, { text }] of captions.entries()) {
      const bar = barOf(text, presetAt(index), 'reveal');
      const pages: DrawnPages = new Map();
      const plain = draw(barOf(text, presetAt(index), 'none'), new Map());
      if (changedPixels(draw({ ...bar, lit: bar.words.length }, pages), plain).length > 0)
        wrong.push(`${text}: the end`);
      const nothing = draw({ ...bar, lit: 0 }, pages);
      const seen = new Set(inkOfWords(index).flatMap((ink) => [...ink]));
      // Every pixel that makes the caption appears with one of its words.
      if (changedPixels(plain, nothing).some((at) => !seen.has(at))) wrong.push(`${text}: the union`);
    }
    expect(wrong).toEqual([]);
  });

  it('are drawn plain as they are without a highlight', () => {
    const wrong = captions.filter(({ text }, index) => {
      const plain = draw(barOf(text, presetAt(index), 'none'), new Map());
      return changedPixels(draw(barOf(text, presetAt(index), 'pop'), new Map()), plain).length > 0;
    });
    expect(wrong).toEqual([]);
  });

  it('keep the rim of a dark emoji when it pops', () => {
    const bar = barOf('🎧 headphones', 'bar', 'pop');
    const pages: DrawnPages = new Map();
    const lightPixels = (lit: number | undefined): number => {
      const pixels = draw({ ...bar, ...(lit !== undefined && { lit }) }, pages);
      const [part] = must(bar.words[0], 'the word of the emoji');
      const { left, right } = must(part, 'its part').box;
      // Rims are nearly white, and no letters are in these columns.
      const isRim = (word: number, at: number): boolean =>
        at % CANVAS.width >= left - 1 && at % CANVAS.width <= right && (word & 255) > 200 && ((word >> 16) & 255) > 200;
      return pixels.filter(isRim).length;
    };
    expect(lightPixels(undefined)).toBeGreaterThan(20);
    expect(lightPixels(0)).toBeGreaterThanOrEqual(lightPixels(undefined));
  });

  it('light up in reading order: from the right where the text runs to the left', () => {
    const leftOf = (word: Bar['words'][number]): number => Math.min(...word.map(({ box }) => box.left));
    const hebrew = barOf('שלום לכולם כאן', 'bar', 'box').words.map(leftOf);
    expect(hebrew).toEqual(hebrew.toSorted((a, b) => b - a));
    const mixed = barOf('שלום Story bar כאן', 'bar', 'box').words.map(leftOf);
    const [first = 0, second = 0, third = 0, last = 0] = mixed;
    expect(first).toBeGreaterThan(third);
    expect(third).toBeGreaterThan(second);
    expect(second).toBeGreaterThan(last);
  });
});

describe('a box behind a word', () => {
  it('is inside the bar, has the same rows for all words of a line, and never reaches the letters beside it', () => {
    const bar = barOf('One two three four five six seven', 'outline', 'box');
    for (const parts of bar.words) {
      for (const { box } of parts) {
        expect(box.top).toBeGreaterThanOrEqual(0);
        expect(box.bottom).toBeLessThanOrEqual(bar.height);
      }
    }
    const all = bar.words.flat();
    for (const parts of bar.lines.map((_, line) => all.filter((part) => part.line === line))) {
      expect(new Set(parts.map(({ box }) => `${box.top}-${box.bottom}`)).size).toBe(1);
      for (const [index, { box }] of parts.entries()) {
        expect(box.right).toBeLessThanOrEqual((parts[index + 1]?.box.left ?? CANVAS.width) + 1);
      }
    }
  });

  it.each([
    ['Arabic', 'كل كلمة تضيء عندما تقال'],
    ['Arabic with vowels below', 'بِسْمِ رَبِّ اِقْرَأِي فِي'],
    ['Thai', 'นี่ คือ ผู้ ที่ ฐู ฎุ'],
    ['Burmese', 'ကျွန်တော် တို့ မြန်မာ ကြွ'],
    ['Urdu', 'میری پیاری بچی یے'],
    ['Vietnamese', 'Ngược ẫẵ Ứng Phạ'],
  ])('contains all ink of every word: %s', (_script, text) => {
    for (const preset of STYLE_PRESETS) {
      // Only the letters of a word change their color, and both modes have the same layout.
      const bar = barOf(text, preset, 'color');
      const pages: DrawnPages = new Map();
      const plain = draw(bar, pages);
      for (const [lit, parts] of bar.words.entries()) {
        const rows = changedPixels(draw({ ...bar, lit }, pages), plain).map((at) => Math.floor(at / CANVAS.width));
        const [top, bottom] = [parts.map(({ box }) => box.top), parts.map(({ box }) => box.bottom)];
        expect(Math.min(...rows)).toBeGreaterThanOrEqual(Math.min(...top));
        expect(Math.max(...rows)).toBeLessThan(Math.max(...bottom));
      }
    }
  });
});

describe('a word that pops', () => {
  it('stays clear of the words beside it, however long it is', () => {
    const bar = barOf('a international b', 'outline', 'pop');
    const isGreen = (word: number): boolean =>
      (word & 255) < 40 && ((word >> 8) & 255) > 200 && ((word >> 16) & 255) < 40;
    const columns: number[] = [];
    for (const [at, word] of draw({ ...bar, lit: 1 }, new Map()).entries()) {
      if (isGreen(word)) columns.push(at % CANVAS.width);
    }
    const partOf = (word: number) => must(bar.words[word]?.[0], 'the part of the word');
    // A box ends in the middle of a space at most.
    expect(Math.min(...columns)).toBeGreaterThan(partOf(0).box.right - partOf(0).gap / 2);
    expect(Math.max(...columns)).toBeLessThan(partOf(2).box.left + partOf(2).gap / 2);
    expect(Math.max(...columns) - Math.min(...columns)).toBeGreaterThan(
      partOf(1).box.right - partOf(1).box.left - partOf(1).gap,
    );
  });
});

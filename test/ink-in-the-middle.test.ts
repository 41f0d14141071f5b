// Measures where the ink of whole captions is in their bars, in every script that the fonts support.

import { describe, expect, it } from 'vitest';
import { type Layout, layoutOverlays } from '../src/engine/layout/layout.ts';
import { must } from '../src/shared/must.ts';
import { TextEngine } from '../src/engine/raster/text-engine.ts';
import { dataLines } from './text-data.ts';

const engine = new TextEngine();
const CANVAS = { width: 1080, height: 1920 };
/** Half a one-line bar of the default size without the height of capitals: the space above and below capitals, in pixels. */
const SPACE_AROUND_CAPITALS = 33;
/** How deep descenders of Latin reach, and a little more. */
const DESCENDER = 14;

const CAPTIONS: readonly (readonly [name: string, text: string])[] = [
  ['Latin', 'Sunday at the lake'],
  ['Latin without capitals', 'you are so amazing'],
  ['Latin with descenders', 'gypsy pony'],
  ['Greek', 'Καλημέρα φίλοι'],
  ['Cyrillic', 'Доброе утро друзья'],
  ['Arabic', 'صباح الخير يا أصدقاء'],
  ['Arabic with deep letters', 'الطقس جميل اليوم'],
  ['vocalized Arabic', 'بِسْمِ اللَّهِ الرَّحْمَٰنِ الرَّحِيمِ'],
  ['Urdu', 'آج موسم بہت اچھا ہے'],
  ['Persian', 'امروز هوا خیلی خوب است'],
  ['Kurdish', 'هەولێر شارێکی جوانە'],
  ['Hebrew', 'הרכבת יוצאת בשעה'],
  ['vocalized Hebrew', 'בְּרֵאשִׁית בָּרָא אֱלֹהִים'],
  ['Devanagari', 'आज मौसम बहुत अच्छा है'],
  ['Bengali', 'আজ আবহাওয়া খুব সুন্দর'],
  ['Telugu', 'ఈరోజు స్నేహితులతో కలిసి'],
  ['Kannada', 'ಇಂದು ಹವಾಮಾನ ತುಂಬಾ ಚೆನ್ನಾಗಿದೆ'],
  ['Tamil', 'இன்று வானிலை நன்றாக'],
  ['Malayalam', 'ഇന്ന് കാലാവസ്ഥ വളരെ നല്ലതാണ്'],
  ['Sinhala', 'අද කාලගුණය හොඳයි'],
  ['Thai', 'วันนี้อากาศดีมาก'],
  ['Lao', 'ມື້ນີ້ອາກາດດີຫຼາຍ'],
  ['Khmer', 'ថ្ងៃនេះអាកាសធាតុល្អណាស់'],
  ['Burmese', 'ဒီနေ့ရာသီဥတုသာယာတယ်'],
  ['Javanese', 'ꦱꦸꦒꦼꦁꦫꦮꦸꦃ'],
  ['Tibetan', 'བཀྲ་ཤིས་བདེ་ལེགས།'],
  ['Han', '今天天气真好'],
  ['Hangul', '오늘 날씨가 정말 좋네요'],
  ['Georgian', 'გამარჯობა მეგობრებო'],
  ...scriptSamples(),
];

/** A few words of each script of the data file. */
function scriptSamples(): [string, string][] {
  return dataLines('script-samples.tsv')
    .slice(1)
    .map((line) => line.split('\t'))
    .map(([script = '', , , sentence = '']): [string, string] => [script, firstWords(sentence.normalize('NFC'))])
    .filter(([, text]) => engine.drawable(text).missingGlyphs === 0);
}

function firstWords(sentence: string): string {
  const words = sentence.split(' ');
  const count = words.findIndex((_, index) => words.slice(0, index + 1).join(' ').length >= 14) + 1;
  return words
    .slice(0, count || words.length)
    .join(' ')
    .slice(0, 40);
}

interface Ink {
  /** Blank rows and columns, in pixels. */
  readonly above: number;
  readonly below: number;
  readonly left: number;
  readonly right: number;
  /** How far the center of gravity is below the middle of the bar, in pixels. */
  readonly lowness: number;
}

function layoutOf(text: string): Layout {
  return layoutOverlays([{ text, position: 50 }], CANVAS, (...caption) => engine.measurerFor(...caption));
}

function inkOf(layout: Layout): Ink {
  const { width, height, pixels } = must(engine.draw(layout)[0], 'the band');
  const rows = new Float64Array(height);
  const columns = new Float64Array(width);
  for (let at = 0, pixel = 0; pixel < width * height; at += 4, pixel += 1) {
    const light = Math.max(pixels[at] ?? 0, pixels[at + 1] ?? 0, pixels[at + 2] ?? 0) / 255;
    rows[Math.floor(pixel / width)] = (rows[Math.floor(pixel / width)] ?? 0) + light;
    columns[pixel % width] = (columns[pixel % width] ?? 0) + light;
  }
  const isInked = (light: number): boolean => light > 0.2;
  const total = rows.reduce((sum, light) => sum + light, 0);
  return {
    above: rows.findIndex(isInked),
    below: rows.toReversed().findIndex(isInked),
    left: columns.findIndex(isInked),
    right: columns.toReversed().findIndex(isInked),
    lowness: rows.reduce((sum, light, row) => sum + light * (row + 0.5), 0) / total - height / 2,
  };
}

describe.each(CAPTIONS)('a caption in %s', (_name, text) => {
  it.each([1, 2, 3])('the ink of a caption is in the middle of the bar with %d times the same line', (count) => {
    const { above, below, lowness } = inkOf(layoutOf(Array.from({ length: count }, () => text).join('\n')));
    expect(below).toBeGreaterThanOrEqual(Math.min(above, SPACE_AROUND_CAPITALS) - DESCENDER);
    expect(below).toBeGreaterThanOrEqual(9);
    expect(above).toBeGreaterThanOrEqual(8);
    expect(lowness).toBeGreaterThan(-9);
    expect(lowness).toBeLessThan(8);
  });

  it('all lines of a bar have the same distance', () => {
    const { bars } = layoutOf(`${text}\n${text} 🎉\n${text}\n${text}`);
    const baselines = must(bars[0], 'the bar').lines.map(({ baseline }) => baseline);
    const distances = baselines.slice(1).map((baseline, index) => baseline - must(baselines[index], 'the baseline'));
    expect(Math.max(...distances) - Math.min(...distances)).toBeLessThanOrEqual(1);
  });
});

describe('a bar with lines of different scripts', () => {
  it.each([
    'عيد ميلاد سعيد 🎂\nHappy birthday\nسالگرہ مبارک ہو',
    'Happy birthday\nಹುಟ್ಟುಹಬ್ಬದ ಶುಭಾಶಯಗಳು\n생일 축하해\nಸ್ನೇಹಿತರೇ',
  ])('lines of different scripts have the same distance: %s', (text) => {
    const baselines = must(layoutOf(text).bars[0], 'the bar').lines.map(({ baseline }) => baseline);
    const distances = baselines.slice(1).map((baseline, index) => baseline - must(baselines[index], 'the baseline'));
    expect(Math.max(...distances) - Math.min(...distances)).toBeLessThanOrEqual(1);
  });
});

describe('Latin, Greek, Cyrillic and Hebrew', () => {
  it.each(['Hello', 'gypsy', 'ace', '(jQ@)', 'Ångström', 'Đặng Thị Ốc', 'Γεια', 'руру', 'שלום', '...', '12:30', '🎉'])(
    'ordinary letters have the same baseline: %s',
    (text) => {
      expect(layoutOf(text).bars[0]?.lines[0]?.baseline).toBe(71);
    },
  );
});

describe('an emoji', () => {
  it.each(['رمضان كريم 🌙', 'సుప్రభాతం మిత్రులారా 🎉', 'ဒီနေ့ရာသီဥတု 🌞'])(
    'an emoji is raised together with the letters beside it: %s',
    (text) => {
      const letters = must(layoutOf(text.replace(/\s*\p{Emoji_Presentation}/u, '')).bars[0]?.lines[0], 'the line');
      const line = must(layoutOf(text).bars[0]?.lines[0], 'the line');
      expect(line.baseline).toBe(letters.baseline);
      expect(line.baseline).toBeLessThan(71);
    },
  );
});

describe('full-width punctuation', () => {
  it.each([
    '今天天气真好。',
    '今天天气真好，',
    '「今天天气真好」',
    '《书》真好',
    '今日はいい天気ですね。',
    '「やった！」',
    '天気：',
    '你好！',
    '今天天氣真好。',
  ])('full-width punctuation hangs, so that the ink of a line is in the middle of the image: %s', (text) => {
    const { left, right } = inkOf(layoutOf(text));
    expect(Math.abs(left - right)).toBeLessThanOrEqual(8);
  });
});

// From a request to overlays with timed words: phrases, estimates, limits, and fields about pages.

import { describe, expect, it } from 'vitest';
import { AppError } from '../../../shared/errors.ts';
import { parseForm } from '../form.ts';
import type { Overlay } from '../overlay.ts';
import { litTimes } from './phrases.ts';

function parse(fields: Readonly<Record<string, unknown>>): readonly Overlay[] {
  const list = Object.entries(fields).map(([name, value]) => ({ name, value }));
  return parseForm({ fields: list, isJson: true, hasAsset: true, faults: [] }).overlays;
}

function codesOf(fields: Readonly<Record<string, unknown>>): string[] {
  try {
    parse(fields);
  } catch (error) {
    if (error instanceof AppError) return error.faults.map(({ pointer, code }) => `${pointer} ${code}`);
    throw error;
  }
  return [];
}

/** Words one after the other without a pause. */
function speech(text: string, seconds = 0.4): { readonly words: readonly object[] } {
  return { words: text.split(' ').map((word, at) => ({ word, start: at * seconds, end: (at + 1) * seconds })) };
}

const textsOf = (overlays: readonly Overlay[]): string[] => overlays.map(({ text }) => text);
const wordsOf = ({ text, words = [] }: Overlay): string[] =>
  words.map(({ from, to, start, end }) => `${text.slice(from, to)} ${start}-${end}`);

describe('a transcript', () => {
  it.each([
    ['English', 'Hello there. How are you? Fine!', ['Hello there.', 'How are you?', 'Fine!']],
    [
      'abbreviations',
      'Dr. Smith met J. Doe at 3.5 miles. Then left.',
      ['Dr. Smith met J. Doe at 3.5 miles.', 'Then left.'],
    ],
    ['quotes', 'She said “stop.” We didn’t.', ['She said “stop.”', 'We didn’t.']],
    ['Hindi', 'यह एक है। वह दो है।', ['यह एक है।', 'वह दो है।']],
    ['Urdu', 'یہ ایک ہے۔ وہ دو ہے۔', ['یہ ایک ہے۔', 'وہ دو ہے۔']],
    ['Arabic', 'كيف حالك؟ أنا بخير.', ['كيف حالك؟', 'أنا بخير.']],
    ['Chinese', '你 好 。 再 见 ！', ['你好。', '再见！']],
    ['Burmese', 'မင်္ဂလာပါ။ ကျေးဇူးပါ။', ['မင်္ဂလာပါ။', 'ကျေးဇူးပါ။']],
    ['Amharic', 'ሰላም ነው። ደህና ነኝ።', ['ሰላም ነው።', 'ደህና ነኝ።']],
    ['Greek', 'Τι κάνεις; Καλά είμαι.', ['Τι κάνεις;', 'Καλά είμαι.']],
    ['Armenian', 'Բարեւ ձեզ։ Լավ եմ։', ['Բարեւ ձեզ։', 'Լավ եմ։']],
  ])('becomes a phrase per sentence: %s', (_name, text, phrases) => {
    expect(textsOf(parse({ captions: speech(text) }))).toEqual(phrases);
  });

  it('also ends a phrase at a pause of 0.7 s, and shows it 0.2 s longer; otherwise until the next one starts', () => {
    const words = [
      { word: 'one', start: 1, end: 1.3 },
      { word: 'two.', start: 1.4, end: 1.8 },
      { word: 'Three', start: 2.4, end: 2.6 },
      { word: 'four', start: 3.3, end: 3.5 },
    ];
    expect(parse({ captions: { words } }).map(({ text, start, end }) => [text, start, end])).toEqual([
      ['one two.', 1, 2.4],
      ['Three', 2.4, 2.8],
      ['four', 3.3, 3.7],
    ]);
  });

  it('is paged by two lines, or by the fields of the request', () => {
    const paging = (fields: object): unknown => parse({ captions: speech('Hi there'), ...fields })[0]?.paging;
    expect(paging({})).toEqual({ maxLines: 2 });
    expect(paging({ max_words: 3 })).toEqual({ maxLines: 2, maxWords: 3 });
    expect(paging({ max_lines: 1 })).toEqual({ maxLines: 1 });
  });

  it('brings its language, unless the request has one', () => {
    const language = (value: string, lang?: string): unknown =>
      parse({ captions: { ...speech('Hi'), language: value }, lang: lang ?? null })[0]?.lang;
    expect(language('japanese')).toBe('ja');
    expect(language('en_us')).toBe('en-us');
    expect(language('ja', 'de')).toBe('de');
    expect(language('klingonese')).toBeUndefined();
  });

  it('can be JSON text, as in a form', () => {
    const captions = JSON.stringify(speech('Hi there'));
    expect(textsOf(parse({ captions }))).toEqual(['Hi there']);
    expect(codesOf({ captions: '{"words": [' })).toEqual(['#/captions invalid_captions']);
  });

  it('can have 3,000 words, and no more', () => {
    const captions = (count: number): object => speech(Array.from({ length: count }, () => 'word').join(' '));
    expect(parse({ captions: captions(3_000) })[0]?.words).toHaveLength(3_000);
    expect(codesOf({ captions: captions(3_001) })).toEqual(['#/captions too_many']);
  });
});

describe('cues', () => {
  const SRT = '0:01 --> 0:03\nGood morning, everyone\n\n0:03 --> 0:04\nBye';

  it('stay as they are without a highlight and without fields about pages', () => {
    expect(parse({ captions: SRT })).toEqual([
      { text: 'Good morning, everyone', position: null, start: 1, end: 3, isCue: true },
      { text: 'Bye', position: null, start: 3, end: 4, isCue: true },
    ]);
  });

  it('share their time among their words by length when those are needed', () => {
    const [cue] = parse({ captions: SRT, style: { highlight: 'box' } });
    expect(cue).toMatchObject({ start: 1, end: 3, isEstimated: true });
    expect(cue && wordsOf(cue)).toEqual(['Good 1-1.435', 'morning, 1.435-2.217', 'everyone 2.217-3']);
  });

  it('find the words of scripts without spaces', () => {
    const [thai] = parse({ captions: [{ text: 'สวัสดีครับ', start: 0, end: 1 }], style: { highlight: 'color' } });
    expect(thai?.words?.length).toBe(2);
    const [japanese] = parse({
      captions: [{ text: '「今日は」いい天気。', start: 0, end: 1 }],
      style: { highlight: 'color' },
    });
    expect(japanese && wordsOf(japanese).map((word) => word.split(' ')[0])).toEqual([
      '「今日',
      'は」',
      'いい',
      '天気。',
    ]);
  });

  it('can be longer than 180 characters when they are paged', () => {
    const captions = [{ text: 'word '.repeat(50), start: 0, end: 20 }];
    expect(codesOf({ captions })).toEqual(['#/captions/0 invalid_captions']);
    expect(parse({ captions, max_lines: 2 })).toHaveLength(1);
  });

  it('have the inline times of WebVTT', () => {
    const captions = 'WEBVTT\n\n00:01.000 --> 00:04.000\n<c>Never</c> <00:00:01.500>gonna &amp; <00:00:02.250>give it';
    const [cue] = parse({ captions, style: { highlight: 'reveal' } });
    expect(cue?.text).toBe('Never gonna & give it');
    expect(cue && wordsOf(cue)).toEqual(['Never 1-1.5', 'gonna & 1.5-2.25', 'give 2.25-3.344', 'it 3.344-4']);
    expect(cue?.isEstimated).toBe(true);
  });
});

describe('fields about words', () => {
  it('are checked', () => {
    const captions = speech('Hi');
    expect(codesOf({ captions, max_words: 13, max_lines: 0 })).toEqual([
      '#/max_words out_of_range',
      '#/max_lines out_of_range',
    ]);
    expect(codesOf({ captions, max_words: 'x' })).toEqual(['#/max_words wrong_type']);
    expect(codesOf({ captions, style: { highlight: 'glow' } })).toEqual(['#/style/highlight invalid_choice']);
    expect(codesOf({ captions, style: { highlight: { color: 'red', size: 2 } } })).toEqual([
      '#/style/highlight/size unknown_field',
      '#/style/highlight/mode required',
      '#/style/highlight/color invalid_color',
    ]);
    expect(codesOf({ captions, style: { case: 'title' } })).toEqual(['#/style/case invalid_choice']);
  });
});

describe('litTimes', () => {
  it('lights a word until the next one starts, or until its own end before a gap of more than 0.7 s', () => {
    const words = [
      { from: 0, to: 1, start: 1, end: 1.2 },
      { from: 2, to: 3, start: 1.9, end: 2 },
      { from: 4, to: 5, start: 2.8, end: 3 },
    ];
    expect(litTimes(words, 3.2).map(({ end }) => end)).toEqual([1.9, 2, 3.2]);
    expect(litTimes(words, 9).at(-1)?.end).toBe(3);
  });
});

it('words with estimated times never overlap, whatever stands between them', () => {
  const captions = '1\n00:00:01,000 --> 00:00:02,000\nOne ( ) two [!] - ) three';
  const [overlay] = parse({ captions, max_lines: 2 });
  const words = overlay?.words ?? [];
  expect(words.map(({ from, to }) => overlay?.text.slice(from, to))).toEqual(['One', '( ) two [!]', '- ) three']);
});

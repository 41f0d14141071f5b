import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FieldFault } from '../../../shared/errors.ts';
import { must } from '../../../shared/must.ts';
import { atOnce } from '../../../shared/slices.ts';
import { readTranscript } from './transcripts.ts';

const GUIDE = readFileSync(path.join(import.meta.dirname, '../../../../docs/guides/word-captions.md'), 'utf8');

/** The example under a heading of the guide. */
function example(heading: string): unknown {
  const section = must(GUIDE.split(`### ${heading}`)[1], `the section ${heading}`);
  return JSON.parse(must(/```json\n(?<json>.*?)```/su.exec(section)?.groups?.['json'], 'the example'));
}

interface Read {
  readonly texts: readonly string[];
  readonly words: readonly string[];
  readonly isSpeech: boolean | undefined;
  readonly isEstimated: boolean;
  readonly faults: readonly string[];
}

function read(value: unknown): Read {
  const faults: FieldFault[] = [];
  const transcript = atOnce(readTranscript(value, faults));
  const cues = transcript?.cues ?? [];
  return {
    texts: cues.map(({ text }) => text),
    words: cues.flatMap(({ text, words = [] }) =>
      words.map(({ from, to, start, end }) => `${text.slice(from, to)} ${start}-${end}`),
    ),
    isSpeech: transcript?.isSpeech,
    isEstimated: cues.some(({ isEstimated }) => isEstimated === true),
    faults: faults.map(({ pointer, code }) => `${pointer} ${code}`),
  };
}

/** Words one after the other, half a second each. */
function timed(texts: readonly string[]): object[] {
  return texts.map((text, index) => ({ text, start: index / 2, end: index / 2 + 0.5 }));
}

describe('the documented example of', () => {
  it('OpenAI gets its punctuation from the text, and times in whole milliseconds', () => {
    const { texts, words, isSpeech } = read(example('OpenAI'));
    expect(texts).toEqual(['The beach was a popular spot. People were swimming in the ocean, building sandcastles.']);
    expect(words[5]).toBe('spot. 1.38-1.76');
    expect(words[11]).toBe('ocean, 4.52-4.84');
    expect(words.at(-1)).toBe('sandcastles. 5.52-6.24');
    expect(isSpeech).toBe(true);
  });

  it("Whisper has its parts of words joined, such as That and 's", () => {
    const { words } = read(example('Whisper, WhisperX'));
    expect(words).toEqual([
      "That's 0.16-0.49",
      'one 0.54-0.81',
      'small 0.81-1.35',
      'step 1.35-1.9',
      'for 2.3-2.6',
      'man. 2.6-3.2',
    ]);
  });

  it('whisper.cpp has its tokens joined to words', () => {
    const { words } = read(example('whisper.cpp\n'));
    expect(words).toEqual(['And 0.22-0.32', 'so 0.33-0.45', 'my 0.56-0.74', 'fellow 0.85-1.6', 'Americans 1.7-2.6']);
  });

  it('Deepgram has its words with punctuation', () => {
    const { texts, words } = read(example('Deepgram'));
    expect(texts).toEqual(["Yeah. As as much as, it's worth celebrating."]);
    expect(words.slice(0, 2)).toEqual(['Yeah. 0.08-0.32', 'As 0.32-0.8']);
  });

  it('AssemblyAI has times in milliseconds', () => {
    expect(read(example('AssemblyAI')).words).toEqual([
      'Smoke 0.25-0.65',
      'from 0.73-1.022',
      'hundreds 1.076-1.418',
      'of 1.434-1.614',
      'wildfires. 1.652-2.346',
    ]);
  });

  it('ElevenLabs has no sounds among its words', () => {
    const { texts, words } = read(example('ElevenLabs'));
    expect(texts).toEqual(['With a soft and whispery voice.']);
    expect(words).toHaveLength(6);
  });

  it('our own cues stays cues, with and without words', () => {
    const { texts, words, isSpeech } = read(example('Your own cues'));
    expect(texts).toEqual(['Never gonna give', 'you up']);
    expect(words).toEqual(['Never 1.2-1.6', 'gonna 1.65-2', 'give 2.1-2.6']);
    expect(isSpeech).toBe(false);
  });
});

describe('words', () => {
  it.each([
    ['Japanese', ['今日', 'は', 'いい', '天気', 'です', 'ね', '。'], '今日はいい天気ですね。'],
    ['Chinese with Latin', ['我', '用', 'iPhone', '拍摄', '。'], '我用iPhone拍摄。'],
    ['Thai', ['สวัสดี', 'ครับ', 'OpenAI', 'ดี'], 'สวัสดีครับ OpenAI ดี'],
    ['Khmer', ['ខ្ញុំ', 'ស្រឡាញ់', 'អ្នក', '។'], 'ខ្ញុំស្រឡាញ់អ្នក។'],
    ['Korean', ['안녕', '하세요', '여러분'], '안녕 하세요 여러분'],
    ['Arabic', ['مرحبا', 'بالعالم', '؟'], 'مرحبا بالعالم؟'],
    ['Spanish', ['¿', 'Qué', 'tal', '?'], '¿Qué tal?'],
  ])('are joined as %s is written', (_language, texts, joined) => {
    expect(read({ words: timed(texts) }).texts).toEqual([joined]);
  });

  it('have their boundaries at the edges of clusters, so that a family or a conjunct stays whole', () => {
    const { words } = read({ text: 'क्षमा 👩‍👧', words: timed(['क्', 'षमा', '👩', '\u200d👧']) });
    expect(words).toEqual(['क्ष 0-0.5', 'मा 0.5-1', '👩‍👧 1-1.5']);
  });

  it('without times in a segment share what their neighbors leave', () => {
    const words = [{ word: 'In', start: 1, end: 1.2 }, { word: '2014' }, { word: 'we', start: 2.2, end: 2.4 }];
    const { words: found, isEstimated } = read({ segments: [{ start: 1, end: 3, text: 'In 2014 we', words }] });
    expect(found).toEqual(['In 1-1.2', '2014 1.2-2.2', 'we 2.2-2.4']);
    expect(isEstimated).toBe(true);
  });

  it('that overlap end where the next one starts, and equal starts become a millisecond apart', () => {
    const words = [
      { text: 'a', start: 1, end: 3 },
      { text: 'b', start: 2, end: 2 },
      { text: 'c', start: 2, end: 2.5 },
    ];
    expect(read({ words }).words).toEqual(['a 1-2', 'b 2-2', 'c 2.001-2.5']);
  });

  it('of an entry per word of whisper.cpp become speech', () => {
    const transcription = [' Ask', ' not', '.'].map((text, at) => ({
      text,
      offsets: { from: at * 100, to: at * 100 + 90 },
    }));
    expect(read({ transcription })).toMatchObject({ texts: ['Ask not.'], isSpeech: true });
  });

  it('of segments without words stay cues', () => {
    const segments = [{ id: 0, start: 0, end: 2, text: ' Hello there' }];
    expect(read({ segments, text: ' Hello there' })).toMatchObject({ texts: ['Hello there'], isSpeech: false });
  });
});

describe('a fault', () => {
  it.each<[string, unknown, string]>([
    ['a wrong type', { words: [{ word: 'a', start: '1', end: 2 }] }, '#/captions/words/0/start'],
    ['a missing end', { words: [{ word: 'a', start: 1 }] }, '#/captions/words/0/end'],
    ['a missing text', { words: [{ start: 1, end: 2 }] }, '#/captions/words/0'],
    ['an end before the start', { words: [{ word: 'a', start: 2, end: 1 }] }, '#/captions/words/0/end'],
    ['a word that is too long', { words: [{ word: 'a'.repeat(61), start: 1, end: 2 }] }, '#/captions/words/0'],
    ['words out of order', { words: timed(['a', 'b']).toReversed() }, '#/captions/words/1/start'],
    [
      'a word of a cue',
      [{ text: 'a', start: 0, end: 1, words: [{ text: 'a', start: -1, end: 1 }] }],
      '#/captions/0/words/0/start',
    ],
    ['a cue without an end', [{ text: 'a', start: 0 }], '#/captions/0/end'],
    ['a number instead of a cue', [1], '#/captions/0'],
    ['a word of a segment', { segments: [{ words: [1] }] }, '#/captions/segments/0/words/0'],
    [
      'a word of Deepgram',
      { results: { channels: [{ alternatives: [{ words: [{ word: 'a', start: 0 }] }] }] } },
      '#/captions/results/channels/0/alternatives/0/words/0/end',
    ],
    ['an entry of whisper.cpp', { transcription: [{ text: 'a' }] }, '#/captions/transcription/0'],
    ['an unknown shape', { sentences: [] }, '#/captions'],
  ])('names the place of %s', (_name, value, pointer) => {
    expect(read(value).faults).toEqual([`${pointer} invalid_captions`]);
  });

  it('of an unknown shape lists the known ones', () => {
    const faults: FieldFault[] = [];
    atOnce(readTranscript({ monologues: [] }, faults));
    expect(faults[0]?.detail).toMatch(/Deepgram.*whisper\.cpp.*OpenAI.*ElevenLabs.*AssemblyAI/su);
  });
});

import { describe, expect, it } from 'vitest';
import { type Heard, spokenTranscript } from './spoken.ts';
import { transcriptLanguage } from './transcript-language.ts';

const heard = (changes: Partial<Heard>): Heard => ({ text: '', words: [], segments: [], ...changes });

describe('what a service heard', () => {
  it.each([
    ['nothing', heard({})],
    ['blank text', heard({ text: ' \n', segments: [{ text: ' ', words: [] }] })],
    [
      'the description of a sound',
      heard({ text: '[BLANK_AUDIO]', words: [{ text: '[BLANK_AUDIO]', start: 0, end: 1 }] }),
    ],
    ['music', heard({ text: '♪ ♪ (upbeat music) *claps*' })],
    ['punctuation', heard({ text: '...', words: [{ text: '...' }] })],
  ])("%s doesn't count as speech", (_what, value) => {
    expect(spokenTranscript(value, 10)).toBeUndefined();
  });

  it('sounds between words are left out, and words in parentheses stay', () => {
    const words = ['[Music]', 'Hello', '(hello)', '♪'].map((text, index) => ({ text, start: index, end: index + 1 }));
    expect(spokenTranscript(heard({ text: '[Music] Hello (hello) ♪', words }), 10)).toMatchObject({
      text: 'Hello (hello)',
      words: [{ text: 'Hello' }, { text: '(hello)' }],
    });
  });

  it('times stay inside the sound, in order, and words without times follow the word before them', () => {
    const words = [
      { text: 'a', start: -3, end: 2 },
      { text: 'b' },
      { text: 'c', start: 1.95, end: 1 },
      { text: 'd', start: 5, end: Number.POSITIVE_INFINITY },
    ];
    expect(spokenTranscript(heard({ words }), 4)?.words).toEqual([
      { text: 'a', start: 0, end: 2 },
      { text: 'b', start: 2, end: 2 },
      { text: 'c', start: 2, end: 2 },
      { text: 'd', start: 4, end: 4 },
    ]);
  });

  it('a little disorder of times keeps the order of words, and more changes it', () => {
    const at = (...starts: number[]) =>
      spokenTranscript(heard({ words: starts.map((start, index) => ({ text: `w${index}`, start, end: start })) }), 9)
        ?.words?.map(({ text }) => text)
        .join(' ');
    expect(at(1, 0.95, 2)).toBe('w0 w1 w2');
    expect(at(3, 1, 2)).toBe('w1 w2 w0');
  });

  it('segments have a duration, and those of sounds are left out', () => {
    const segments = [
      { text: ' [Music]', start: 0, end: 2, words: [] },
      { text: ' Hello.', start: 2, end: 2, words: [] },
    ];
    expect(spokenTranscript(heard({ segments }), 4)).toEqual({ segments: [{ text: 'Hello.', start: 2, end: 2.1 }] });
  });
});

describe('the language of a transcript', () => {
  it.each([
    ['english', 'en'],
    ['Japanese', 'ja'],
    ['cantonese', 'yue'],
    ['en_us', 'en-us'],
    ['zh', 'zh'],
    ['klingon-ish', undefined],
    [7, undefined],
  ])('%s is %s', (value, tag) => {
    expect(transcriptLanguage(value)).toBe(tag);
  });
});

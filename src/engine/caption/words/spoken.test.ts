import { describe, expect, it } from 'vitest';
import { type Heard, spokenTranscript, UnusableTranscript } from './spoken.ts';
import { MAX_WORDS } from './timed-words.ts';
import { transcriptLanguage } from './transcript-language.ts';

const heard = (changes: Partial<Heard>): Heard => ({ text: '', words: [], segments: [], ...changes });
/** A sound that can be heard from its start to its end. */
const loud = (seconds: number) => ({ seconds, audible: '1'.repeat(seconds * 10) });
const segment = (text: string, start: number, changes: object = {}) => ({
  text,
  start,
  end: start + 1,
  words: [],
  ...changes,
});
const textsOf = (transcript: ReturnType<typeof spokenTranscript>) =>
  (transcript?.words ?? transcript?.segments ?? []).map(({ text }) => text);

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
    expect(spokenTranscript(value, loud(10))).toBeUndefined();
  });

  it('sounds between words are left out, and words in parentheses stay', () => {
    const words = ['[Music]', 'Hello', '(hello)', '♪'].map((text, index) => ({ text, start: index, end: index + 1 }));
    expect(spokenTranscript(heard({ text: '[Music] Hello (hello) ♪', words }), loud(10))).toEqual({
      text: 'Hello (hello)',
      words: [
        { text: 'Hello', start: 1, end: 2 },
        { text: '(hello)', start: 2, end: 3 },
      ],
    });
  });

  it('times stay inside the sound and in order, and words without times get none', () => {
    const words = [
      { text: 'a', start: -3, end: 2 },
      { text: 'b' },
      { text: 'c', start: 1.95, end: 1 },
      { text: 'd', start: 3.5, end: Number.POSITIVE_INFINITY },
    ];
    expect(spokenTranscript(heard({ words }), loud(4))?.segments).toEqual([
      {
        text: '',
        start: 0,
        end: 4,
        words: [
          { text: 'a', start: 0, end: 2 },
          { text: 'b' },
          { text: 'c', start: 1.95, end: 1.95 },
          { text: 'd', start: 3.5, end: 4 },
        ],
      },
    ]);
  });

  it('a little disorder of times keeps the order of words, and more changes it', () => {
    const at = (...starts: number[]) =>
      textsOf(
        spokenTranscript(
          heard({ words: starts.map((start, index) => ({ text: `w${index}`, start, end: start })) }),
          loud(9),
        ),
      ).join(' ');
    expect(at(1, 0.95, 2)).toBe('w0 w1 w2');
    expect(at(3, 1, 2)).toBe('w1 w2 w0');
  });

  it('segments have a duration, and those of sounds are left out', () => {
    const segments = [segment(' [Music]', 0), { ...segment(' Hello.', 2), end: 2 }];
    expect(spokenTranscript(heard({ segments }), loud(4))).toEqual({
      segments: [{ text: 'Hello.', start: 2, end: 2.1 }],
    });
  });

  it('segments without words get words without times where other segments have some', () => {
    const segments = [segment('Hello', 0, { words: [{ text: 'Hello', start: 0.2, end: 0.5 }] }), segment('you two', 1)];
    expect(spokenTranscript(heard({ segments }), loud(4))?.segments?.map(({ words }) => words)).toEqual([
      [{ text: 'Hello', start: 0.2, end: 0.5 }],
      [{ text: ' you' }, { text: ' two' }],
    ]);
  });

  it('words of more than 60 characters are cut, which is noted', () => {
    const words = [{ text: 'a'.repeat(61), start: 0, end: 1 }];
    expect(spokenTranscript(heard({ words }), loud(2))).toMatchObject({
      words: [{ text: 'a'.repeat(60) }],
      hasCutWords: true,
    });
  });
});

describe('what was probably not said', () => {
  const silence = { noSpeechProbability: 0.7, logProbability: -1.2 };

  it.each([
    ['a segment that Whisper takes for silence', [segment('Thanks for watching!', 1, silence)], 3],
    ['a segment that compresses too well', [segment('no no no no', 1, { compressionRatio: 2.5 })], 4],
    ['a segment more than three times in a row', [1, 2, 3, 4, 5].map((at) => segment(' So so.', at)), 10],
  ])('%s is left out and counted', (_what, invented, count) => {
    const segments = [segment('Hello.', 0), ...invented, segment('Bye.', 8)];
    const read = spokenTranscript(heard({ segments }), loud(10));
    expect(textsOf(read)).toEqual(['Hello.', 'Bye.']);
    expect(read?.uncertainWords).toBe(count);
    expect(spokenTranscript(heard({ segments: invented }), loud(10))).toBeUndefined();
  });

  it.each([
    ['a doubtful segment that is probable', { noSpeechProbability: 0.7, logProbability: -0.9 }],
    ['an improbable segment with speech', { noSpeechProbability: 0.5, logProbability: -1.2 }],
    ['a segment that compresses as speech does', { compressionRatio: 2.4 }],
  ])('%s stays', (_what, changes) => {
    const read = spokenTranscript(heard({ segments: [segment('Hello.', 0, changes)] }), loud(2));
    expect(read).toEqual({ segments: [{ text: 'Hello.', start: 0, end: 1 }] });
  });

  it('the same segment three times in a row stays, and more often if its compression ratio is that of speech', () => {
    const repeated = (times: number, changes: object) =>
      textsOf(
        spokenTranscript(
          heard({ segments: Array.from({ length: times }, (_, at) => segment('Go!', at, changes)) }),
          loud(10),
        ),
      );
    expect(repeated(3, {})).toHaveLength(3);
    expect(repeated(5, { compressionRatio: 1 })).toHaveLength(5);
  });

  it('words beside the segments are left out with their segment, and the others keep their punctuation', () => {
    const words = ['Hello', 'there', 'thanks', 'friend'].map((text, at) => ({ text, start: at, end: at + 0.5 }));
    const segments = [
      { ...segment(' Hello, there.', 0), end: 2 },
      segment(' Thanks!', 2, silence),
      segment(' Friend?', 3),
    ];
    const read = spokenTranscript(heard({ text: 'Hello, there. thanks! friend?', words, segments }), loud(10));
    expect(read).toMatchObject({ uncertainWords: 1 });
    expect(textsOf(read)).toEqual(['Hello,', ' there.', ' friend?']);
  });

  it('words whose sound stays below the level are left out, with a tolerance of their times', () => {
    const words = [0, 1.1, 3].map((start, at) => ({ text: `w${at}`, start, end: start + 0.2 }));
    const audible = '11111111110000000000000000000000000000000';
    const read = spokenTranscript(heard({ text: 'w0, w1. w2', words }), { seconds: 4, audible });
    expect(textsOf(read)).toEqual(['w0,', ' w1.']);
    expect(read?.uncertainWords).toBe(1);
    const silent = { seconds: 4, audible: '0'.repeat(40) };
    expect(spokenTranscript(heard({ words }), silent)).toBeUndefined();
    expect(spokenTranscript(heard({ segments: [segment('Hello', 0)] }), silent)).toBeUndefined();
  });

  it('what starts after the end of the sound is left out', () => {
    const words = [{ text: 'late', start: 60, end: 61 }];
    expect(spokenTranscript(heard({ words }), loud(2))).toBeUndefined();
    expect(spokenTranscript(heard({ segments: [segment('late', 60)] }), loud(2))).toBeUndefined();
  });
});

describe('a transcript that is too much', () => {
  const words = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ text: 'w', start: at / 100, end: at / 100 }));

  it.each([
    [
      'text without times',
      heard({ text: 'Hello', words: [{ text: 'Hello' }], segments: [{ text: 'Hello', words: [] }] }),
    ],
    ['too many words', heard({ words: words(MAX_WORDS + 1) })],
    ['too many words in segments', heard({ segments: [segment('', 0, { words: words(MAX_WORDS + 1) })] })],
    ['too many words in the text of segments', heard({ segments: [segment('a '.repeat(MAX_WORDS + 1), 0)] })],
    ['too much text', heard({ text: 'a'.repeat(60_001), words: words(1) })],
    ['too many parts of text', heard({ text: '. '.repeat(6_001), words: words(1) })],
    ['too much text of words', heard({ words: words(2_000).map((word) => ({ ...word, text: 'a'.repeat(31) })) })],
  ])('%s is the fault of the service', (_what, value) => {
    expect(() => spokenTranscript(value, loud(60))).toThrow(UnusableTranscript);
  });

  it('the highest number of words passes', () => {
    expect(spokenTranscript(heard({ words: words(MAX_WORDS) }), loud(60))?.words).toHaveLength(MAX_WORDS);
  });
});

describe('the length of a transcript', () => {
  it('of 100,000 brackets nothing is read', () => {
    expect(() =>
      spokenTranscript(heard({ text: '['.repeat(100_000), words: [{ text: 'a', start: 0, end: 1 }] }), loud(2)),
    ).toThrow('more than 60000 characters');
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

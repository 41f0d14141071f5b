import { describe, expect, it } from 'vitest';
import { eachGrapheme } from './graphemes.ts';
import { CHARACTERS, SENTENCES, segmentsIn, WORDS } from './segments.ts';

const TEXT = 'Dr. No said “hi” to 漢字 and ภาษาไทย. 3.5 kg? Yes! 👨‍👩‍👧‍👦🇯🇵🇫🇷 क्षि ẹ̀ 한국어. it goes on... And on. ';

describe('segments in windows', () => {
  it.each([
    ['characters', 'grapheme', CHARACTERS],
    ['words', 'word', WORDS],
    ['sentences', 'sentence', SENTENCES],
  ] as const)('%s are those of the whole text', (_name, granularity, window) => {
    const segmenter = new Intl.Segmenter('und', { granularity });
    const text = TEXT.repeat(60);
    const whole = Array.from(segmenter.segment(text), ({ segment, index }) => ({ segment, index }));
    expect([...segmentsIn(text, segmenter, window)]).toEqual(whole);
  });

  it('a segment can be longer than a window', () => {
    const segmenter = new Intl.Segmenter('und', { granularity: 'sentence' });
    const long = `${'word '.repeat(1_000)}end. `;
    expect(Array.from(segmentsIn(`${long}${long}Last.`, segmenter, SENTENCES), ({ index }) => index)).toEqual([
      0,
      long.length * 2,
    ]);
  });

  it('letters that need no segmenter are a character each, whatever is beside them', () => {
    const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });
    const letters = Array.from({ length: 0xffff }, (_, code) => String.fromCharCode(code + 1)).join('');
    const separate = letters.match(
      /[ -~\u00a0-\u02ff\u0370-\u0482\u048a-\u058f\u2010-\u2027\u3001-\u3029\uff01-\uff60]/gu,
    );
    for (const text of [separate?.join('') ?? '', separate?.join('가') ?? '', 'ア漢ー가각가'.repeat(10)]) {
      const whole = Array.from(segmentsIn(text, segmenter, CHARACTERS), ({ segment }) => segment);
      expect(Array.from(eachGrapheme(text), ({ segment }) => segment)).toEqual(whole);
    }
  });
});

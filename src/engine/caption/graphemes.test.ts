import { describe, expect, it } from 'vitest';
import { countGraphemes, graphemes } from './graphemes.ts';

const SINGLE_GRAPHEMES = [
  ['a letter with two marks', 'ẹ̀'],
  ['a family', '👨‍👩‍👧‍👦'],
  ['a skin tone', '👍🏽'],
  ['a flag', '🇯🇵'],
  ['a flag made of tags', '🏴󠁧󠁢󠁳󠁣󠁴󠁿'],
  ['a keycap', '#️⃣'],
  ['an Indic conjunct', 'क्षि'],
  ['a Hangul syllable in letters', '\u1112\u1161\u11ab'],
  ['a Thai letter with vowel and tone', 'ที่'],
  ['a Tamil letter with a spacing vowel', 'நி'],
] as const;

describe('graphemes', () => {
  it.each(SINGLE_GRAPHEMES)('counts %s as one character', (_name, text) => {
    expect(graphemes(text)).toEqual([text]);
    expect(countGraphemes(text)).toBe(1);
  });

  it.each([
    ['two flags', '🇯🇵🇫🇷', ['🇯🇵', '🇫🇷']],
    ['letters and an emoji', 'ab👩‍🚀', ['a', 'b', '👩‍🚀']],
    ['Arabic letters that join', 'سلام', ['س', 'ل', 'ا', 'م']],
    ['an empty text into nothing', '', []],
  ])('splits %s', (_name, text, expected) => {
    expect(graphemes(text)).toEqual(expected);
    expect(countGraphemes(text)).toBe(expected.length);
  });

  it('concatenate to the original text', () => {
    const text = SINGLE_GRAPHEMES.map(([, sample]) => sample).join(' ');
    expect(graphemes(text).join('')).toBe(text);
  });
});

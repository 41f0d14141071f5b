// Random captions for property tests: many scripts, both directions, emoji, numbers, newlines and long words.

import fc from 'fast-check';
import { cleanText, isBlank } from '../src/engine/caption/clean.ts';
import { graphemes } from '../src/engine/caption/graphemes.ts';
import { MAX_TEXT_GRAPHEMES } from '../src/engine/caption/overlay.ts';

const WORDS = {
  ltr: words(`
    hello Ångström gjpqy don’t e-mail #sunset https://example.com/a?b=c Привет Ελλάδα supercalifragilisticexpialidocious
    日本語 「東京」 한국어 สวัสดีครับ नमस्ते தமிழ் བཀྲ་ཤིས་
  `),
  rtl: ['שלום', 'עולם', 'בְּרֵאשִׁית', 'مرحبا', 'العالم', 'السَّلام', 'می‌خواهم', '𞤀𞤣𞤤𞤢𞤥', '،', '؟'],
  number: ['1', '18:45', '3.14', '50%', '$1,234.50', '٢٠٢٤', '+972-3-123'],
  emoji: ['😀', '👨‍👩‍👧‍👦', '🏳️‍🌈', '🇯🇵', '👍🏽', '#️⃣', '❤️', '🏴󠁧󠁢󠁳󠁣󠁴󠁿'],
  punctuation: ['.', ',', '!', '?', '(', ')', '"', '…', '-', '/', '，', '。', '：'],
} as const;

const GLUE = ['', ' ', ' ', ' ', ' ', '  ', '\u00a0', '\n', '\n\n'] as const;

type WordKind = keyof typeof WORDS;

/** Captions of these kinds of words: cleaned, not blank, and within the length limit. */
function captionsOf(...kinds: readonly WordKind[]): fc.Arbitrary<string> {
  const word = fc.oneof(...kinds.map((kind) => fc.constantFrom(...WORDS[kind])));
  return fc
    .array(fc.tuple(word, fc.constantFrom(...GLUE)), { minLength: 1, maxLength: 40 })
    .map((pairs) =>
      graphemes(cleanText(pairs.flat().join('')))
        .slice(0, MAX_TEXT_GRAPHEMES)
        .join(''),
    )
    .map(cleanText)
    .filter((text) => !isBlank(text));
}

export const anyCaption = captionsOf('ltr', 'rtl', 'number', 'emoji', 'punctuation');
export const ltrCaption = captionsOf('ltr', 'emoji', 'punctuation');

/** All side lengths that the API allows. Small ones are as likely as large ones. */
const side = fc.oneof(
  fc.integer({ min: 16, max: 200 }),
  fc.integer({ min: 200, max: 2_000 }),
  fc.integer({ min: 2_000, max: 8_192 }),
);
export const anyCanvas = fc.record({ width: side, height: side });

function words(text: string): string[] {
  return text.trim().split(/\s+/u);
}

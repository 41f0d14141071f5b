// Makes the text of a caption out of words. Where the input has the text that the words are from, it decides about spaces and
// punctuation. Otherwise spaces in the input do, and otherwise the scripts of both words.

import { atOnce } from '../../../shared/slices.ts';
import type { Steps } from '../../../shared/steps.ts';
import { cleanText } from '../clean.ts';

/** A word of the input. */
export interface InputWord {
  /** Cleaned, without spaces around it. */
  readonly text: string;
  /** True if the input has a space before it. */
  readonly hasSpace: boolean;
}

export interface TextRange {
  readonly from: number;
  readonly to: number;
}

/** One range per word. */
interface JoinedText {
  readonly text: string;
  readonly ranges: readonly TextRange[];
}

/** East Asian letters and punctuation, which have no space on either side. */
const CJK = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\u3001-\u303f\u30fc\uff01-\uff65`;
/** Scripts with spaces between phrases, not between words. */
const UNSPACED = [
  'Thai',
  'Lao',
  'Khmer',
  'Myanmar',
  'Tibetan',
  'Javanese',
  'Balinese',
  'Tai_Tham',
  'Tai_Le',
  'New_Tai_Lue',
]
  .map((script) => String.raw`\p{Script=${script}}`)
  .join('');
const CJK_AT_JOINT = new RegExp(`(?:[${CJK}]\\p{M}*$)`, 'u');
const STARTS_WITH_CJK = new RegExp(`^[${CJK}]`, 'u');
/** Enough for a letter with its marks. */
const JOINT_CHARACTERS = 16;
const ENDS_UNSPACED = new RegExp(`[${UNSPACED}]$`, 'u');
const STARTS_UNSPACED = new RegExp(`^[${UNSPACED}]`, 'u');
const ENDS_WITH_OPENING = /[\p{Ps}\p{Pi}¿¡]$/u;
const PUNCTUATION_ONLY = /^[\p{Po}\p{Pe}\p{Pf}]+$/u;
const LETTER_OR_DIGIT = /[\p{L}\p{N}\p{So}]/u;

/** Matches text of scripts that have no spaces between words. */
export const HAS_UNSPACED_WORDS: RegExp = new RegExp(`[${CJK}${UNSPACED}]`, 'u');

/** Returns true if words that meet like this are written with a space between them. */
export function needsSpace(textBefore: string, after: string): boolean {
  // The text before may be a whole transcript, and only its end matters.
  const before = textBefore.slice(-JOINT_CHARACTERS);
  if (CJK_AT_JOINT.test(before) || STARTS_WITH_CJK.test(after)) return false;
  if (ENDS_UNSPACED.test(before) && STARTS_UNSPACED.test(after)) return false;
  return !ENDS_WITH_OPENING.test(before) && !PUNCTUATION_ONLY.test(after);
}

/** Whisper writes a space before every word, so the input decides. Others write none. */
function isSpacedInput(words: readonly InputWord[]): boolean {
  const spaced = words.filter(({ hasSpace }, index) => index > 0 && hasSpace).length;
  return spaced > 0 && spaced >= (words.length - 1) / 3;
}

/** Returns for each entry whether it is a part of the word before it: punctuation, or what the input writes without a space. */
export function* partsOfWords(words: readonly InputWord[]): Steps<boolean[]> {
  const isDecided = isSpacedInput(words);
  const areParts: boolean[] = [];
  for (const [index, { text, hasSpace }] of words.entries()) {
    yield;
    const before = words[index - 1];
    const canBePart = before !== undefined && !hasSpace;
    areParts.push(canBePart && (PUNCTUATION_ONLY.test(text) || (isDecided && needsSpace(before.text, text))));
  }
  return areParts;
}

export function* joinWords(words: readonly InputWord[]): Steps<JoinedText> {
  const isDecided = isSpacedInput(words);
  let text = '';
  const ranges: TextRange[] = [];
  for (const [index, { text: word, hasSpace }] of words.entries()) {
    yield;
    const isSpaced = hasSpace || (!isDecided && needsSpace(words[index - 1]?.text ?? '', word));
    if (index > 0 && isSpaced) text += ' ';
    const from = text.length;
    text += word;
    ranges.push({ from, to: text.length });
  }
  return { text, ranges };
}

/** Finds the words in their text. Undefined where they differ in more than punctuation. */
export function* alignWords(text: string, words: readonly InputWord[]): Steps<JoinedText | undefined> {
  const found: { from: number; to: number }[] = [];
  let cursor = 0;
  for (const { text: wanted } of words) {
    yield;
    const at = text.indexOf(wanted, cursor);
    if (at < 0 || LETTER_OR_DIGIT.test(text.slice(cursor, at))) return undefined;
    found.push({ from: at, to: at + wanted.length });
    cursor = at + wanted.length;
  }
  if (found.length === 0 || LETTER_OR_DIGIT.test(text.slice(cursor))) return undefined;
  yield* shareGaps(text, found);
  return { text, ranges: found };
}

/** Punctuation between two words belongs to the one that it touches, and otherwise to the first. */
function* shareGaps(text: string, found: { from: number; to: number }[]): Steps<void> {
  const [first, last] = [found[0], found.at(-1)];
  if (!first || !last) return;
  first.from = text.length - text.trimStart().length;
  last.to = text.trimEnd().length;
  for (const [index, next] of found.entries()) {
    const before = found[index - 1];
    if (!before) continue;
    yield;
    const gap = text.slice(before.to, next.from);
    const parts = /^(?<left>\S*)(?<space>\s(?:.*\s)?)?(?<right>\S*)$/su.exec(gap)?.groups;
    const { left = '', space = '', right = '' } = parts ?? {};
    const opening = space === '' ? openingAtEnd(left) : '';
    // Punctuation between two spaces, such as a dash, belongs to the first word.
    const middle = space.trim() === '' ? '' : space.trimEnd();
    before.to += left.length - opening.length + middle.length;
    next.from -= space === '' ? opening.length : right.length;
  }
}

function openingAtEnd(text: string): string {
  let from = text.length;
  while (from > 0 && ENDS_WITH_OPENING.test(text.charAt(from - 1))) from -= 1;
  return text.slice(from);
}

/** Cleans a text of any length, word by word. Line breaks stay. */
export function cleanLongText(text: string): string {
  return atOnce(cleaningLongText(text));
}

export function* cleaningLongText(text: string): Steps<string> {
  let cleaned = '';
  let from = 0;
  for (const { index, 0: space } of text.matchAll(/\s+/gu)) {
    cleaned += cleanPart(text.slice(from, index));
    cleaned += space.includes('\n') ? '\n' : ' ';
    from = index + space.length;
    yield;
  }
  return (cleaned + cleanPart(text.slice(from))).trim();
}

function cleanPart(text: string): string {
  return PLAIN_WORD.test(text) ? text : cleanText(text);
}

/** A word can have spaces inside, such as "New York". */
export function cleanWord(text: string): string {
  // Most words need no cleaning, and a transcript has thousands.
  const trimmed = text.trim();
  return PLAIN_WORD.test(trimmed) ? trimmed : cleanText(text).replaceAll(/\s+/gu, ' ');
}

const PLAIN_WORD = /^[!-~]+$/u;

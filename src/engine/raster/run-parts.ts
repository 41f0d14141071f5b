// Splits a run of a Chinese, Japanese or Korean caption into parts: punctuation that comes from the Han font although the
// main font has it, and full-width punctuation that moves closer together.

import { graphemes } from '../caption/graphemes.ts';
import type { HanRegion } from './han-region.ts';

export interface RunPart {
  readonly text: string;
  /** True if the part is punctuation for the Han font. */
  readonly isHanMark: boolean;
  /** How much closer to the previous part it is drawn, in em. */
  readonly pull: number;
}

/** Punctuation that Latin and Han fonts share. */
const SHARED_MARKS = '…—·“”‘’';
const LATIN_ON_BOTH_SIDES = /^\p{Script=Latin}{2}$/u;
const CJK_LETTER = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const OTHER_WORD = /(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}])\p{L})+/gu;

const OPENING = '「『（〈《【〔〖〘〚［｛｟';
const CLOSING = '」』）〉》】〕〗〙〛］｝｠';
const STOPS = '、。，．';
const COLONS = '：；';
const MIDDLE = '・\u3000';
/** The width of the blank half of a full-width bracket, in em. */
const HALF = 0.5;

interface Squares {
  /** Characters by the half of their square that is blank: the left one, the right one, or a part of both. */
  readonly opening: string;
  readonly closing: string;
  readonly middle: string;
}

/** Chinese quotation marks are full-width. Colons are on the left in simplified, and stops centered in traditional Chinese. */
const SQUARES: Readonly<Record<HanRegion, Squares>> = {
  sc: { opening: `${OPENING}“‘`, closing: `${CLOSING}${STOPS}${COLONS}”’`, middle: MIDDLE },
  tc: { opening: `${OPENING}“‘`, closing: `${CLOSING}”’`, middle: MIDDLE + STOPS + COLONS },
  jp: { opening: OPENING, closing: CLOSING + STOPS, middle: MIDDLE + COLONS },
  kr: { opening: OPENING, closing: CLOSING + STOPS, middle: MIDDLE + COLONS },
};

/** Returns whether a caption has punctuation for the Han font. */
export function hasSharedMark(caption: string): boolean {
  return Array.from(SHARED_MARKS).some((mark) => caption.includes(mark));
}

/** Returns true when a caption has more Chinese, Japanese and Korean characters than words of other scripts. */
export function isCjkCaption(caption: string): boolean {
  return (caption.match(CJK_LETTER)?.length ?? 0) > (caption.match(OTHER_WORD)?.length ?? 0);
}

export function runParts(text: string, region: HanRegion): RunPart[] {
  const parts: { text: string; isHanMark: boolean; pull: number }[] = [];
  const chars = graphemes(text);
  chars.forEach((char, index) => {
    const [before = '', after = ''] = [chars[index - 1], chars[index + 1]];
    // An apostrophe inside a Latin word stays Latin.
    const isHanMark = SHARED_MARKS.includes(char) && !LATIN_ON_BOTH_SIDES.test(before + after);
    const pull = meetsBlank(before, char, SQUARES[region]) ? HALF : 0;
    const last = parts.at(-1);
    if (last && last.isHanMark === isHanMark && pull === 0) last.text += char;
    else parts.push({ text: char, isHanMark, pull });
  });
  return parts;
}

/** Works like CSS `text-spacing-trim`: where the blank halves of two characters meet, one of them is removed. */
function meetsBlank(before: string, char: string, { opening, closing, middle }: Squares): boolean {
  if (before === '') return false;
  if (opening.includes(char)) return `${opening}${closing}${middle}`.includes(before);
  return closing.includes(before) && `${closing}${middle}`.includes(char);
}

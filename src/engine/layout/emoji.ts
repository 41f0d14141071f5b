// Finds the emoji in a text. They are measured and drawn separately, with the emoji font first. With a single font list, a
// heart with an emoji selector would come from the first text font that has a white heart.

import { graphemes } from '../caption/graphemes.ts';
import { GRAY_EMOJI } from './gray-emoji.generated.ts';

/** Gray emoji would vanish on a bar over a bright photo, so they are drawn as white shapes. */
export type GlyphKind = 'text' | 'emoji' | 'gray-emoji';

export interface Piece {
  readonly text: string;
  readonly kind: GlyphKind;
}

const TEXT_SELECTOR = '\ufe0e';
const EMOJI_SELECTOR = '\ufe0f';
/** Matches emoji by default, or because of a selector, skin tone, keycap, flag or joiner. */
const LOOKS_LIKE_EMOJI =
  /^(?:\p{Emoji_Presentation}|\p{Emoji}\ufe0f|\p{Emoji_Modifier_Base}\p{Emoji_Modifier}|[0-9#*]\ufe0f?\u20e3|\p{RI}\p{RI}|\p{ExtPict}\ufe0f?\u200d\p{ExtPict})/u;
/**
 * Matches characters that are text by default according to Unicode, but that phones show in color: the astral ones, and
 * the most frequent others. Digits, signs such as ©, and arrows stay text.
 */
const EMOJI_ON_PHONES = /^(?:(?=[\u{1f000}-\u{1ffff}])\p{Emoji}|[❤♥☺☹✌☝☀☁❄✈☎⚠])/u;
/** Matches code points reserved for emoji of a Unicode version newer than this Node.js. */
const FUTURE_EMOJI = /^(?=\p{ExtPict})\p{Cn}/u;

export function isEmoji(cluster: string): boolean {
  if (cluster.includes(TEXT_SELECTOR) && !cluster.includes(EMOJI_SELECTOR)) return false;
  return LOOKS_LIKE_EMOJI.test(cluster) || EMOJI_ON_PHONES.test(cluster) || FUTURE_EMOJI.test(cluster);
}

function kindOf(cluster: string): GlyphKind {
  if (!isEmoji(cluster)) return 'text';
  return GRAY_EMOJI.has(cluster.replace(EMOJI_SELECTOR, '')) ? 'gray-emoji' : 'emoji';
}

/** Symbols of one set that people write in rows: card suits, and letters in squares or circles. */
const ROWS =
  /[\u2660-\u2667](?:[\s\u2660-\u2667]*[\u2660-\u2667])(?!\ufe0f)|[\u{1f130}-\u{1f189}\u{1f18e}](?:\s?[\u{1f130}-\u{1f189}\u{1f18e}])+(?!\ufe0f)/gu;

/** Adds selectors, so that a row of symbols isn't half text and half emoji: all of it is text if one of it is. */
export function unifyRows(text: string): string {
  return text.replaceAll(ROWS, (row) => {
    const symbols = Array.from(row).filter((char) => char.trim() !== '');
    if (symbols.every(isEmoji)) return row;
    return Array.from(row, (char) => (isEmoji(char) ? char + TEXT_SELECTOR : char)).join('');
  });
}

/** Below U+00A9 there are only the bases of keycaps, and those need a combining mark above it to become emoji. */
const HAS_NO_EMOJI = /^[\0-\u00a8]*$/u;

/** Unicode attaches half-width voicing marks and skin tones to any character before them, but they are drawn beside it. */
const SEPARATE_MARK = /[\uff9e\uff9f\p{Emoji_Modifier}]/u;
const BEFORE_SEPARATE_MARK = /(?=[\uff9e\uff9f\p{Emoji_Modifier}])/u;
const STARTS_WITH_VOICING_MARK = /^[\uff9e\uff9f]/u;

/** Splits a text into the clusters that need all their glyphs from one font file. */
export function glyphClusters(text: string): string[] {
  const clusters = graphemes(text);
  if (!SEPARATE_MARK.test(text)) return clusters;
  return clusters.flatMap((cluster) => (isEmoji(cluster) ? [cluster] : cluster.split(BEFORE_SEPARATE_MARK)));
}

/** The main font would draw "->" and "<=" as arrows. Pieces are shaped separately, so they stay as they were written. */
const INSIDE_ARROW = /(?<=[-=\u2190])(?=>)|(?<=<)(?=[-=\u2192])/u;

/** Splits a text into pieces of one kind that are shaped separately. */
export function splitByKind(text: string): Piece[] {
  return kindPieces(text).flatMap((piece) =>
    INSIDE_ARROW.test(piece.text) ? piece.text.split(INSIDE_ARROW).map((part) => ({ ...piece, text: part })) : [piece],
  );
}

/** A piece also ends before a half-width voicing mark, which may need another font. */
function kindPieces(text: string): Piece[] {
  if (text !== '' && HAS_NO_EMOJI.test(text)) return [{ text, kind: 'text' }];
  const pieces: { text: string; kind: GlyphKind }[] = [];
  for (const cluster of glyphClusters(text)) {
    const kind = kindOf(cluster);
    const last = pieces.at(-1);
    if (last?.kind === kind && !STARTS_WITH_VOICING_MARK.test(cluster)) last.text += cluster;
    else pieces.push({ text: cluster, kind });
  }
  return pieces;
}

// Finds the color emoji in a text. They are measured and drawn separately, with the emoji font first. With a single
// font list, a heart with an emoji selector would come from the first text font that has a white heart.

import { graphemes } from '../caption/graphemes.ts';

export type GlyphKind = 'text' | 'emoji';

export interface Piece {
  readonly text: string;
  readonly kind: GlyphKind;
}

const TEXT_SELECTOR = '\ufe0e';
const EMOJI_SELECTOR = '\ufe0f';
/** Emoji by default, or because of a selector, skin tone, keycap, flag or joiner. */
const LOOKS_LIKE_EMOJI =
  /^(?:\p{Emoji_Presentation}|\p{Emoji}\ufe0f|\p{Emoji_Modifier_Base}\p{Emoji_Modifier}|[0-9#*]\ufe0f?\u20e3|\p{RI}\p{RI}|\p{ExtPict}\ufe0f?\u200d\p{ExtPict})/u;

export function isEmoji(grapheme: string): boolean {
  if (grapheme.includes(TEXT_SELECTOR) && !grapheme.includes(EMOJI_SELECTOR)) return false;
  // A lone regional indicator has emoji presentation but is only half a flag, so it is drawn as a letter.
  if (/^\p{RI}(?!\p{RI})/u.test(grapheme)) return false;
  return LOOKS_LIKE_EMOJI.test(grapheme);
}

/** Below U+00A9 there are only the bases of keycaps, and those need a combining mark above it to become emoji. */
const HAS_NO_EMOJI = /^[\0-\u00a8]*$/u;

/** Unicode attaches the half-width voicing marks to the character before them, but they are drawn beside it. */
const VOICING_MARK = /[\uff9e\uff9f]/u;
const BEFORE_VOICING_MARK = /(?=[\uff9e\uff9f])/u;

/** Splits a text into the clusters that need all their glyphs from one font file. */
export function glyphClusters(text: string): string[] {
  const clusters = graphemes(text);
  return VOICING_MARK.test(text) ? clusters.flatMap((cluster) => cluster.split(BEFORE_VOICING_MARK)) : clusters;
}

/** Splits a text into pieces of one kind. A piece also ends before a half-width voicing mark, which may need another font. */
export function splitByKind(text: string): Piece[] {
  if (text !== '' && HAS_NO_EMOJI.test(text)) return [{ text, kind: 'text' }];
  const pieces: { text: string; kind: GlyphKind }[] = [];
  for (const cluster of glyphClusters(text)) {
    const kind = isEmoji(cluster) ? 'emoji' : 'text';
    const last = pieces.at(-1);
    if (last?.kind === kind && !/^[\uff9e\uff9f]/u.test(cluster)) last.text += cluster;
    else pieces.push({ text: cluster, kind });
  }
  return pieces;
}

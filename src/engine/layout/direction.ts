// Bidirectional text (UAX #9): the embedding levels of a paragraph, and the visual order of the runs of a line.

import bidiFactory, { type Bidi } from 'bidi-js';
import { graphemes } from '../caption/graphemes.ts';
import { isEmoji } from './emoji.ts';

// The types describe an ES module, but the package is CommonJS, so the default import is the factory itself.
const bidi = (bidiFactory as unknown as () => Bidi)();

/**
 * Returns one level per UTF-16 unit. Even levels are left-to-right. The first strong letter sets the base direction.
 */
export function embeddingLevels(paragraph: string): Uint8Array {
  return bidi.getEmbeddingLevels(withoutSurrogates(paragraph), 'auto').levels;
}

/**
 * Replaces astral characters, unit for unit, by a BMP character of their bidi class. The library works on UTF-16 units
 * and treats surrogates as left-to-right letters, so a leading emoji would flip a Hebrew caption. Emoji become neutral:
 * a flag consists of letters, but those must not set the direction of a sentence. Keycaps stay digits, because two of
 * them form a number.
 */
function withoutSurrogates(paragraph: string): string {
  let text = '';
  for (const grapheme of graphemes(paragraph)) {
    if (isEmoji(grapheme) && !/^\d/u.test(grapheme)) {
      text += NEUTRAL.repeat(grapheme.length);
      continue;
    }
    for (const char of grapheme) text += char.length === 1 ? char : standIn(char).repeat(2);
  }
  return text;
}

const NEUTRAL = '\u2605';

/** A BMP character for each bidi class that occurs outside the BMP. All others are left-to-right letters. */
const STAND_INS: Readonly<Record<string, string>> = {
  R: '\u05d0',
  AL: '\u0627',
  EN: '1',
  AN: '\u0661',
  NSM: '\u0300',
  ON: NEUTRAL,
  BN: '\u200d',
  ET: '#',
};

function standIn(astral: string): string {
  return STAND_INS[bidi.getBidiCharTypeName(astral)] ?? 'a';
}

interface Leveled {
  readonly level: number;
}

/** Rule L2: from the highest level down, reverse each maximal sequence of runs at that level or above. */
export function visualOrder<Run extends Leveled>(runs: readonly Run[]): Run[] {
  const ordered = [...runs];
  const highest = Math.max(0, ...runs.map((run) => run.level));
  for (let level = highest; level > 0; level -= 1) {
    for (let start = 0; start < ordered.length; start += 1) {
      let end = start;
      while ((ordered[end]?.level ?? -1) >= level) end += 1;
      if (end > start) {
        ordered.splice(start, end - start, ...ordered.slice(start, end).toReversed());
        start = end;
      }
    }
  }
  return ordered;
}

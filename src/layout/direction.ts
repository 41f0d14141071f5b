// Right-to-left: embedding levels of a paragraph, and a line's runs from left to right (UAX #9).

import bidiFactory, { type Bidi } from 'bidi-js';
import { graphemes } from '../caption/graphemes.ts';
import { isEmoji } from './emoji.ts';

// Its types describe an ES module, but the package is CommonJS: what Node hands over is the factory itself.
const bidi = (bidiFactory as unknown as () => Bidi)();

/** Per UTF-16 unit; even levels run left to right. The base direction comes from the first strong letter. */
export function embeddingLevels(paragraph: string): Uint8Array {
  return bidi.getEmbeddingLevels(withoutSurrogates(paragraph), 'auto').levels;
}

/**
 * The library looks at UTF-16 units and takes surrogates for left-to-right letters, so that a leading emoji flips a Hebrew
 * caption. Astral characters are replaced, unit for unit, by a BMP character of their class. Emoji are neutral as a whole:
 * a flag is made of letters, which should not decide the way a sentence runs. Keycaps stay digits: two make a number.
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

/** A BMP character per bidi class that occurs outside the BMP; the rest are letters that run left to right. */
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

/** Rule L2: from the highest level down, reverse every maximal stretch at or above it. */
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

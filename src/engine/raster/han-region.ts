// The same Han code point looks different in China, Taiwan, Japan and Korea, and a caption doesn't have to name its
// language. Every character therefore counts for the regions where it is common, and the region with the most evidence
// wins. Scores are logarithms of probabilities, so that a single の doesn't outweigh a Chinese sentence.

import { HAN_USAGE } from './han-usage.generated.ts';

export type HanRegion = 'sc' | 'tc' | 'jp' | 'kr';
type Costs = Record<HanRegion, number>;

const REGIONS: readonly HanRegion[] = ['sc', 'tc', 'jp', 'kr'];
const HAN = /\p{Script=Han}/u;
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}ー]/u;
const HANGUL = /\p{Script=Hangul}/u;
const BOPOMOFO = /\p{Script=Bopomofo}/u;
const OTHER_LETTER = new RegExp(`${KANA.source}|${HANGUL.source}|${BOPOMOFO.source}`, 'u');
/** Kana that Chinese writers use as ornaments. */
const ORNAMENT = /[のツシ]/u;

/** Costs in nats: the less likely a character is in a region, the more it counts against it. */
const COST = {
  /** A Han character that a region doesn't use. */
  unused: 13,
  /** A Han character in Korean, where none is common. */
  hanja: 8,
  /** Letters in the script of the region. */
  ownLetter: 3,
  /** Letters in the script of another region: a quoted word costs less per letter than the beginning of one. */
  foreignStart: 8,
  foreignOrnament: 6,
  foreignLetter: 4,
} as const;

/** Flattens the differences between the most common characters, which depend on the subject of a text. */
const RANK_OFFSET = 100;
/** Probability is inversely proportional to rank. This makes the probabilities of a region add up to about one. */
const RANK_COST = 1.5;
/** A sentence of Han characters only is less likely in Japanese. */
const KANJI_COST = 0.1;
/** Simplified Chinese is the most common, so it needs the least evidence. */
const PRIOR: Costs = { sc: -0.4, tc: 0, jp: 0, kr: 0 };
/**
 * The evidence of two or three characters that only one region uses, so that a wrong `lang` can't override clear text.
 */
const LANGUAGE_EVIDENCE = 10;

const PUNCTUATION: Readonly<Record<string, Partial<Costs>>> = {
  '，': { jp: 3 },
  '“': { tc: 1, jp: 1 },
  '”': { tc: 1, jp: 1 },
  '「': { sc: 2 },
  '」': { sc: 2 },
};

/** `lang` is a BCP 47 tag. It decides when the text is ambiguous. */
export function hanRegion(text: string, lang?: string): HanRegion {
  const preferred = lang === undefined ? undefined : regionOfLanguage(lang);
  if (!HAN.test(text)) return preferred ?? regionOfLetters(text);
  const costs = { ...PRIOR };
  // Korean is never written without Hangul, but the Traditional forms of its Han characters would fit other texts too.
  if (!HANGUL.test(text) && preferred !== 'kr') costs.kr = Number.POSITIVE_INFINITY;
  if (preferred) costs[preferred] -= LANGUAGE_EVIDENCE;
  let previous: HanRegion | undefined;
  for (const char of text) {
    const evidence = hanCosts(char) ?? PUNCTUATION[char];
    const owner = evidence ? undefined : ownerOf(char);
    if (evidence) addCosts(costs, evidence);
    if (owner) addLetter(costs, char, owner, owner === previous);
    previous = owner;
  }
  return REGIONS.reduce((best, region) => (costs[region] < costs[best] ? region : best));
}

/** Chooses a region for text without Han characters, which only determines the font of punctuation. */
function regionOfLetters(text: string): HanRegion {
  return ownerOf(OTHER_LETTER.exec(text)?.[0] ?? '') ?? 'sc';
}

function ownerOf(char: string): HanRegion | undefined {
  if (KANA.test(char)) return 'jp';
  if (HANGUL.test(char)) return 'kr';
  return BOPOMOFO.test(char) ? 'tc' : undefined;
}

function addLetter(costs: Costs, char: string, owner: HanRegion, continues: boolean): void {
  const start = ORNAMENT.test(char) ? COST.foreignOrnament : COST.foreignStart;
  for (const region of REGIONS) {
    const foreign = continues ? COST.foreignLetter : start;
    costs[region] += region === owner ? COST.ownLetter : foreign;
  }
}

function addCosts(costs: Costs, more: Readonly<Partial<Costs>>): void {
  for (const region of REGIONS) costs[region] += more[region] ?? 0;
}

/** The costs of every Han character that some region uses, built for the first caption that needs them. */
let usedChars: ReadonlyMap<string, Costs> | undefined;
const UNUSED: Costs = { sc: COST.unused, tc: COST.unused, jp: COST.unused, kr: COST.unused };

function hanCosts(char: string): Costs | undefined {
  usedChars ??= usage();
  return usedChars.get(char) ?? (HAN.test(char) ? UNUSED : undefined);
}

function usage(): Map<string, Costs> {
  const table = new Map<string, Costs>();
  for (const region of ['sc', 'tc', 'jp'] as const) {
    let rank = RANK_OFFSET;
    for (const chars of HAN_USAGE[region].map((group) => Array.from(group))) {
      const cost = Math.log(rank + chars.length / 2) + RANK_COST + (region === 'jp' ? KANJI_COST : 0);
      for (const char of chars) {
        const costs = table.get(char) ?? { ...UNUSED };
        costs[region] = cost;
        if (region === 'tc') costs.kr = COST.hanja;
        table.set(char, costs);
      }
      rank += chars.length;
    }
  }
  return table;
}

const REGION_OF_LANGUAGE: Readonly<Record<string, HanRegion>> = { ja: 'jp', ko: 'kr', zh: 'sc', cmn: 'sc', yue: 'tc' };
const TRADITIONAL_TAG = /-(?:hant|tw|hk|mo)\b/u;
const SIMPLIFIED_TAG = /-hans\b/u;

function regionOfLanguage(lang: string): HanRegion | undefined {
  const tag = lang.toLowerCase();
  const region = REGION_OF_LANGUAGE[tag.split('-')[0] ?? ''];
  if (region !== 'sc' && region !== 'tc') return region;
  if (SIMPLIFIED_TAG.test(tag)) return 'sc';
  return TRADITIONAL_TAG.test(tag) ? 'tc' : region;
}

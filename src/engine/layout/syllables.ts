// Where a word that is too long for a line can be cut, and the hyphen that is drawn there. The patterns of a language know
// its syllables. Without them, a word is cut before a single consonant between two vowels: a syllable starts there in nearly
// every language that is written with letters.

import { graphemes } from '../caption/graphemes.ts';

/** A word in parts, each but the last followed by a hyphen if a line ends there. */
export interface Syllables {
  /** All letters in one part if no syllable is known. */
  readonly parts: readonly string[];
  readonly hyphen: string;
}

/** The scripts that mark a cut word, with the only language of a script. Others cut words without a mark. */
const SCRIPTS: readonly { readonly letters: RegExp; readonly hyphen: string; readonly language?: string }[] = [
  { letters: /^[\p{Script=Latin}\p{M}'’]+$/u, hyphen: '-' },
  { letters: /^[\p{Script=Cyrillic}\p{M}'’]+$/u, hyphen: '-' },
  { letters: /^[\p{Script=Greek}\p{M}'’]+$/u, hyphen: '-', language: 'el' },
  { letters: /^\p{Script=Georgian}+$/u, hyphen: '-', language: 'ka' },
  { letters: /^[\p{Script=Armenian}\p{M}՚՛՜՞]+$/u, hyphen: '\u058a', language: 'hy' },
];

/** A word with the punctuation around it. Hashtags, addresses and names of files get no hyphen, which could be part of them. */
const TOKEN = /^[^\p{L}\p{M}\p{N}#@/\\]*\p{L}[\p{L}\p{M}'’\u2010\u00ad-]*[^\p{L}\p{M}\p{N}@/\\]*$/u;
const LETTERS = /\p{L}[\p{L}\p{M}'’]*/u;

/** The least number of letters before and after a hyphen. */
const MIN_LETTERS = 3;

/** Letters that may be either, such as y and w, count as neither. */
const VOWEL = /^[aeiouæøœıəɛɔαεηιουωаеиоуыэюяієөүұә]/u;
const CONSONANT = /^[bcdfghjklmnpqrstvxzßðþβγδζθκλμνξπρσςτφχψбвгджзйклмнпрстфхцчшщ]/u;

/** Returns where a word of small letters can be cut by the patterns of a language. Empty for a language without patterns. */
export type PatternCuts = (word: string, language: string) => readonly number[];

/** `token` is what is between two spaces, and `piece` the part of it that has to be cut. Undefined if it gets no hyphen. */
export function syllablesOf(
  piece: string,
  token: string,
  lang: string | undefined,
  patternCuts: PatternCuts,
): Syllables | undefined {
  const found = TOKEN.test(token.trim()) ? LETTERS.exec(piece) : null;
  const script = found && SCRIPTS.find(({ letters }) => letters.test(found[0]));
  if (!found || !script) return undefined;
  const [word] = found;
  const language = lang?.split('-')[0]?.toLowerCase() ?? script.language;
  const letters = graphemes(word);
  const least = letters.slice(0, MIN_LETTERS).join('').length;
  const most = word.length - letters.slice(-MIN_LETTERS).join('').length;
  const cuts = cutsOf(word, language, patternCuts).filter((cut) => cut >= least && cut <= most);
  const edges = [0, ...cuts.map((cut) => found.index + cut), piece.length];
  return { parts: edges.slice(1).map((edge, index) => piece.slice(edges[index], edge)), hyphen: script.hyphen };
}

function cutsOf(word: string, language: string | undefined, patternCuts: PatternCuts): readonly number[] {
  const lower = lowerCase(word, language);
  const cuts = language === undefined ? [] : patternCuts(lower, language);
  return cuts.length > 0 ? cuts : cutsByVowels(lower);
}

/** Keeps letters whose small form has another length, such as the dotted capital I outside of Turkish. */
function lowerCase(word: string, language: string | undefined): string {
  const locale = language !== undefined && /^[a-z]{2,3}$/u.test(language) ? language : 'en';
  return Array.from(word, (letter) => {
    const lower = letter.toLocaleLowerCase(locale);
    return lower.length === letter.length ? lower : letter;
  }).join('');
}

function cutsByVowels(word: string): number[] {
  const letters = graphemes(word);
  const isVowel = (letter = ''): boolean => !CONSONANT.test(letter) && VOWEL.test(letter.normalize('NFD'));
  const isConsonant = (letter = ''): boolean => CONSONANT.test(letter) || CONSONANT.test(letter.normalize('NFD'));
  let cut = 0;
  return letters.flatMap((letter, index) => {
    const before = cut;
    cut += letter.length;
    return isVowel(letters[index - 1]) && isConsonant(letter) && isVowel(letters[index + 1]) ? [before] : [];
  });
}

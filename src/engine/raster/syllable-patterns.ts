// The patterns that know the syllables of a language, from the package `hyphen`. A file is loaded when a word of its language
// is cut for the first time, because the largest has a megabyte.

import { createRequire } from 'node:module';

/** The levels of patterns, the patterns as a tree, and exceptions, as the package `hyphen` stores them. */
type Patterns = readonly [unknown, unknown, Readonly<Record<string, readonly number[]>>?];
type Hyphenator = (text: string) => string;
type CreateHyphenator = (patterns: Patterns, options: { readonly html: boolean }) => Hyphenator;

/**
 * The pattern files by language. Files of other languages are left out if their license is only the GPL or isn't clear.
 * scripts/prune.js keeps the same files.
 */
export const PATTERN_FILES: ReadonlyMap<string, string> = new Map([
  ['bg', 'bg'],
  ['ca', 'ca'],
  ['da', 'da'],
  ['de', 'de-1996'],
  ['el', 'el-monoton'],
  ['en', 'en-us'],
  ['es', 'es'],
  ['fi', 'fi'],
  ['fr', 'fr'],
  ['hr', 'hr'],
  ['hu', 'hu'],
  ['hy', 'hy'],
  ['it', 'it'],
  ['ka', 'ka'],
  ['nb', 'nb'],
  ['nl', 'nl'],
  ['nn', 'nb'],
  ['no', 'nb'],
  ['pt', 'pt'],
  ['ru', 'ru'],
  ['sl', 'sl'],
  ['sv', 'sv'],
  ['tr', 'tr'],
  ['uk', 'uk'],
]);

const load = createRequire(import.meta.url);
const SOFT_HYPHEN = '\u00ad';

/** Returns where a word of small letters can be cut. Empty for a language without patterns. */
export function patternCuts(word: string, language: string): readonly number[] {
  const file = PATTERN_FILES.get(language);
  if (file === undefined) return [];
  const create = load('hyphen') as CreateHyphenator;
  const [levels, tree, exceptions] = load(`hyphen/patterns/${file}.js`) as Patterns;
  // A hyphenator stores every word that it has seen in its exceptions, so each one gets its own.
  const parts = create([levels, tree, { ...exceptions }], { html: false })(word).split(SOFT_HYPHEN);
  let cut = 0;
  return parts.slice(0, -1).map((part) => (cut += part.length));
}

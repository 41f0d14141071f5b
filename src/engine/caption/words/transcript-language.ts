// The language that a transcript names.

import { isLanguageTag } from '../language.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'.split('');
/** Languages with a code of three letters that services know. */
const LONG_CODES = ['yue', 'haw', 'fil'];
const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

/** Whisper writes names in English, such as "english". Of two codes for one name, the first counts. */
let codes: ReadonlyMap<string, string> | undefined;

function codeOf(name: string): string | undefined {
  const all = [...LETTERS.flatMap((first) => LETTERS.map((second) => first + second)), ...LONG_CODES];
  codes ??= new Map(all.toReversed().map((code) => [names.of(code)?.toLowerCase() ?? code, code]));
  return codes.get(name.toLowerCase());
}

/** A BCP 47 tag, or undefined. Some services write `en_us`. */
export function transcriptLanguage(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const tag = value.trim().replaceAll('_', '-');
  if (!/^[a-z]{2,3}(?:-|$)/iu.test(tag)) return codeOf(tag);
  return isLanguageTag(tag) ? tag : undefined;
}

// The language that a transcript names, where the request names none.

import { parseLanguage } from '../language.ts';

/** Whisper writes names in English. These are the languages whose letters or capitals differ from those of others. */
const NAMED = [
  'ja',
  'zh',
  'yue',
  'ko',
  'tr',
  'az',
  'el',
  'lt',
  'nl',
  'ga',
  'sr',
  'bg',
  'mk',
  'ro',
  'mr',
  'ne',
  'fa',
  'ur',
];
const names = new Intl.DisplayNames('en', { type: 'language' });

/** A BCP 47 tag, or undefined. Some services write `en_us`. */
export function transcriptLanguage(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const tag = value.trim().replaceAll('_', '-');
  const named = NAMED.find((code) => names.of(code)?.toLowerCase() === tag.toLowerCase());
  if (named !== undefined || !/^[a-z]{2,3}(?:-|$)/iu.test(tag)) return named;
  return parseLanguage(tag, '', []);
}

// The `lang` of a request or an overlay: a language tag (BCP 47, RFC 5646).

import type { FieldFault } from '../errors.ts';
import { MAX_LANGUAGE_LENGTH, type Overlay } from './overlay.ts';

const LANGUAGE = '(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4,8})';
const VARIANT = '(?:-(?:[a-z\\d]{5,8}|\\d[a-z\\d]{3}))*';
const EXTENSION = '(?:-[a-wy-z\\d](?:-[a-z\\d]{2,8})+)*';
const PRIVATE_USE = 'x(?:-[a-z\\d]{1,8})+';
/** The syntax of section 2.1, without the tags that were registered before it. */
const LANGUAGE_TAG = new RegExp(
  `^(?:${LANGUAGE}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\\d{3}))?${VARIANT}${EXTENSION}(?:-${PRIVATE_USE})?|${PRIVATE_USE})$`,
  'iu',
);

/** A blank value counts as absent, so a browser form with an empty input works. */
export function parseLanguage(value: unknown, pointer: string, faults: FieldFault[]): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') {
    const detail = `Lang must be a string such as "ja" or "zh-Hant"; got ${quoted(value)}.`;
    faults.push({ pointer, code: 'wrong_type', detail });
    return undefined;
  }
  const tag = value.trim();
  if (tag === '') return undefined;
  if (tag.length <= MAX_LANGUAGE_LENGTH && LANGUAGE_TAG.test(tag)) return tag;
  const detail = `Lang must be a BCP 47 language tag such as "ja" or "zh-Hant"; got ${quoted(tag)}.`;
  faults.push({ pointer, code: 'invalid_language', detail });
  return undefined;
}

/** Gives the language of the request to overlays that name none. */
export function withLanguage(overlays: readonly Overlay[], lang: string | undefined): readonly Overlay[] {
  return lang === undefined ? overlays : overlays.map((overlay) => ({ lang, ...overlay }));
}

function quoted(value: unknown): string {
  const json = JSON.stringify(value);
  return json.length <= MAX_LANGUAGE_LENGTH ? json : `${json.slice(0, MAX_LANGUAGE_LENGTH).toWellFormed()}...`;
}

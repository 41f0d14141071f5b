// The `lang` of a request or an overlay: a language tag (BCP 47, RFC 5646).

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

export function isLanguageTag(text: string): boolean {
  return text.length <= MAX_LANGUAGE_LENGTH && LANGUAGE_TAG.test(text);
}

/** Gives the language of the request to overlays that name none. */
export function withLanguage(overlays: readonly Overlay[], lang: string | undefined): readonly Overlay[] {
  return lang === undefined ? overlays : overlays.map((overlay) => ({ lang, ...overlay }));
}

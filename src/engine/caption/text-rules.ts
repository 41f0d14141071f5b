// Texts that need more than their schema says, by the name of their field or key. A rule returns the text in its canonical
// form, or reports what is wrong with it.

import type { FieldFault } from '../../shared/errors.ts';
import { nearestNames } from '../../shared/edit-distance.ts';
import { orList } from '../../shared/or-list.ts';
import { parseAssetUrl, parseUrlField, type UrlFault } from './asset-url.ts';
import { cleanText, isBlank } from './clean.ts';
import { FONT_NAMES, isOwnFont } from './fonts.ts';
import { countGraphemes } from './graphemes.ts';
import { isLanguageTag } from './language.ts';
import { isLogoId } from './logo.ts';
import { FORMAT_NAMES, WRITTEN_FORMATS } from './output-format.ts';
import { MAX_TEXT_BYTES, MAX_TEXT_GRAPHEMES } from './overlay.ts';
import { quoteJson } from './quote.ts';
import { DELIVERY_FIELDS, MAX_PUT_HEADER_LENGTH } from './request-fields.ts';
import { STYLE_PRESETS } from './style-presets.ts';

/** A fault whose place is known elsewhere. */
export type TextProblem = Pick<FieldFault, 'code' | 'detail'>;
type TextRule = (text: string, report: (problem: TextProblem) => undefined) => unknown;

const NUMBER = new Intl.NumberFormat('en');
/** The most names that an error lists. */
const MAX_NAMED = 12;
const HEADER_VALUE = new RegExp(`^[\\x20-\\x7e]{0,${MAX_PUT_HEADER_LENGTH}}$`, 'u');

const caption: TextRule = (sent, report) => {
  const text = cleanText(sent);
  const problem = isBlank(text) ? ({ code: 'blank', detail: "Caption can't be empty." } as const) : lengthProblem(text);
  if (problem) report(problem);
  return text;
};

/** Saved styles have become presets by now, so any other name is unknown. */
const preset: TextRule = (name, report) =>
  STYLE_PRESETS.find((known) => known === name) ?? report(unknownStyle(name, STYLE_PRESETS));

const url =
  (parse: (text: string) => URL | UrlFault): TextRule =>
  (text, report) => {
    const found = parse(text);
    return found instanceof URL ? found : report(found);
  };

export const TEXT_RULES: Readonly<Record<string, TextRule | undefined>> = {
  text: caption,
  style: preset,
  preset,
  /** Own fonts have been looked up by now, so an id is that of one. */
  font: (name, report) =>
    FONT_NAMES.some((known) => known === name) || isOwnFont(name) ? name : report(unknownFont(name)),
  /** The id of a logo. */
  id: (id, report) => (isLogoId(id) ? id : report(unknownLogo(id))),
  lang: (text, report) => {
    const tag = text.trim();
    if (tag === '' || isLanguageTag(tag)) return tag === '' ? undefined : tag;
    const detail = `Lang must be a BCP 47 language tag such as "ja" or "zh-Hant"; got ${quoteJson(tag)}.`;
    return report({ code: 'invalid_language', detail });
  },
  format: (name, report) => {
    const detail = `Format must be ${orList(FORMAT_NAMES)}; got ${quoteJson(name)}.`;
    return WRITTEN_FORMATS.get(name) ?? report({ code: 'invalid_format', detail });
  },
  deliver: (name, report) => {
    const names = DELIVERY_FIELDS.deliver.enum;
    return (
      names.find((known) => known === name) ??
      report({ code: 'wrong_type', detail: `Deliver must be ${orList(names)}.` })
    );
  },
  asset_url: url(parseAssetUrl),
  webhook_url: url((text) => parseUrlField('webhook_url', text)),
  put_url: url((text) => parseUrlField('put_url', text)),
  /** The value of one of `put_headers`. It may be a secret, so no message repeats it. */
  header: (value, report) => {
    const detail = `A header must be a string of up to ${MAX_PUT_HEADER_LENGTH} printable ASCII characters.`;
    return HEADER_VALUE.test(value) ? value : report({ code: 'wrong_type', detail });
  },
};

/** Returns what is wrong with the length of a cleaned caption, if anything. */
export function lengthProblem(cleaned: string): TextProblem | undefined {
  const bytes = Buffer.byteLength(cleaned);
  if (bytes > MAX_TEXT_BYTES) {
    const detail = `Caption is ${NUMBER.format(bytes)} bytes of UTF-8; the limit is ${NUMBER.format(MAX_TEXT_BYTES)}.`;
    return { code: 'too_long', detail };
  }
  const length = countGraphemes(cleaned);
  if (length <= MAX_TEXT_GRAPHEMES) return undefined;
  const detail = `Caption is ${NUMBER.format(length)} characters long; the limit is ${MAX_TEXT_GRAPHEMES}.`;
  return { code: 'too_long', detail };
}

export function unknownFont(name: string): TextProblem {
  const nearest = nearestNames(name, FONT_NAMES);
  const known = nearest.length === 0 ? `Fonts are ${FONT_NAMES.join(', ')}.` : `Did you mean ${orList(nearest)}?`;
  const advice = isOwnFont(name) ? 'GET /v1/fonts lists the fonts of your account.' : known;
  return { code: 'unknown_font', detail: `Font ${quoteJson(name)} does not exist. ${advice}` };
}

export function unknownLogo(id: string): TextProblem {
  const detail = `Logo ${quoteJson(id)} does not exist in your account. GET /v1/logos lists your logos.`;
  return { code: 'unknown_logo', detail };
}

/** `names` are the styles that exist. */
export function unknownStyle(name: string, names: readonly string[]): TextProblem {
  const nearest = nearestNames(name, names);
  const advice =
    nearest.length === 0 ? `Styles are ${names.slice(0, MAX_NAMED).join(', ')}.` : `Did you mean ${orList(nearest)}?`;
  return { code: 'unknown_style', detail: `Style ${quoteJson(name)} does not exist. ${advice}` };
}

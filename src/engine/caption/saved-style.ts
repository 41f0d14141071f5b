// A style that an account saved under a name: every key of a style, and fields of requests that it has defaults for.

import type { FieldFault } from '../../shared/errors.ts';
import type { Json } from '../../shared/json-schema.ts';
import { check, type Schema } from './check.ts';
import { LOGO_FIELD, type RequestedLogo, withDefaults } from './logo.ts';
import { quoteJson } from './quote.ts';
import { CAPTION_FIELDS, LOOK_FIELDS } from './request-fields.ts';
import type { SafeAreaName } from './safe-area.ts';
import { backgroundFault } from './request-rules.ts';
import type { SentStyle } from './request-values.ts';
import { type CaptionStyle, STYLE_FIELDS } from './style.ts';
import { STYLE_PRESETS } from './style-presets.ts';

/** Fields of a request that a style sets where the request doesn't. */
const DEFAULT_FIELDS = {
  position: CAPTION_FIELDS.position,
  safe_area: LOOK_FIELDS.safe_area,
  max_words: CAPTION_FIELDS.max_words,
  max_lines: CAPTION_FIELDS.max_lines,
} as const satisfies Readonly<Record<string, Json>>;

export const SAVED_STYLE_FIELDS = { ...STYLE_FIELDS, logo: LOGO_FIELD, ...DEFAULT_FIELDS } as const;

interface StyleDefaults {
  readonly position?: number;
  readonly safe_area?: SafeAreaName;
  readonly max_words?: number;
  readonly max_lines?: number;
}

/** The style of a request, which can also have a logo. */
type RequestStyle = CaptionStyle & { readonly logo?: RequestedLogo };
export type SavedStyle = RequestStyle & StyleDefaults;

/** The pattern of a name, without a version. */
export const STYLE_NAME_PATTERN = '^[a-z0-9][a-z0-9-]{0,39}$';
const STYLE_NAME = new RegExp(STYLE_NAME_PATTERN, 'u');
const REFERENCE = /^(?<name>[a-z0-9][a-z0-9-]{0,39})(?:@(?<version>[1-9]\d{0,8}))?$/u;

/** The use of a saved style: `acme` for its latest version, or `acme@3`. */
export interface StyleReference {
  readonly name: string;
  readonly version: number | undefined;
}

/** Returns undefined for text that can't be the name of a saved style. */
export function parseReference(text: string): StyleReference | undefined {
  const { name, version } = REFERENCE.exec(text)?.groups ?? {};
  return name === undefined ? undefined : { name, version: version === undefined ? undefined : Number(version) };
}

/** Returns the fault of a name, if any. */
export function nameFault(name: string): FieldFault | undefined {
  const pointer = '#/name';
  if (STYLE_PRESETS.some((preset) => preset === name)) {
    return { pointer, code: 'conflict', detail: `${quoteJson(name)} is a preset. Give the style another name.` };
  }
  if (STYLE_NAME.test(name)) return undefined;
  const detail = `The name of a style has 1 to 40 letters a to z, digits and hyphens, and starts with a letter or digit; got ${quoteJson(name)}.`;
  return { pointer, code: 'invalid_choice', detail };
}

const SCHEMA: Schema = { type: 'object', properties: SAVED_STYLE_FIELDS, additionalProperties: false };

/** Returns the style in its canonical form, so that equal styles are equal as JSON. Faults are reported. */
export function checkSavedStyle(fields: Readonly<Record<string, unknown>>, faults: FieldFault[]): SavedStyle {
  const style = check(SCHEMA, fields, { pointer: '#', name: 'style', faults }) as SentStyle & StyleDefaults;
  const conflict = backgroundFault(style, '#');
  if (conflict) faults.push(conflict);
  const { logo, ...rest } = style;
  return logo === undefined ? rest : { ...rest, logo: withDefaults(logo) };
}

/** The part that is the style of a request. */
export function stylePart(style: SavedStyle): RequestStyle {
  return Object.fromEntries(Object.entries(style).filter(([name]) => !(name in DEFAULT_FIELDS)));
}

/** The part that concerns captions, which is all that counts in the style of a single overlay. */
export function captionPart(style: SavedStyle): CaptionStyle {
  return Object.fromEntries(Object.entries(style).filter(([name]) => name in STYLE_FIELDS));
}

/** The fields of a request that the style has values for. */
export function defaultsOf(style: SavedStyle): [string, unknown][] {
  return Object.entries(style).filter(([name]) => name in DEFAULT_FIELDS);
}

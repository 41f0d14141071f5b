// The `style` of a request or an overlay: the name of a preset, or an object that changes one.

import { AppError, type FieldFault } from '../errors.ts';
import { nearestNames } from '../primitives/edit-distance.ts';
import { orList } from '../primitives/or-list.ts';
import { FONT_NAMES, isOwnFont } from './fonts.ts';
import { checkLogo, type RequestedLogo } from './logo.ts';
import { capitalize, pointerTo, quoteJson, typeName } from './quote.ts';
import type { Overlay } from './overlay.ts';
import { type CaptionStyle, STYLE_FIELDS } from './style.ts';
import { DEFAULT_PRESET, presetOf, STYLE_PRESETS, type StylePreset } from './style-presets.ts';

type StyleField = (typeof STYLE_FIELDS)[keyof typeof STYLE_FIELDS];
type ColorField = typeof STYLE_FIELDS.color;
type SizeField = typeof STYLE_FIELDS.size;
type HighlightField = typeof STYLE_FIELDS.highlight;

/** The most names that an error lists. */
const MAX_NAMED = 12;
const STYLE_KEYS = Object.keys(STYLE_FIELDS) as (keyof typeof STYLE_FIELDS)[];

/**
 * Parses the field as a form sends it: the name of a preset, or an object as JSON text. A blank field counts as absent.
 */
export function parseStyle(text: string, pointer: string, faults: FieldFault[]): RequestStyle | undefined {
  const trimmed = text.trim();
  // Clients that send the field as JSON put quotes around the name of a preset.
  if (!/^[{"]/u.test(trimmed)) return checkRequestStyle(trimmed === '' ? undefined : trimmed, pointer, faults);
  try {
    return checkRequestStyle(JSON.parse(trimmed), pointer, faults);
  } catch {
    const detail = 'The style isn\'t valid JSON. Send the name of a preset or an object such as {"preset": "box"}.';
    faults.push({ pointer, code: 'invalid_json', detail });
    return undefined;
  }
}

/** The style of a request, which can also have a logo. */
export type RequestStyle = CaptionStyle & { readonly logo?: RequestedLogo };

/** Like `checkStyle`, for a style that can have a logo. */
export function checkRequestStyle(value: unknown, pointer: string, faults: FieldFault[]): RequestStyle | undefined {
  if (typeof value !== 'object' || value === null || !('logo' in value)) return checkStyle(value, pointer, faults);
  const { logo: sent, ...rest } = value;
  const style = checkStyle(rest, pointer, faults);
  const logo = checkLogo(sent, `${pointer}/logo`, faults);
  return logo === undefined ? style : { ...style, logo };
}

/** Checks the style of captions as a value. Returns undefined when it is omitted or invalid. */
export function checkStyle(value: unknown, pointer: string, faults: FieldFault[]): CaptionStyle | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return compact({ preset: presetNamed(value, pointer, faults) });
  if (typeof value !== 'object' || Array.isArray(value)) {
    const detail = `Style must be the name of a preset or an object; got ${typeName(value)}.`;
    faults.push({ pointer, code: 'wrong_type', detail });
    return undefined;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(fields)) {
    if (STYLE_KEYS.some((known) => known === key)) continue;
    const detail = `Unknown key ${quoteJson(key)} in style. Valid keys are ${STYLE_KEYS.join(', ')}.`;
    faults.push({ pointer: `${pointer}${pointerTo(key).slice(1)}`, code: 'unknown_field', detail });
  }
  return compact(
    Object.fromEntries(
      STYLE_KEYS.map((key) => [
        key,
        readValue(STYLE_FIELDS[key], fields[key], capitalize(key), `${pointer}/${key}`, faults),
      ]),
    ),
  );
}

/**
 * Gives the style of the request to the overlays. A style of an overlay that names a preset replaces it. Without a
 * preset, it changes only the keys it has.
 */
export function withStyle(
  overlays: readonly Overlay[],
  requested: CaptionStyle | undefined,
  faults: FieldFault[],
): readonly Overlay[] {
  const isConflict = conflicts(requested, '#/style', faults);
  return overlays.map((overlay, index) => {
    const own = overlay.style;
    const isReplaced = own?.preset !== undefined;
    const style = isReplaced ? own : compact({ ...requested, ...own });
    // A conflict within the style of the request has been reported there.
    const isInherited = isConflict && own?.background === undefined;
    if (isReplaced || !isInherited) conflicts(style, `#/overlays/${index}/style`, faults);
    return style === undefined ? overlay : { ...overlay, style };
  });
}

/** Reports a background on a preset without one. Returns true if it did. */
export function conflicts(style: CaptionStyle | undefined, pointer: string, faults: FieldFault[]): boolean {
  const { preset = DEFAULT_PRESET, background } = style ?? {};
  if (background === undefined || presetOf(preset).background !== undefined) return false;
  const detail = `The preset ${preset} has no background. Leave background out, or use bar or box.`;
  faults.push({ pointer: `${pointer}/background`, code: 'conflict', detail });
  return true;
}

/** Returns one of the allowed names, or undefined for an omitted value and for anything else, which is reported. */
export function choice<Name extends string>(
  value: unknown,
  names: readonly Name[],
  label: string,
  pointer: string,
  faults: FieldFault[],
): Name | undefined {
  if (value === undefined || value === null) return undefined;
  const known = names.find((name) => name === value);
  if (known !== undefined) return known;
  const isText = typeof value === 'string';
  const detail = `${label} must be ${orList(names)}; got ${isText ? quoteJson(value) : typeName(value)}.`;
  faults.push({ pointer, code: isText ? 'invalid_choice' : 'wrong_type', detail });
  return undefined;
}

/** Saved styles have become presets by now, so any other name is unknown. */
function presetNamed(name: string, pointer: string, faults: FieldFault[]): StylePreset | undefined {
  const known = STYLE_PRESETS.find((one) => one === name);
  if (known === undefined) faults.push(unknownStyle(name, STYLE_PRESETS, pointer));
  return known;
}

/** Own fonts have been looked up by now, so an id is that of one. */
function fontNamed(name: string, pointer: string, faults: FieldFault[]): string | undefined {
  const known = FONT_NAMES.find((one) => one === name);
  if (known !== undefined || isOwnFont(name)) return known ?? name;
  faults.push(unknownFont(name, pointer));
  return undefined;
}

export function unknownFont(name: string, pointer: string): FieldFault {
  const nearest = nearestNames(name, FONT_NAMES);
  const known = nearest.length === 0 ? `Fonts are ${FONT_NAMES.join(', ')}.` : `Did you mean ${orList(nearest)}?`;
  const advice = isOwnFont(name) ? 'GET /v1/fonts lists the fonts of your account.' : known;
  return { pointer, code: 'unknown_font', detail: `Font ${quoteJson(name)} does not exist. ${advice}` };
}

/** Visitors without an account can use only the bundled fonts. */
export function refuseOwnFonts(overlays: readonly Overlay[]): void {
  const font = overlays.map(({ style }) => style?.font ?? '').find(isOwnFont);
  if (font === undefined) return;
  const fault = { ...unknownFont(font, '#/style/font'), detail: 'Uploaded fonts need an API key of their account.' };
  throw new AppError('invalid_fields', fault.detail, { faults: [fault] });
}

/** `names` are the styles that exist. */
export function unknownStyle(name: string, names: readonly string[], pointer: string): FieldFault {
  const nearest = nearestNames(name, names);
  const advice =
    nearest.length === 0 ? `Styles are ${names.slice(0, MAX_NAMED).join(', ')}.` : `Did you mean ${orList(nearest)}?`;
  return { pointer, code: 'unknown_style', detail: `Style ${quoteJson(name)} does not exist. ${advice}` };
}

/**
 * Returns the value of a field of a style, or undefined for an omitted value and for an invalid one, which is reported.
 */
function readValue(
  field: StyleField,
  value: unknown,
  label: string,
  pointer: string,
  faults: FieldFault[],
): string | number | object | undefined {
  if (value === undefined || value === null) return undefined;
  if (field === STYLE_FIELDS.preset && typeof value === 'string') return presetNamed(value, pointer, faults);
  if (field === STYLE_FIELDS.font && typeof value === 'string') return fontNamed(value, pointer, faults);
  if ('anyOf' in field) return choice<string>(value, FONT_NAMES, label, pointer, faults);
  if ('oneOf' in field) return highlight(field, value, pointer, faults);
  if ('enum' in field) return choice<string>(value, field.enum, label, pointer, faults);
  if ('pattern' in field) return color(field, value, label, pointer, faults);
  return size(field, value, label, pointer, faults);
}

/** A mode alone is kept as an object, too. */
function highlight(
  { oneOf: [, { properties }] }: HighlightField,
  value: unknown,
  pointer: string,
  faults: FieldFault[],
): CaptionStyle['highlight'] {
  if (typeof value === 'string') {
    const mode = choice(value, properties.mode.enum, 'Highlight', pointer, faults);
    return mode && { mode };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const detail = `Highlight must be one of ${properties.mode.enum.join(', ')}, or an object with a mode; got ${typeName(value)}.`;
    faults.push({ pointer, code: 'wrong_type', detail });
    return undefined;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(fields)) {
    if (key in properties) continue;
    const detail = `Unknown key ${quoteJson(key)} in highlight. Valid keys are ${Object.keys(properties).join(', ')}.`;
    faults.push({ pointer: `${pointer}${pointerTo(key).slice(1)}`, code: 'unknown_field', detail });
  }
  const mode = choice(fields['mode'], properties.mode.enum, 'Mode', `${pointer}/mode`, faults);
  if ((fields['mode'] ?? null) === null) {
    faults.push({ pointer: `${pointer}/mode`, code: 'required', detail: 'A highlight needs a mode, such as "box".' });
  }
  const read = (key: 'color' | 'background'): string | undefined =>
    (fields[key] ?? null) === null
      ? undefined
      : color(properties[key], fields[key], capitalize(key), `${pointer}/${key}`, faults);
  const [text, background] = [read('color'), read('background')];
  return mode && { mode, ...(text !== undefined && { color: text }), ...(background !== undefined && { background }) };
}

function color(
  field: Pick<ColorField, 'pattern'>,
  value: unknown,
  label: string,
  pointer: string,
  faults: FieldFault[],
): string | undefined {
  const isText = typeof value === 'string';
  if (isText && new RegExp(field.pattern, 'u').test(value)) return value.toLowerCase();
  const got = isText ? quoteJson(value) : typeName(value);
  const detail = `${label} must be a color such as "#ffcc00", or "#ffcc0080" with transparency; got ${got}.`;
  faults.push({ pointer, code: isText ? 'invalid_color' : 'wrong_type', detail });
  return undefined;
}

function size(
  field: SizeField,
  value: unknown,
  label: string,
  pointer: string,
  faults: FieldFault[],
): number | undefined {
  const isNumber = typeof value === 'number';
  if (isNumber && value >= field.minimum && value <= field.maximum) return value;
  const got = isNumber ? value : typeName(value);
  const detail = `${label} must be a number from ${field.minimum} to ${field.maximum}; got ${got}.`;
  faults.push({ pointer, code: isNumber ? 'out_of_range' : 'wrong_type', detail });
  return undefined;
}

type WithUndefined<Type> = { readonly [Key in keyof Type]?: Type[Key] | undefined };

/** Removes omitted keys, so that a recipe stays plain JSON. Returns undefined when nothing is left. */
function compact(style: WithUndefined<CaptionStyle>): CaptionStyle | undefined {
  const entries = Object.entries(style).filter(([, value]) => value !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

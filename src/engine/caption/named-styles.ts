// Replaces the names of saved styles in a request with what they stand for, before the request is checked, compared or stored.
// Everything after that sees plain styles, so a render never changes its look when a style does.

import type { FieldFault } from '../../shared/errors.ts';
import { isObject } from './check.ts';
import type { ReadFields } from './field-reader.ts';
import { isOwnFont } from './fonts.ts';
import { isLogoId } from './logo.ts';
import { captionPart, defaultsOf, parseReference, type SavedStyle, stylePart } from './saved-style.ts';
import { DEFAULT_PRESET, mayBeSaved, STYLE_PRESETS } from './style-presets.ts';
import { unknownFont, unknownLogo, unknownStyle } from './text-rules.ts';

type Values = ReadFields['values'];

/** Returns the saved style, or the fault of a name that has none. Undefined leaves the name to the check of the style. */
export type FindStyle = (reference: string, pointer: string) => SavedStyle | FieldFault | undefined;

/** An uploaded font or logo. */
export interface NamedFile {
  readonly id: string;
  readonly pointer: string;
}

/** The names in a request that may be those of saved styles. */
export function referencesIn({ values }: ReadFields): string[] {
  return stylesIn(values).flatMap(({ style }) => referenceOf(style) ?? []);
}

export function withSavedStyles<Some extends ReadFields>(read: Some, find: FindStyle): Some {
  const faults = [...read.faults];
  let defaults: SavedStyle = {};
  const values = mapStyles(read.values, (style, pointer) => {
    const reference = referenceOf(style);
    if (reference === undefined) return style;
    const found = find(reference, isObject(style) ? `${pointer}/preset` : pointer);
    if (found === undefined) return style;
    if ('pointer' in found) faults.push(found);
    const saved: SavedStyle = 'pointer' in found ? {} : found;
    const isOfRequest = pointer === '#/style';
    if (isOfRequest) defaults = saved;
    return { preset: DEFAULT_PRESET, ...(isOfRequest ? stylePart(saved) : captionPart(saved)), ...ownKeys(style) };
  });
  // A position isn't allowed beside overlays, which have their own.
  const missing = defaultsOf(defaults).filter(([name]) => name !== 'position' || !('overlays' in values));
  return { ...read, values: { ...Object.fromEntries(missing), ...values }, faults };
}

/** The fault of a name that is neither a saved style nor a preset, or undefined for a preset. `saved` are the names of the account. */
export function missingStyle(reference: string, saved: readonly string[], pointer: string): FieldFault | undefined {
  if (STYLE_PRESETS.some((preset) => preset === reference)) return undefined;
  const { name, version } = parseReference(reference) ?? { name: reference, version: undefined };
  if (version === undefined || !saved.includes(name))
    return { pointer, ...unknownStyle(reference, [...saved, ...STYLE_PRESETS]) };
  const detail = `Version ${version} of style "${name}" does not exist or was deleted. Use "${name}" for the latest one.`;
  return { pointer, code: 'unknown_style', detail };
}

/** The files that a request names by their ids. `sent` has the names of its styles, one of which may have brought the logo. */
export function filesIn(values: Values, sent: Values): NamedFile[] {
  const fonts = stylesIn(values).flatMap(({ style, pointer }) => fontOf(style, pointer));
  const [own] = logoOf(sent.style, '#/style');
  const logos = logoOf(values.style, '#/style').map((one) =>
    one.id === own?.id ? one : { ...one, pointer: '#/style' },
  );
  return [...fonts, ...logos];
}

/** The files of a style that is saved. */
export function filesOf(style: unknown, pointer: string): NamedFile[] {
  return [...fontOf(style, pointer), ...logoOf(style, pointer)];
}

export function missingFile({ id, pointer }: NamedFile): FieldFault {
  return { pointer, ...(isOwnFont(id) ? unknownFont(id) : unknownLogo(id)) };
}

/** The check of the style reports an id that no file can have. */
function fontOf(style: unknown, pointer: string): NamedFile[] {
  const id = isObject(style) ? style['font'] : undefined;
  return typeof id === 'string' && isOwnFont(id) ? [{ id, pointer: `${pointer}/font` }] : [];
}

function logoOf(style: unknown, pointer: string): NamedFile[] {
  const logo = isObject(style) ? style['logo'] : undefined;
  const id = isObject(logo) ? logo['id'] : undefined;
  return typeof id === 'string' && isLogoId(id) ? [{ id, pointer: `${pointer}/logo/id` }] : [];
}

function referenceOf(style: unknown): string | undefined {
  const name = isObject(style) ? style['preset'] : style;
  return typeof name === 'string' && mayBeSaved(name) && parseReference(name) !== undefined ? name : undefined;
}

/** The keys that a request adds to a saved style. Null means that a key is omitted. */
function ownKeys(style: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(style)) return {};
  return Object.fromEntries(Object.entries(style).filter(([key, value]) => key !== 'preset' && value !== null));
}

/** The style of the request and those of its overlays. */
function stylesIn(values: Values): readonly { readonly style: unknown; readonly pointer: string }[] {
  const found: { readonly style: unknown; readonly pointer: string }[] = [];
  mapStyles(values, (style, pointer) => {
    found.push({ style, pointer });
    return style;
  });
  return found;
}

function mapStyles(values: Values, map: (style: unknown, pointer: string) => unknown): Values {
  const { style, overlays } = values;
  const mapOne = (one: unknown, index: number): unknown =>
    isObject(one) && 'style' in one ? { ...one, style: map(one['style'], `#/overlays/${index}/style`) } : one;
  return {
    ...values,
    ...(style !== undefined && { style: map(style, '#/style') }),
    ...(Array.isArray(overlays) && { overlays: overlays.map(mapOne) }),
  };
}

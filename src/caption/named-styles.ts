// Replaces the names of saved styles in a request with what they stand for, before the request is parsed, compared or stored.
// Everything after that sees plain styles, so a render never changes its look when a style does.

import type { FieldFault } from '../errors.ts';
import type { Form, FormField } from './field-reader.ts';
import { isOwnFont } from './fonts.ts';
import { isLogoId } from './logo.ts';
import { captionPart, defaultsOf, parseReference, type SavedStyle, stylePart } from './saved-style.ts';
import { DEFAULT_PRESET, mayBeSaved, STYLE_PRESETS } from './style-presets.ts';
import { unknownStyle } from './text-rules.ts';

type Fields = Readonly<Record<string, unknown>>;
type NamedForm = Pick<Form, 'fields' | 'isJson' | 'faults'>;

/** Returns the saved style, or the fault of a name that has none. Undefined leaves the name to the parser. */
export type FindStyle = (reference: string, pointer: string) => SavedStyle | FieldFault | undefined;

/** The names in a request that may be those of saved styles. */
export function referencesIn(form: NamedForm): ReadonlySet<string> {
  const found = new Set<string>();
  withSavedStyles(form, (reference) => {
    found.add(reference);
    return undefined;
  });
  return found;
}

/** The id of the logo in the style of a request. The parser reports an id that no logo can have. */
export function logoIdIn({ fields, isJson }: NamedForm): string | undefined {
  const sent = fields.find(({ name }) => name === 'style')?.value;
  const style: unknown = typeof sent === 'string' && isJson !== true ? readText(sent.trim()) : sent;
  const logo: unknown = typeof style === 'object' && style !== null ? (style as Fields)['logo'] : undefined;
  const id: unknown = typeof logo === 'object' && logo !== null ? (logo as Fields)['id'] : undefined;
  return typeof id === 'string' && isLogoId(id) ? id : undefined;
}

/** The fonts that the styles of a request name by an id. */
export function ownFontsIn(form: NamedForm): readonly { readonly id: string; readonly pointer: string }[] {
  const found: { readonly id: string; readonly pointer: string }[] = [];
  const note = (style: unknown, pointer: string): unknown => {
    const font = typeof style === 'object' && style !== null ? (style as Fields)['font'] : undefined;
    if (typeof font === 'string' && isOwnFont(font)) found.push({ id: font, pointer: `${pointer}/font` });
    return style;
  };
  eachStyle(form, note);
  return found;
}

/** Returns the same form if it names no saved style. */
export function withSavedStyles<Some extends NamedForm>(form: Some, find: FindStyle): Some {
  const faults: FieldFault[] = [];
  let defaults: SavedStyle | undefined;
  const resolve = (style: unknown, pointer: string, isOfRequest: boolean): unknown => {
    const reference = referenceOf(style);
    if (reference === undefined) return style;
    const isObject = typeof style === 'object';
    const found = find(reference, isObject ? `${pointer}/preset` : pointer);
    if (found === undefined) return style;
    if ('pointer' in found) faults.push(found);
    const saved: SavedStyle = 'pointer' in found ? {} : found;
    if (isOfRequest) defaults = saved;
    const kept = isOfRequest ? stylePart(saved) : captionPart(saved);
    return { preset: DEFAULT_PRESET, ...kept, ...(isObject && ownKeys(style as Fields)) };
  };
  const fields = eachStyle(form, resolve);
  if (fields.every((field, index) => field === form.fields[index])) return form;
  const added = defaults === undefined ? [] : missingDefaults(form, defaults);
  return { ...form, fields: [...fields, ...added], faults: [...form.faults, ...faults] };
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

function referenceOf(style: unknown): string | undefined {
  const name: unknown = typeof style === 'object' && style !== null ? (style as Fields)['preset'] : style;
  return typeof name === 'string' && mayBeSaved(name) && parseReference(name) !== undefined ? name : undefined;
}

/** Null means that the key is omitted. */
function ownKeys(style: Fields): Fields {
  return Object.fromEntries(Object.entries(style).filter(([key, value]) => key !== 'preset' && value !== null));
}

type Resolve = (style: unknown, pointer: string, isOfRequest: boolean) => unknown;

/** Forms may repeat `overlays`, with one object each. */
function eachStyle(form: NamedForm, resolve: Resolve): FormField[] {
  let overlays = 0;
  return form.fields.map((field) => {
    const index = field.name === 'overlays' ? overlays++ : 0;
    return mapField(field, index, form.isJson === true, resolve);
  });
}

/** Text of a form that isn't valid JSON stays as it is, and the parser reports it. */
function mapField(field: FormField, index: number, isJson: boolean, resolve: Resolve): FormField {
  const map = MAPPED_FIELDS.get(field.name);
  if (map === undefined) return field;
  if (isJson) return withValue(field, map(field.value, index, resolve));
  if (typeof field.value !== 'string') return field;
  const read = readText(field.value.trim());
  const mapped = map(read, index, resolve);
  return mapped === read ? field : { ...field, value: JSON.stringify(mapped) };
}

function withValue(field: FormField, value: unknown): FormField {
  return value === field.value ? field : { ...field, value };
}

function readText(text: string): unknown {
  if (!/^[[{"]/u.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A map, because a field may have the name of something that every object has. */
const MAPPED_FIELDS = new Map<string, (value: unknown, index: number, resolve: Resolve) => unknown>([
  ['style', (value, _index, resolve) => resolve(value, '#/style', true)],
  [
    'overlays',
    (value, index, resolve) => {
      if (!Array.isArray(value)) return mapOverlay(value, `#/overlays/${index}`, resolve);
      const mapped = value.map((one: unknown, place) => mapOverlay(one, `#/overlays/${place}`, resolve));
      return mapped.every((one, place) => one === value[place]) ? value : mapped;
    },
  ],
]);

function mapOverlay(overlay: unknown, pointer: string, resolve: Resolve): unknown {
  if (typeof overlay !== 'object' || overlay === null || !('style' in overlay)) return overlay;
  const style = resolve(overlay.style, `${pointer}/style`, false);
  return style === overlay.style ? overlay : { ...overlay, style };
}

/** The fields that the request leaves to the style. A position isn't allowed beside overlays, which have their own. */
function missingDefaults({ fields, isJson }: NamedForm, style: SavedStyle): FormField[] {
  const isSent = (name: string): boolean =>
    fields.some((field) => field.name === name && field.value !== null && !isBlankText(field.value));
  return defaultsOf(style)
    .filter(([name]) => !isSent(name) && !(name === 'position' && isSent('overlays')))
    .map(([name, value]) => ({ name, value: isJson === true ? value : String(value) }));
}

function isBlankText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === '';
}

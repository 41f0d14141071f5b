// The fields of one request by name, whatever its encoding. In forms every value is a string, which is read here as the
// type of its field. In JSON a value has its own type, and `null` means that the field is omitted.

import type { FieldFault } from '../../shared/errors.ts';
import type { Json } from '../../shared/json-schema.ts';
import { ExcessiveJson, parseJson } from '../../shared/parse-json.ts';
import { isObject, type Schema, UNITS } from './check.ts';
import { cleanText, isBlank } from './clean.ts';
import { pointerTo, quoteValue } from './quote.ts';
import { type FieldName, RENDER_FIELDS } from './request-fields.ts';

export interface FormField {
  readonly name: string;
  readonly value: unknown;
}

export interface Form {
  readonly fields: readonly FormField[];
  /** True if the values come from a JSON object. In forms they are strings. */
  readonly isJson?: boolean;
  readonly hasAsset: boolean;
  /** Undefined while the kind of the asset isn't known. */
  readonly assetKind?: 'image' | 'animation' | 'video' | undefined;
  /** The fields that are allowed; those of a render by default. */
  readonly allowed?: Readonly<Partial<Record<FieldName, Json>>>;
  /** True where `captions` may be `auto`. */
  readonly allowsSpeech?: boolean;
  /** The maximum length of `captions`; that of callers with a key by default. */
  readonly maxCaptionsBytes?: number;
  /** Errors found while the fields were being read. */
  readonly faults: readonly FieldFault[];
}

/** The fields of a request, each with a value of its own type, not checked yet. */
export interface ReadFields extends Omit<Form, 'fields' | 'isJson'> {
  /** Undefined where a field couldn't be read, which has been reported. */
  readonly values: Readonly<Partial<Record<FieldName, unknown>>>;
  /** The texts of a form, for messages. */
  readonly texts: Readonly<Partial<Record<FieldName, string>>>;
  /** True if the request has a field that doesn't exist. */
  readonly hasUnknown: boolean;
  /** True if `asset` was sent as text. It has been reported, and the request needs nothing instead of it. */
  readonly hasTextAsset: boolean;
  /** The names of all fields, also of blank ones. */
  readonly sent: ReadonlySet<string>;
}

/** An overlay whose fault has been reported, so that the others are still checked. */
const REPORTED = { text: '-' };
/** Fields whose text is kept as it is. */
const VERBATIM: ReadonlySet<string> = new Set<FieldName>(['text', 'captions']);

export function readFields({ fields, isJson = false, ...form }: Form): ReadFields {
  const { allowed = RENDER_FIELDS } = form;
  const faults = [...form.faults];
  const sent = new Map<string, unknown[]>();
  for (const { name, value } of fields) {
    if (value !== null) sent.set(name, [...(sent.get(name) ?? []), value]);
  }
  const hasTextAsset = sent.has('asset') && 'asset_url' in allowed;
  if (hasTextAsset) {
    const detail =
      "asset must be a file in multipart/form-data, not text such as base64. Send it that way, or send the file's URL in asset_url.";
    faults.push({ pointer: '#/asset', code: 'wrong_type', detail });
    sent.delete('asset');
  }
  const unknown = [...sent.keys()].filter((name) => !Object.hasOwn(allowed, name));
  faults.push(...unknown.map((name) => unknownField(name, Object.keys(allowed))));
  const values: Partial<Record<FieldName, unknown>> = {};
  const texts: Partial<Record<FieldName, string>> = {};
  for (const name of Object.keys(allowed) as FieldName[]) {
    const list = (sent.get(name) ?? []).filter((value) => !isBlankField(name, value));
    const [value] = list;
    if (value === undefined) continue;
    if (list.length > 1 && name !== 'overlays') {
      faults.push({ pointer: `#/${name}`, code: 'duplicate', detail: `Field ${name} was sent more than once.` });
    }
    const text = typeof value === 'string' && !VERBATIM.has(name) ? value.trim() : value;
    const isText = !isJson && typeof text === 'string';
    if (isText) texts[name] = text;
    if (list.length > 1 && name === 'overlays') values[name] = list.map((one, index) => overlayOf(one, index, faults));
    else values[name] = isText ? typedValue(name, text, allowed[name] as Schema, faults) : text;
    if (name === 'overlays' && isObject(values[name])) values[name] = [values[name]];
  }
  return { ...form, values, texts, faults, hasUnknown: unknown.length > 0, hasTextAsset, sent: new Set(sent.keys()) };
}

/** A blank field counts as absent, so a browser form with an empty input works. */
function isBlankField(name: FieldName, value: unknown): boolean {
  if (typeof value !== 'string' || name === 'asset_url') return false;
  return name === 'text' ? isBlank(cleanText(value)) : value.trim() === '';
}

/** Forms may repeat `overlays` with one object each, which is how clients generated from the OpenAPI document send an array. */
function overlayOf(value: unknown, index: number, faults: FieldFault[]): unknown {
  return readJson(String(value), `#/overlays/${index}`, 'This overlay', faults) ?? REPORTED;
}

/** Reads the text of a form as the type of its field. Text of another type stays as it is. */
function typedValue(name: FieldName, text: string, { type, oneOf }: Schema, faults: FieldFault[]): unknown {
  if (type === 'integer') return /^[+-]?\d+$/u.test(text) ? Number(text) : text;
  if (type === 'number') {
    const pattern = UNITS[`#/${name}`] === 'seconds' ? /^\d+(?:\.\d+)?$/u : /^[+-]?\d+(?:\.\d+)?$/u;
    return pattern.test(text) ? Number(text) : text;
  }
  if (type === 'boolean') return text === 'true' || (text === 'false' ? false : text);
  // Clients that send a field as JSON put quotes around a name.
  const isJson = type === 'array' || type === 'object' || (oneOf && !VERBATIM.has(name) && /^[{"]/u.test(text));
  return isJson ? readJson(text, `#/${name}`, `The ${name} field`, faults) : text;
}

/** Returns undefined after a fault, because JSON has no such value. */
function readJson(text: string, pointer: string, what: string, faults: FieldFault[]): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    const problem = error instanceof ExcessiveJson ? `has ${error.message}` : "isn't valid JSON";
    faults.push({ pointer, code: 'invalid_json', detail: `${what} ${problem}.` });
    return undefined;
  }
}

function unknownField(name: string, names: readonly string[]): FieldFault {
  const valid = names.includes('asset_url') ? ['asset', ...names] : names;
  const detail = `Unknown field ${quoteValue(name)}. Valid fields are ${valid.join(', ')}.`;
  return { pointer: pointerTo(name), code: 'unknown_field', detail };
}

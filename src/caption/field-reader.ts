// The fields of one request by name, whatever its encoding. In forms every value is a string. In JSON a value has its own
// type, and `null` means that the field is omitted.

import type { FieldFault } from '../errors.ts';
import type { Json } from '../primitives/json-schema.ts';
import { asText, capitalize, pointerTo, quoteValue, shorten, typeName } from './quote.ts';
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
  /** Set where `captions` may be `auto`. The transcript takes its place once there is one. */
  readonly speech?: { readonly transcript?: unknown };
  /** Errors found while the fields were being read. */
  readonly faults: readonly FieldFault[];
}

export class FieldReader {
  readonly faults: FieldFault[];
  readonly isJson: boolean;
  readonly #names: readonly FieldName[];
  readonly #values = new Map<FieldName, unknown[]>();
  readonly #unreadable: ReadonlySet<string>;
  /** True if the request has a field that doesn't exist. */
  hasUnknown = false;
  /** True if `asset` was sent as text. It has been reported, and the request needs nothing instead of it. */
  hasTextAsset = false;

  constructor({ fields, isJson = false, allowed = RENDER_FIELDS, faults }: Form) {
    this.isJson = isJson;
    this.#names = Object.keys(allowed) as FieldName[];
    this.faults = [...faults];
    this.#unreadable = new Set(faults.map(({ pointer }) => pointer));
    for (const { name, value } of fields) if (value !== null) this.#add(name, value);
  }

  /** Returns all values of a field. Only `overlays` may have more than one. */
  all(name: FieldName): readonly unknown[] {
    return this.#values.get(name) ?? [];
  }

  has(name: FieldName): boolean {
    return this.#values.has(name);
  }

  /** Returns true when the field was sent but couldn't be read, which has been reported already. */
  isUnreadable(name: FieldName): boolean {
    return this.#unreadable.has(`#/${name}`);
  }

  /** Returns undefined for an absent field, and for a JSON value of another type, which is reported. */
  text(name: FieldName): string | undefined {
    const [value] = this.all(name);
    if (value === undefined || typeof value === 'string') return value;
    this.add(name, 'wrong_type', `${capitalize(name)} must be a string; got ${typeName(value)}.`);
    return undefined;
  }

  /** Returns undefined for an absent or blank field, and for anything but a whole number, which is reported. */
  integer(name: FieldName, unit?: string): number | undefined {
    const [value] = this.all(name);
    if (value === undefined || (typeof value === 'string' && value.trim() === '')) return undefined;
    if (this.isJson && typeof value !== 'number') {
      this.add(name, 'wrong_type', `${capitalize(name)} must be a number; got ${typeName(value)}.`);
      return undefined;
    }
    const text = asText(value).trim();
    if (/^[+-]?\d+$/u.test(text)) return Number(text);
    const got = this.isJson ? text : quoteValue(text);
    this.add(
      name,
      'not_an_integer',
      `${capitalize(name)} must be a whole number${unit === undefined ? '' : ` of ${unit}`}; got ${got}.`,
    );
    return undefined;
  }

  /** Returns false for an absent or blank field. Anything but a boolean, or its name in a form, is reported. */
  boolean(name: FieldName): boolean {
    const [value] = this.all(name);
    const text = typeof value === 'string' && !this.isJson ? value.trim() : value;
    if (text === undefined || text === '' || text === false || (text === 'false' && !this.isJson)) return false;
    if (text === true || (text === 'true' && !this.isJson)) return true;
    this.add(name, 'wrong_type', `${capitalize(name)} must be true or false.`);
    return false;
  }

  /**
   * Reads a number of seconds. Returns undefined for an absent or blank field, and for anything else, which is
   * reported.
   */
  seconds(name: FieldName, max: number, least: 'above 0' | 'from 0' = 'above 0'): number | undefined {
    const [value] = this.all(name);
    if (value === undefined || (typeof value === 'string' && value.trim() === '')) return undefined;
    const isNumber = this.isJson ? typeof value === 'number' : /^\d+(?:\.\d+)?$/u.test(asText(value).trim());
    const seconds = isNumber ? Number(value) : Number.NaN;
    const isEnough = least === 'from 0' ? seconds >= 0 : seconds > 0;
    if (isEnough && seconds <= max) return seconds;
    const code = isNumber ? 'out_of_range' : 'wrong_type';
    this.add(
      name,
      code,
      `${capitalize(name)} must be a number of seconds ${least === 'from 0' ? 'from 0' : 'above 0 and up'} to ${max}.`,
    );
    return undefined;
  }

  /** Returns the value of a field as error messages quote it. */
  shown(name: FieldName): string {
    return shorten(asText(this.all(name)[0]).trim());
  }

  add(name: FieldName, code: FieldFault['code'], detail: string): void {
    this.faults.push({ pointer: `#/${name}`, code, detail });
  }

  #validNames(): readonly string[] {
    return this.#names.includes('asset_url') ? ['asset', ...this.#names] : this.#names;
  }

  #addUnknown(name: string): void {
    if (name === 'asset' && this.#names.includes('asset_url')) {
      const detail =
        "asset must be a file in multipart/form-data, not text such as base64. Send it that way, or send the file's URL in asset_url.";
      if (!this.hasTextAsset) this.faults.push({ pointer: '#/asset', code: 'wrong_type', detail });
      this.hasTextAsset = true;
      return;
    }
    this.hasUnknown = true;
    const detail = `Unknown field ${quoteValue(name)}. Valid fields are ${this.#validNames().join(', ')}.`;
    this.faults.push({ pointer: pointerTo(name), code: 'unknown_field', detail });
  }

  #add(name: string, value: unknown): void {
    const known = this.#names.find((fieldName) => fieldName === name);
    if (known === undefined) {
      this.#addUnknown(name);
      return;
    }
    const values = this.#values.get(known);
    if (values === undefined) this.#values.set(known, [value]);
    else if (known === 'overlays') values.push(value);
    else this.add(known, 'duplicate', `Field ${known} was sent more than once.`);
  }
}

// Runs the JSON Schemas of fields. A value that its schema allows is returned in its canonical form. Anything else is
// reported in the words of the API and becomes undefined. In objects, null counts as omitted.

import type { FieldFault } from '../../shared/errors.ts';
import { orList } from '../../shared/or-list.ts';
import { capitalize, pointerTo, quoteJson, quoteValue, shorten, typeName } from './quote.ts';
import { type TextProblem, TEXT_RULES } from './text-rules.ts';

/** The part of JSON Schema that fields use. A schema without a type refers to one that is checked elsewhere. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  /** That of a color. Other texts with a pattern have a rule in `TEXT_RULES`, and so have those with a length. */
  readonly pattern?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly maxProperties?: number;
  /** A text stands for an object that has only its first key. */
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}

/** Where a value was sent, and where its faults go. */
export interface ValuePlace {
  readonly pointer: string;
  /** The field or key, for messages. */
  readonly name: string;
  readonly faults: FieldFault[];
  /** The text that a form sent. */
  readonly sent?: string | undefined;
}

type Values = Readonly<Record<string, unknown>>;

/** What a field is a number of. */
export const UNITS: Readonly<Record<string, string>> = {
  '#/width': 'pixels',
  '#/height': 'pixels',
  '#/max_bytes': 'bytes',
  '#/duration': 'seconds',
  '#/at': 'seconds',
};

export function check(schema: Schema, value: unknown, place: ValuePlace): unknown {
  const choices = schema.oneOf ?? schema.anyOf ?? [schema];
  const chosen = choices.find((choice) => hasType(choice, value));
  if (chosen === undefined) return reportType(choices, value, place);
  if (typeof value === 'string') {
    const [first] = choices.flatMap(({ properties = {} }) => Object.entries(properties));
    return first ? { [first[0]]: check(first[1], value, place) } : checkText(chosen, value, place);
  }
  if (typeof value === 'number') return checkNumber(chosen, value, place);
  if (Array.isArray(value)) return checkItems(chosen, value, place);
  return isObject(value) ? checkObject(chosen, value, place) : value;
}

export function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasType({ type }: Schema, value: unknown): boolean {
  if (type === 'object') return isObject(value);
  if (type === 'array') return Array.isArray(value);
  // JSON has no Infinity, but 1e999 becomes one.
  if (type === 'integer') return Number.isInteger(value) || value === Infinity || value === -Infinity;
  return type === undefined || type === typeof value;
}

function checkText({ enum: names, pattern }: Schema, text: string, place: ValuePlace): unknown {
  const rule = TEXT_RULES[place.name];
  if (rule) return rule(text, (problem) => report(place, problem));
  const got = quoteJson(text);
  if (names) {
    if (names.includes(text)) return text;
    return report(place, { code: 'invalid_choice', detail: `${label(place)} must be ${orList(names)}; got ${got}.` });
  }
  if (pattern === undefined) return text;
  const color = new RegExp(pattern, 'u');
  if (color.test(text)) return text.toLowerCase();
  const kind = color.test('#ffcc0080') ? 'a color such as "#ffcc00", or "#ffcc0080" with transparency' : OPAQUE;
  return report(place, { code: 'invalid_color', detail: `${label(place)} must be ${kind}; got ${got}.` });
}

const OPAQUE = 'an opaque color such as "#ffcc00"';

function checkNumber(schema: Schema, value: number, place: ValuePlace): number | undefined {
  const { minimum = -Infinity, exclusiveMinimum = -Infinity, maximum = Number.MAX_VALUE } = schema;
  if (value >= minimum && value > exclusiveMinimum && value <= maximum) return value;
  const unit = UNITS[place.pointer];
  const limits = unit === undefined ? rangeOf(schema) : `${rangeOf(schema)} ${unit}`;
  const detail = `${label(place)} must be ${limits}; got ${shorten(place.sent ?? String(value))}.`;
  return report(place, { code: 'out_of_range', detail });
}

function rangeOf({ minimum, exclusiveMinimum, maximum }: Schema): string {
  const least = minimum === undefined ? `above ${exclusiveMinimum}` : `at least ${minimum}`;
  if (maximum === undefined) return least;
  return minimum === undefined ? `${least} and up to ${maximum}` : `between ${minimum} and ${maximum}`;
}

function checkItems(
  { items, maxItems = Infinity }: Schema,
  list: readonly unknown[],
  place: ValuePlace,
): readonly unknown[] {
  if (items?.type === undefined) return list;
  const { pointer, name, faults } = place;
  if (list.length === 0 || list.length > maxItems) {
    const detail = `${label(place)} must contain 1 to ${maxItems} captions; got ${list.length}.`;
    report(place, { code: list.length === 0 ? 'required' : 'too_many', detail });
  }
  return list
    .slice(0, maxItems)
    .map((item, index) =>
      check(items, item, { pointer: `${pointer}/${index}`, name: name.replace(/s$/u, ''), faults }),
    );
}

/** Keys that are absent stay absent. An invalid one is undefined. */
function checkObject(schema: Schema, value: Values, place: ValuePlace): Values {
  const { properties, required = [], additionalProperties: others, maxProperties = Infinity } = schema;
  const { pointer, name, faults } = place;
  if (isObject(others)) {
    const entries = Object.entries(value).filter(([, one]) => one !== null);
    if (entries.length > maxProperties) {
      const detail = `${label(place)} can have at most ${maxProperties} keys; got ${entries.length}.`;
      report(place, { code: 'too_many', detail });
    }
    const at = (key: string): ValuePlace => ({
      pointer: `${pointer}${pointerTo(key).slice(1)}`,
      name: 'header',
      faults,
    });
    return Object.fromEntries(entries.map(([key, one]) => [key, check(others, one, at(key))]));
  }
  if (properties === undefined) return value;
  const keys = Object.keys(properties);
  for (const key of others === false ? Object.keys(value) : []) {
    if (keys.includes(key)) continue;
    const detail = `Unknown key ${quoteJson(key)} in ${name}. Valid keys are ${keys.join(', ')}.`;
    faults.push({ pointer: `${pointer}${pointerTo(key).slice(1)}`, code: 'unknown_field', detail });
  }
  const checked: Record<string, unknown> = {};
  for (const [key, property] of Object.entries(properties)) {
    const at = { pointer: `${pointer}/${key}`, name: key, faults };
    const isSent = Object.hasOwn(value, key) && (value[key] ?? null) !== null;
    if (isSent) checked[key] = check(property, value[key], at);
    else if (required.includes(key)) {
      report(at, { code: 'required', detail: `${label(at)} is required in every ${name}.` });
      checked[key] = undefined;
    }
  }
  return checked;
}

function reportType(choices: readonly Schema[], value: unknown, place: ValuePlace): undefined {
  const isNumeric = choices.some(({ type }) => type === 'integer');
  const isFraction = isNumeric && typeof value === 'number';
  const code = isNumeric && (isFraction || place.sent !== undefined) ? 'not_an_integer' : 'wrong_type';
  const isText = typeof value === 'string' && place.sent !== undefined;
  const got = isText ? quoteValue(value) : isFraction ? String(value) : typeName(value);
  const kinds = choices.map((choice) => kindOf(choice, place)).join(', or ');
  return report(place, { code, detail: `${label(place)} must be ${kinds}; got ${got}.` });
}

function kindOf({ type, enum: names, ...limits }: Schema, { pointer }: ValuePlace): string {
  const unit = UNITS[pointer] === undefined ? '' : ` of ${UNITS[pointer]}`;
  if (names) return orList(names);
  if (type === 'integer') return `a whole number${unit}`;
  if (type === 'number') return limits.maximum === undefined ? 'a number' : `a number${unit} ${rangeOf(limits)}`;
  if (type === 'boolean') return 'true or false';
  return type === 'string' ? 'a string' : `an ${type}`;
}

function label({ name }: ValuePlace): string {
  return capitalize(name);
}

function report({ pointer, faults }: ValuePlace, { code, detail }: TextProblem): undefined {
  faults.push({ pointer, code, detail });
  return undefined;
}

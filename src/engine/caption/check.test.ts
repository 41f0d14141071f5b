import { describe, expect, it } from 'vitest';
import type { FieldFault } from '../../shared/errors.ts';
import { check, type Schema } from './check.ts';
import { OVERLAY_FIELDS } from './overlay.ts';
import { LAYOUT_FIELDS, RENDER_FIELDS } from './request-fields.ts';
import { SAVED_STYLE_FIELDS } from './saved-style.ts';
import { TEXT_RULES } from './text-rules.ts';

const RUN = ['type', 'enum', 'pattern', 'minimum', 'exclusiveMinimum', 'maximum', 'items', 'maxItems', 'properties'];
const RUN_IN_OBJECTS = ['required', 'additionalProperties', 'maxProperties', 'oneOf', 'anyOf'];
/** `$ref` leads to another table. A list is never empty, and a `uri` has a rule. */
const OTHERS = ['description', '$ref', 'minItems', 'format'];
/** Rules of their own, by the name of the field. */
const LENGTHS = new Set(['maxLength', 'minLength']);
/** Parsed by `parseCues`. */
const PARSED = 'captions';

interface Keyword {
  readonly name: string;
  readonly keyword: string;
}

/** The keywords of a schema and of all schemas in it. */
function keywordsOf(name: string, schema: Schema): Keyword[] {
  const { properties = {}, items, additionalProperties, oneOf = [], anyOf = [] } = schema;
  const others = typeof additionalProperties === 'object' ? [additionalProperties] : [];
  return [
    ...Object.keys(schema).map((keyword) => ({ name, keyword })),
    ...Object.entries(properties).flatMap(([key, property]) => keywordsOf(key, property)),
    ...others.flatMap((each) => keywordsOf('header', each)),
    ...[...(items ? [items] : []), ...oneOf, ...anyOf].flatMap((each) => keywordsOf(name, each)),
  ];
}

function run(schema: Schema, value: unknown): { value: unknown; faults: string[] } {
  const faults: FieldFault[] = [];
  const checked = check(schema, value, { pointer: '#/a', name: 'a', faults });
  return { value: checked, faults: faults.map(({ pointer, code }) => `${pointer} ${code}`) };
}

describe('the schemas of fields', () => {
  it('have no keyword that nothing checks', () => {
    const tables: Readonly<Record<string, Schema>>[] = [
      RENDER_FIELDS,
      LAYOUT_FIELDS,
      OVERLAY_FIELDS,
      SAVED_STYLE_FIELDS,
    ];
    const all = tables.flatMap((table) => Object.entries(table).flatMap(([name, field]) => keywordsOf(name, field)));
    const known = new Set([...RUN, ...RUN_IN_OBJECTS, ...OTHERS]);
    const unchecked = all.filter(({ name, keyword }) => {
      const hasRule = TEXT_RULES[name] !== undefined || name === PARSED;
      return !known.has(keyword) && !(LENGTHS.has(keyword) && hasRule);
    });
    expect(all.length).toBeGreaterThan(100);
    expect(unchecked).toEqual([]);
  });
});

describe('a value', () => {
  const color = { type: 'string', pattern: '^#[0-9a-f]{6}$' } as const;
  const schema: Schema = {
    oneOf: [
      { type: 'string', enum: ['on', 'off'] },
      {
        type: 'object',
        properties: { mode: { type: 'string', enum: ['on', 'off'] }, fill: color },
        required: ['mode'],
        additionalProperties: false,
      },
    ],
  };

  it('stands for an object with only its first key when it is a name', () => {
    expect(run(schema, 'on')).toEqual({ value: { mode: 'on' }, faults: [] });
    expect(run(schema, 'dim')).toEqual({ value: { mode: undefined }, faults: ['#/a invalid_choice'] });
  });

  it('has every fault reported, and an invalid key stays known as undefined', () => {
    const { value, faults } = run(schema, { fill: 'red', 'x/y': 1, constructor: 2 });
    expect(faults).toEqual([
      '#/a/x~1y unknown_field',
      '#/a/constructor unknown_field',
      '#/a/mode required',
      '#/a/fill invalid_color',
    ]);
    expect(Object.keys(value as object)).toEqual(['mode', 'fill']);
  });

  it('is refused when it has no allowed type', () => {
    for (const value of [5, true, ['on'], null]) expect(run(schema, value).faults).toEqual(['#/a wrong_type']);
    expect(run({ type: 'integer', minimum: 1 }, 1.5).faults).toEqual(['#/a not_an_integer']);
    expect(run({ type: 'number', minimum: 0 }, JSON.parse('1e999')).faults).toEqual(['#/a out_of_range']);
  });
});

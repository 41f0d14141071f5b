// Parts of the schemas of responses. They keep literal types, so that the types of responses follow from the schemas.

import type { Json } from '../../shared/json-schema.ts';

export const STRING = { type: 'string' } as const;
export const INTEGER = { type: 'integer' } as const;
export const NUMBER = { type: 'number' } as const;
export const ID = { type: 'string', format: 'uuid' } as const;
export const URL = { type: 'string', format: 'uri' } as const;
export const DAY = { type: 'string', format: 'date' } as const;
export const TIME = { type: 'string', format: 'date-time' } as const;
export const STRING_OR_NULL = { type: ['string', 'null'] } as const;
export const INTEGER_OR_NULL = { type: ['integer', 'null'] } as const;
export const ID_OR_NULL = { ...STRING_OR_NULL, format: 'uuid' } as const;
export const TIME_OR_NULL = { ...STRING_OR_NULL, format: 'date-time' } as const;
export const NEXT_CURSOR = {
  ...STRING_OR_NULL,
  description: 'The `cursor` of the next page; null on the last one.',
} as const;

export function ref<const Name extends string>(name: Name) {
  return { $ref: `#/components/schemas/${name}` } as const;
}

export function refOrNull<const Name extends string>(name: Name) {
  return { anyOf: [ref(name), { type: 'null' }] } as const;
}

export function listOf<const Item extends Json>(items: Item) {
  return { type: 'array', items } as const;
}

/** Returns the schema of an object that has all these properties. */
export function complete<const Fields extends Readonly<Record<string, Json>>>(properties: Fields) {
  return { type: 'object', required: Object.keys(properties) as (keyof Fields & string)[], properties } as const;
}

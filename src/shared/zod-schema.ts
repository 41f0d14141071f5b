// Converts JSON Schemas to zod schemas, for messages between processes.

import { z } from 'zod';
import type { Json, ValueOf } from './json-schema.ts';

export function schemaOf<const Field extends Json>(field: Field): z.ZodType<ValueOf<Field>> {
  return z.fromJSONSchema(field as Parameters<typeof z.fromJSONSchema>[0]) as z.ZodType<ValueOf<Field>>;
}

type OptionalFields<Fields> = {
  readonly [Name in keyof Fields]: z.ZodExactOptional<z.ZodType<ValueOf<Fields[Name]>>>;
};

/** Makes each field optional. */
export function optionalFields<const Fields extends Readonly<Record<string, Json>>>(
  fields: Fields,
): OptionalFields<Fields> {
  const entries = Object.entries(fields).map(([name, field]) => [name, schemaOf(field).exactOptional()] as const);
  return Object.fromEntries(entries) as OptionalFields<Fields>;
}

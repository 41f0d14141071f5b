// Fields are defined as JSON Schemas: plain data that the OpenAPI document contains, that parsers read their limits from,
// and that TypeScript types follow from.

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

interface Scalars {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly null: null;
  readonly object: object;
}

/** The values that a schema allows. `Named` are the schemas that `$ref` can refer to. */
export type ValueOf<Schema, Named = object> = Schema extends { readonly $ref: `#/components/schemas/${infer Name}` }
  ? Name extends keyof Named
    ? ValueOf<Named[Name], Named>
    : unknown
  : Schema extends { readonly anyOf: readonly (infer Choice)[] } | { readonly oneOf: readonly (infer Choice)[] }
    ? ValueOf<Choice, Named>
    : Schema extends { readonly enum: readonly (infer Value)[] }
      ? Value
      : Schema extends { readonly items: infer Item }
        ? readonly ValueOf<Item, Named>[]
        : Schema extends { readonly properties: infer Fields; readonly required: readonly (infer Name)[] }
          ? { readonly [Field in keyof Fields & Name]: ValueOf<Fields[Field], Named> } & {
              readonly [Field in Exclude<keyof Fields, Name>]?: ValueOf<Fields[Field], Named>;
            }
          : Schema extends { readonly additionalProperties: infer Item extends object }
            ? Readonly<Record<string, ValueOf<Item, Named>>>
            : Schema extends { readonly type: infer Type }
              ? ScalarOf<Type>
              : unknown;

type ScalarOf<Type> = Type extends readonly (infer One)[]
  ? ScalarOf<One>
  : Type extends keyof Scalars
    ? Scalars[Type]
    : unknown;

/** An object with any of these fields. */
export type ValuesOf<Fields> = { readonly [Name in keyof Fields]?: ValueOf<Fields[Name]> };

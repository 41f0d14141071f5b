// Types of what callers send, from the types of the OpenAPI document.

/** The same type with lists that may be read-only and with optional fields that may be `undefined`, at every depth. */
export type Input<Type> = Type extends readonly (infer Item)[]
  ? readonly Input<Item>[]
  : Type extends object
    ? {
        readonly [Key in keyof Type]: IsOptional<Type, Key> extends true
          ? Input<Type[Key]> | undefined
          : Input<Type[Key]>;
      }
    : Type;

type IsOptional<Type, Key extends keyof Type> = Partial<Pick<Type, Key>> extends Pick<Type, Key> ? true : false;

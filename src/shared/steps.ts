/** A computation that yields where it can be interrupted. Apart from `slices.ts`, because code for browsers uses it, too. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

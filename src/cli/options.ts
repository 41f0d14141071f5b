// The kinds of options that actions take, with their help text and their parsers.

import { UsageError } from './exit-codes.ts';

/** An option with a value, such as `--count <n>`. */
export interface ValueOption<Value, Required extends boolean = boolean> {
  readonly placeholder: string;
  readonly isRequired: Required;
  /** `option` is the name to use in errors, such as `--count`. */
  readonly parse: (text: string, option: string) => Value;
}

/** An option without a value, such as `--now`. */
export interface Flag {
  readonly placeholder: undefined;
}

export type OptionTable = Readonly<Record<string, ValueOption<unknown> | Flag>>;

type OptionValue<Option> =
  Option extends ValueOption<infer Value, infer Required>
    ? Required extends true
      ? Value
      : Value | undefined
    : boolean;

export type OptionValues<Options extends OptionTable> = {
  readonly [Name in keyof Options]: OptionValue<Options[Name]>;
};

export const flag: Flag = { placeholder: undefined };

export function text(placeholder: string): ValueOption<string, false> {
  return { placeholder, isRequired: false, parse: (value) => value };
}

export function wholeNumber(placeholder: string, min: number): ValueOption<number, false> {
  const parse = (value: string, option: string): number => {
    const number = /^\d{1,9}$/u.test(value) ? Number(value) : Number.NaN;
    if (number >= min) return number;
    throw new UsageError(`${option} must be a whole number of at least ${min}; got "${value}"`);
  };
  return { placeholder, isRequired: false, parse };
}

/** Parses a calendar day in the form the store uses. */
export function day(placeholder: string): ValueOption<string, false> {
  const parse = (value: string, option: string): string => {
    const date = /^\d{4}-\d{2}-\d{2}$/u.test(value) ? new Date(`${value}T00:00:00Z`) : new Date(Number.NaN);
    if (!Number.isNaN(date.getTime()) && date.toISOString().startsWith(value)) return value;
    throw new UsageError(`${option} must be a date such as 2026-01-31; got "${value}"`);
  };
  return { placeholder, isRequired: false, parse };
}

export function required<Value>(option: ValueOption<Value, false>): ValueOption<Value, true> {
  return { ...option, isRequired: true };
}

import type { Parse } from './parse.ts';

export interface Setting<Value> {
  readonly variable: string;
  readonly description: string;
  readonly defaultText: string;
  readonly parse: Parse<Value>;
}

export function setting<Value>(
  variable: string,
  defaultText: string,
  description: string,
  parse: Parse<Value>,
): Setting<Value> {
  return { variable, defaultText, description, parse };
}

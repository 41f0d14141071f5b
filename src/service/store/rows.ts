// Reads columns of database rows. A column of the wrong type is a bug or a damaged database, so reading it throws.

export type SqlRow = Readonly<Record<string, unknown>>;

/** A value that can be stored in a column. */
export type SqlValue = string | number | null;

/** Values of the parameters `:name` of a statement. Times become ISO 8601 text, and booleans 0 or 1. */
export type SqlParameters = Readonly<Record<string, SqlValue | Date | boolean>>;

export function toRow(value: unknown): SqlRow {
  if (isObject(value)) return value;
  throw new TypeError('the database returned something that is not a row');
}

export function text(row: SqlRow, column: string): string {
  const value = row[column];
  if (typeof value === 'string') return value;
  throw wrongType(column, 'text', value);
}

export function textOrNull(row: SqlRow, column: string): string | null {
  return row[column] === null ? null : text(row, column);
}

export function integer(row: SqlRow, column: string): number {
  const value = row[column];
  if (Number.isSafeInteger(value)) return Number(value);
  throw wrongType(column, 'an integer', value);
}

export function integerOrNull(row: SqlRow, column: string): number | null {
  return row[column] === null ? null : integer(row, column);
}

export function real(row: SqlRow, column: string): number {
  const value = row[column];
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw wrongType(column, 'a number', value);
}

/** Reads a boolean, which both databases store as 0 or 1. */
export function bool(row: SqlRow, column: string): boolean {
  return integer(row, column) === 1;
}

/** Reads a time, which is stored as ISO 8601 text. */
export function date(row: SqlRow, column: string): Date {
  const value = new Date(text(row, column));
  if (Number.isNaN(value.getTime())) throw wrongType(column, 'a date', row[column]);
  return value;
}

export function oneOf<Value extends string>(row: SqlRow, column: string, values: readonly Value[]): Value {
  const value = values.find((allowed) => allowed === row[column]);
  if (value !== undefined) return value;
  throw wrongType(column, `one of ${values.join(', ')}`, row[column]);
}

/** Reads a list, which is stored as JSON. Null counts as an empty list. */
export function textList(row: SqlRow, column: string): string[] {
  const json = textOrNull(row, column);
  const list: unknown = json === null ? [] : JSON.parse(json);
  if (Array.isArray(list) && list.every((item) => typeof item === 'string')) return list;
  throw wrongType(column, 'a JSON list of texts', json);
}

/** Reads an object, which is stored as JSON. */
export function jsonObject(row: SqlRow, column: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text(row, column));
  if (isObject(value) && !Array.isArray(value)) return value;
  throw wrongType(column, 'a JSON object', row[column]);
}

/** Reads any column, unchanged. */
export function storedValue(row: SqlRow, column: string): SqlValue {
  const value = row[column];
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  throw wrongType(column, 'text, a number or null', value);
}

function isObject(value: unknown): value is SqlRow {
  return typeof value === 'object' && value !== null;
}

function wrongType(column: string, expected: string, value: unknown): TypeError {
  const actual = value === null ? 'null' : typeof value;
  return new TypeError(`database column ${column} must be ${expected}; got ${actual}`);
}

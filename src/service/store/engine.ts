// The part of a database that the store needs: statements with parameters such as `:accountId`, and transactions. The SQL in
// the store keeps to what SQLite and PostgreSQL have in common.

import { AppError } from '../../shared/errors.ts';
import type { SqlParameters, SqlRow, SqlValue } from './rows.ts';

export interface SqlSession {
  all(sql: string, parameters?: SqlParameters): Promise<SqlRow[]>;
  /** Returns how many rows were changed. */
  run(sql: string, parameters?: SqlParameters): Promise<number>;
}

/** Throws `storage_unavailable` when the database can't be reached, is locked for too long or has no space left. */
export interface Engine extends SqlSession {
  readonly dialect: 'sqlite' | 'postgres';
  /** Runs all of `work` or none of it. An error is rethrown after the rollback. `work` may run more than once. */
  transaction<Result>(work: (session: SqlSession) => Promise<Result>): Promise<Result>;
  /** Closing a second time does nothing. */
  close(): Promise<void>;
}

/** What only commands need. */
export interface MaintainedEngine extends Engine {
  /** Gives the space of deleted rows back: SQLite to the disk, PostgreSQL mostly to new rows. Returns the bytes before and after. */
  vacuum(): Promise<{ readonly before: number; readonly after: number }>;
}

export async function first(
  session: SqlSession,
  sql: string,
  parameters: SqlParameters = {},
): Promise<SqlRow | undefined> {
  const [row] = await session.all(sql, parameters);
  return row;
}

/** Returns how many rows were added: none on a conflict that `onConflict` ignores. The column `account_id` is `accountId` here. */
export async function insertRow(
  session: SqlSession,
  table: string,
  row: SqlParameters,
  onConflict = '',
): Promise<number> {
  return await insertRows(session, table, [row], onConflict);
}

/** Inserts all rows in one statement. All rows have the same columns. */
export async function insertRows(
  session: SqlSession,
  table: string,
  rows: readonly SqlParameters[],
  onConflict = '',
): Promise<number> {
  const names = Object.keys(rows[0] ?? {});
  const columns = names.map((name) => name.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`));
  const values = rows.map((_, index) => `(${names.map((name) => `:${name}_${index}`).join(', ')})`);
  const named = rows.flatMap((row, index) => Object.entries(row).map(([name, value]) => [`${name}_${index}`, value]));
  const sql = `insert into ${table} (${columns.join(', ')}) values ${values.join(', ')} ${onConflict}`;
  return await session.run(sql, Object.fromEntries(named));
}

const PARAMETER = /(?<!:):(?<name>[a-z]\w*)/giu;

interface Compiled {
  /** Parameter names in the order in which they first occur, which is how SQLite counts them. */
  readonly names: readonly string[];
  /** The statement with `$1`, `$2`, ... for the parameters, as PostgreSQL writes them. */
  readonly numbered: string;
}

/** Compiled statements by their text. There are as many as the program has statements. */
const compiled = new Map<string, Compiled>();

export function compile(sql: string): Compiled {
  const known = compiled.get(sql);
  if (known !== undefined) return known;
  const numbers = new Map<string, number>();
  const numbered = sql.replaceAll(PARAMETER, (mark) => {
    const name = mark.slice(1);
    const number = numbers.get(name) ?? numbers.size + 1;
    numbers.set(name, number);
    return `$${number}`;
  });
  const statement = { names: [...numbers.keys()], numbered };
  compiled.set(sql, statement);
  return statement;
}

export function valuesFor(sql: string, parameters: SqlParameters): SqlValue[] {
  return compile(sql).names.map((name) => {
    const value = parameters[name];
    if (value === undefined) throw new TypeError(`the parameter :${name} has no value in ${sql}`);
    if (typeof value === 'boolean') return value ? 1 : 0;
    return value instanceof Date ? value.toISOString() : value;
  });
}

const RETRY_AFTER_SECONDS = 2;
const MESSAGE = 'The service cannot reach its database right now. Try again.';

/** The database can't be used right now, and nothing was changed. */
export function unavailable(cause: unknown): AppError {
  return new AppError('storage_unavailable', MESSAGE, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause });
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.code === 'storage_unavailable';
}

/** The connection broke during the commit, so it's unknown whether the change was made. */
export class OutcomeUnknown extends AppError {
  constructor(cause: unknown) {
    super('storage_unavailable', MESSAGE, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause });
    this.name = 'OutcomeUnknown';
  }
}

/** Calls `onFailure` for every operation that throws, except for errors that the store itself throws in a transaction. */
export function observeFailures(engine: Engine, onFailure: () => void): Engine {
  const observe = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof AppError) || isUnavailable(error)) onFailure();
      throw error;
    }
  };
  return {
    dialect: engine.dialect,
    all: async (sql, parameters) => await observe(engine.all(sql, parameters)),
    run: async (sql, parameters) => await observe(engine.run(sql, parameters)),
    transaction: async (work) => await observe(engine.transaction(work)),
    close: async () => await engine.close(),
  };
}

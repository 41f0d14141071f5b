// The part of a database that the store needs: statements with `?` for parameters, and transactions. The SQL in the store
// keeps to what SQLite and PostgreSQL have in common.

import { AppError } from '../errors.ts';
import type { SqlRow, SqlValue } from './rows.ts';

export interface SqlSession {
  all(sql: string, parameters?: readonly SqlValue[]): Promise<SqlRow[]>;
  /** Returns how many rows were changed. */
  run(sql: string, parameters?: readonly SqlValue[]): Promise<number>;
}

/** Throws `storage_unavailable` when the database can't be reached, is locked for too long or has no space left. */
export interface Engine extends SqlSession {
  readonly dialect: 'sqlite' | 'postgres';
  /** All of `work` or none of it. An error is rethrown after the rollback. `work` may run more than once. */
  transaction<Result>(work: (session: SqlSession) => Promise<Result>): Promise<Result>;
  /** Closing a second time does nothing. */
  close(): Promise<void>;
}

export async function first(
  session: SqlSession,
  sql: string,
  parameters: readonly SqlValue[] = [],
): Promise<SqlRow | undefined> {
  const [row] = await session.all(sql, parameters);
  return row;
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

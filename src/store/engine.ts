// What both databases can do, and all the rest of the store needs: statements with `?` for parameters, and transactions.
// Statements keep to what SQLite and PostgreSQL understand alike.

import { AppError } from '../errors.ts';

export type Parameter = string | number | null;

export interface SqlSession {
  all<Row>(sql: string, parameters?: readonly Parameter[]): Promise<Row[]>;
  /** How many rows were changed. */
  run(sql: string, parameters?: readonly Parameter[]): Promise<number>;
}

/** A database that cannot be reached, is locked for too long or has no room answers `storage_unavailable`. */
export interface Engine extends SqlSession {
  readonly dialect: 'sqlite' | 'postgres';
  /** All of `work` or nothing. Whatever it throws is thrown on, after the rollback. `work` may run more than once. */
  transaction<Result>(work: (session: SqlSession) => Promise<Result>): Promise<Result>;
  /** Closing a second time does nothing. */
  close(): Promise<void>;
}

export async function first<Row>(
  session: SqlSession,
  sql: string,
  parameters: readonly Parameter[] = [],
): Promise<Row | undefined> {
  const [row] = await session.all<Row>(sql, parameters);
  return row;
}

const RETRY_AFTER_SECONDS = 2;
const MESSAGE = 'The service cannot reach its database right now. Try again.';

/** The database is in trouble and nothing was changed. */
export function unavailable(cause: unknown): AppError {
  return new AppError('storage_unavailable', MESSAGE, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause });
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.code === 'storage_unavailable';
}

/** The connection broke during the commit: the change may have happened or not. */
export class OutcomeUnknown extends AppError {
  constructor(cause: unknown) {
    super('storage_unavailable', MESSAGE, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause });
    this.name = 'OutcomeUnknown';
  }
}

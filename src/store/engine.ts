// What both databases can do, and all the rest of the store needs: statements with `?` for parameters, and transactions.
// Statements keep to what SQLite and PostgreSQL understand alike.

export type Parameter = string | number | null;

export interface Session {
  all<Row>(sql: string, parameters?: readonly Parameter[]): Promise<Row[]>;
  /** How many rows were changed. */
  run(sql: string, parameters?: readonly Parameter[]): Promise<number>;
}

export interface Engine extends Session {
  /** All of `work` or nothing. Whatever it throws is thrown on, after the rollback. */
  transaction<Result>(work: (session: Session) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export async function first<Row>(
  session: Session,
  sql: string,
  parameters: readonly Parameter[] = [],
): Promise<Row | undefined> {
  const [row] = await session.all<Row>(sql, parameters);
  return row;
}

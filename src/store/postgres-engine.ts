// PostgreSQL, for more than one server. Row locks and conditional updates do the rest: every statement of the store is
// right at the isolation level that is the default there, read committed.

import pg from 'pg';
import { type Engine, isUnavailable, OutcomeUnknown, type Parameter, type SqlSession, unavailable } from './engine.ts';
import { MIGRATIONS } from './migrations.ts';
import { isConflict, isTrouble } from './postgres-errors.ts';

const POOL_SIZE = 10;
/** Also the longest wait for a free connection. */
const CONNECT_TIMEOUT_MS = 5_000;
/** No statement of ours takes long; one that does waits for a database in trouble, and its caller should hear so. */
const STATEMENT_TIMEOUT_MS = 10_000;
/** The same where the server itself does not answer any more. */
const ANSWER_TIMEOUT_MS = 15_000;
/** A server of ours that froze in the middle of a transaction must not hold its locks for long. */
const IDLE_IN_TRANSACTION_MS = 15_000;
/** Any number, as long as every version of the program takes the same. */
const MIGRATION_LOCK = 7_346_221_090;
const ATTEMPTS = 5;

/** `onBroken`: told when a connection breaks that is not at work; one that is at work tells its own caller. */
export class PostgresEngine implements Engine {
  readonly dialect = 'postgres';
  readonly #pool: pg.Pool;
  #closed: Promise<void> | undefined;

  private constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  static async open(url: string, onBroken: (error: Error) => void): Promise<PostgresEngine> {
    await migrate(url);
    const pool = new pg.Pool({
      connectionString: url,
      max: POOL_SIZE,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      keepAlive: true,
      application_name: 'storybar',
      types: { getTypeParser: readNumbers },
    });
    pool.on('error', onBroken);
    // The pool stops listening to a connection that it lends, and an error that nobody hears ends the process.
    pool.on('connect', (client) => client.on('error', () => undefined));
    return new PostgresEngine(pool);
  }

  async all<Row>(sql: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
    return await sessionOn(this.#pool).all<Row>(sql, parameters);
  }

  async run(sql: string, parameters: readonly Parameter[] = []): Promise<number> {
    return await sessionOn(this.#pool).run(sql, parameters);
  }

  async transaction<Result>(work: (session: SqlSession) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await onOneConnection(this.#pool, work);
      } catch (error) {
        if (!isConflict(error)) throw error;
        // Two transactions in each other's way: one of them is told to come again.
        if (attempt === ATTEMPTS) throw unavailable(error);
      }
    }
  }

  async close(): Promise<void> {
    this.#closed ??= this.#pool.end();
    await this.#closed;
  }
}

async function onOneConnection<Result>(pool: pg.Pool, work: (session: SqlSession) => Promise<Result>): Promise<Result> {
  const client = await clearly(async () => await pool.connect());
  try {
    const session = sessionOn(client);
    await session.run('begin');
    const result = await work(session);
    await commit(session);
    client.release();
    return result;
  } catch (error) {
    // A connection in trouble is thrown away, and so is one that cannot even roll back: the database does it by itself.
    if (isUnavailable(error)) client.release(true);
    else
      await client.query('rollback').then(
        () => client.release(),
        () => client.release(true),
      );
    throw error;
  }
}

async function commit(session: SqlSession): Promise<void> {
  try {
    await session.run('commit');
  } catch (error) {
    throw isConflict(error) ? error : new OutcomeUnknown(error);
  }
}

function sessionOn(connection: pg.Pool | pg.ClientBase): SqlSession {
  const query = async (sql: string, parameters: readonly Parameter[]): Promise<pg.QueryResult> =>
    await clearly(async () => await connection.query(numbered(sql), [...parameters]));
  return {
    all: async <Row>(sql: string, parameters: readonly Parameter[] = []) =>
      (await query(sql, parameters)).rows as Row[],
    run: async (sql, parameters = []) => (await query(sql, parameters)).rowCount ?? 0,
  };
}

async function clearly<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw isTrouble(error) ? unavailable(error) : error;
  }
}

/**
 * Two servers may start at once: the second waits until the first is through, and finds nothing left to do. Its own
 * connection, because waiting and rewriting a table may take longer than any other statement is given.
 */
async function migrate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await client.query('create table if not exists schema_version (version bigint not null)');
    const { rows } = await client.query<{ version: string }>('select version from schema_version');
    const version = Number(rows[0]?.version ?? 0);
    if (version > MIGRATIONS.length) {
      throw new Error(`the database has schema ${version}, newer than this program (${MIGRATIONS.length})`);
    }
    for (const { common, postgres = '' } of MIGRATIONS.slice(version))
      await client.query(toPostgres(common) + postgres);
    if (version < MIGRATIONS.length) {
      await client.query('delete from schema_version');
      await client.query('insert into schema_version (version) values ($1)', [MIGRATIONS.length]);
    }
    await client.query('commit');
  } finally {
    // Ends an open transaction too.
    await client.end();
  }
}

/** Migrations are written for SQLite; three words are different here. */
function toPostgres(sql: string): string {
  return sql
    .replaceAll(/\) strict;/gu, ');')
    .replaceAll('integer primary key autoincrement', 'bigint generated by default as identity primary key')
    .replaceAll(/\binteger\b/gu, 'bigint');
}

/** `?` as this database wants it. No statement of ours has a question mark in a text. */
function numbered(sql: string): string {
  let index = 0;
  return sql.replaceAll('?', () => {
    index += 1;
    return `$${index}`;
  });
}

/** Sums and counts come as texts by default, since they might exceed what a number holds. Ours do not. */
const NUMBERS: ReadonlySet<number> = new Set([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);

function readNumbers(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  return NUMBERS.has(oid) ? Number : (pg.types.getTypeParser(oid, format) as (value: string) => unknown);
}

// PostgreSQL, for more than one server. Row locks and conditional updates make every statement of the store correct at
// the default isolation level, read committed.

import pg from 'pg';
import { AppError } from '../../shared/errors.ts';
import {
  isUnavailable,
  type MaintainedEngine,
  compile,
  OutcomeUnknown,
  type SqlSession,
  unavailable,
  valuesFor,
} from './engine.ts';
import { pendingMigrations, SCHEMA, type SchemaState } from './migrations.ts';
import { statementsOf } from './migration.ts';
import {
  acceptsSessionSettings,
  BEGIN_WITH_TIMEOUTS,
  connectionConfig,
  isConflict,
  isOutage,
  isUnreachable,
  isUnstorableText,
  type PostgresOptions,
  SESSION_TIMEOUTS,
} from './postgres-connection.ts';
import { must } from '../../shared/must.ts';
import { integer, type SqlParameters, type SqlRow } from './rows.ts';

const POOL_SIZE = 10;
/** Longer than any statement may take, in case the database server doesn't respond at all. */
const RESPONSE_TIMEOUT_MS = 15_000;
/** An arbitrary number, the same in every version of the program. */
const MIGRATION_LOCK = 7_346_221_090;
const MAX_ATTEMPTS = 5;

export class PostgresEngine implements MaintainedEngine {
  readonly dialect = 'postgres';
  readonly #config: pg.ClientConfig;
  readonly #pool: pg.Pool;
  /** The statement that begins a transaction. */
  readonly #begin: string;
  #closed: Promise<void> | undefined;

  private constructor(config: pg.ClientConfig, pool: pg.Pool, begin: string) {
    this.#config = config;
    this.#pool = pool;
    this.#begin = begin;
  }

  /**
   * `onIdleError` is called when an idle connection breaks. A connection in use reports the error to its own caller. Throws
   * `storage_unavailable` if another try may succeed.
   */
  static async open(
    url: string,
    onIdleError: (error: Error) => void,
    options: PostgresOptions = {},
  ): Promise<PostgresEngine> {
    const config = connectionConfig(url, options);
    const hasOwnSessions = await prepare(config).catch((error: unknown) => {
      throw isUnreachable(error) ? unavailable(error) : error;
    });
    const pool = new pg.Pool({
      ...config,
      ...(hasOwnSessions && SESSION_TIMEOUTS),
      max: options.poolSize ?? POOL_SIZE,
      query_timeout: RESPONSE_TIMEOUT_MS,
      types: { getTypeParser },
    });
    pool.on('error', onIdleError);
    // The pool stops listening to a connection that it hands out, and an error without a listener ends the process.
    pool.on('connect', (client) => client.on('error', () => undefined));
    return new PostgresEngine(config, pool, hasOwnSessions ? 'begin' : BEGIN_WITH_TIMEOUTS);
  }

  /** Reads a database as it is, without migrating it. Undefined if it has no tables yet. */
  static async inspect<Result>(
    url: string,
    options: PostgresOptions,
    look: (session: SqlSession, state: SchemaState) => Promise<Result>,
  ): Promise<Result | undefined> {
    const config = { ...connectionConfig(url, options), types: { getTypeParser } };
    return await onOwnConnection(config, async (client) => {
      const session = sessionOn(client);
      const [table] = await session.all("select to_regclass('schema_version') as name");
      return table?.['name'] === null ? undefined : await look(session, await schemaState(client));
    });
  }

  /** The connections of this process, and the operations that wait for one. */
  get connections(): { readonly total: number; readonly idle: number; readonly waiting: number } {
    const { totalCount: total, idleCount: idle, waitingCount: waiting } = this.#pool;
    return { total, idle, waiting };
  }

  async all(sql: string, parameters: SqlParameters = {}): Promise<SqlRow[]> {
    return await sessionOn(this.#pool).all(sql, parameters);
  }

  async run(sql: string, parameters: SqlParameters = {}): Promise<number> {
    return await sessionOn(this.#pool).run(sql, parameters);
  }

  async transaction<Result>(work: (session: SqlSession) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await onOneConnection(this.#pool, this.#begin, work);
      } catch (error) {
        if (!isConflict(error)) throw error;
        // PostgreSQL ended one of two conflicting transactions, so it can be retried.
        if (attempt === MAX_ATTEMPTS) throw unavailable(error);
      }
    }
  }

  /** Uses a connection of its own, because it may take longer than other statements are allowed to. Nothing is blocked. */
  async vacuum(): Promise<{ readonly before: number; readonly after: number }> {
    const size = async (): Promise<number> => {
      const [row] = await this.all('select pg_database_size(current_database()) as bytes');
      return integer(must(row, 'the size of the database'), 'bytes');
    };
    const before = await size();
    await classifyErrors(
      async () => await onOwnConnection(this.#config, async (client) => await client.query('vacuum (analyze)')),
    );
    return { before, after: await size() };
  }

  async close(): Promise<void> {
    this.#closed ??= this.#pool.end();
    await this.#closed;
  }
}

/** Returns whether connections can have settings of their own. */
async function prepare(config: pg.ClientConfig): Promise<boolean> {
  const hasOwnSessions = await acceptsSessionSettings(config);
  await migrate(config);
  return hasOwnSessions;
}

async function onOneConnection<Result>(
  pool: pg.Pool,
  begin: string,
  work: (session: SqlSession) => Promise<Result>,
): Promise<Result> {
  const client = await classifyErrors(async () => await pool.connect());
  try {
    const session = sessionOn(client);
    await session.run(begin);
    const result = await work(session);
    await commit(session);
    client.release();
    return result;
  } catch (error) {
    // A broken connection is discarded, and so is one that can't roll back. The database then rolls back by itself.
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
  const query = async (sql: string, parameters: SqlParameters): Promise<pg.QueryResult<SqlRow>> =>
    await classifyErrors(async () => await connection.query<SqlRow>(compile(sql).numbered, valuesFor(sql, parameters)));
  return {
    all: async (sql, parameters = {}) => (await query(sql, parameters)).rows,
    // Statements such as `begin` have no row count.
    run: async (sql, parameters = {}) => (await query(sql, parameters)).rowCount ?? 0,
  };
}

async function classifyErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (isUnstorableText(error)) {
      throw new AppError('invalid_fields', 'Text must not contain the NUL character (U+0000).', { cause: error });
    }
    throw isOutage(error) ? unavailable(error) : error;
  }
}

/**
 * When two servers start at the same time, the second waits for the first and finds nothing left to do. Uses a connection of
 * its own, because waiting and rewriting a table may take longer than other statements are allowed to.
 */
async function migrate(config: pg.ClientConfig): Promise<void> {
  // An open transaction is rolled back when the connection ends.
  await onOwnConnection(config, async (client) => {
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await client.query('create table if not exists schema_version (version bigint not null, compatible_from bigint)');
    const state = await schemaState(client);
    for (const migration of pendingMigrations(state)) await client.query(statementsOf(migration, 'postgres'));
    if (state.version < SCHEMA.version) {
      await client.query('delete from schema_version');
      await client.query('insert into schema_version (version, compatible_from) values ($1, $2)', [
        SCHEMA.version,
        SCHEMA.compatibleFrom,
      ]);
    }
    await client.query('commit');
  });
}

async function onOwnConnection<Result>(
  config: pg.ClientConfig,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client(config);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function schemaState(client: pg.Client): Promise<SchemaState> {
  const { rows } = await client.query<{ version: string; compatible_from: string }>(
    'select version, compatible_from from schema_version',
  );
  const { version = 0, compatible_from: compatibleFrom = version } = rows[0] ?? {};
  return { version: Number(version), compatibleFrom: Number(compatibleFrom) };
}

/**
 * PostgreSQL returns these types as text by default, because they may exceed a JavaScript number. Those in the store
 * don't.
 */
const NUMBER_TYPES: ReadonlySet<number> = new Set([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);

function getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  return NUMBER_TYPES.has(oid) ? Number : pg.types.getTypeParser(oid, format);
}

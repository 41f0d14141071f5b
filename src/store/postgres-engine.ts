// PostgreSQL, for more than one server. Row locks and conditional updates do the rest: every statement of the store is
// right at the isolation level that is the default there, read committed.

import pg from 'pg';
import type { Engine, Parameter, Session } from './engine.ts';
import { MIGRATIONS } from './migrations.ts';

const POOL_SIZE = 10;
const CONNECT_TIMEOUT_MS = 5_000;
/** No statement of ours takes long; one that does waits for a database in trouble, and its caller should hear so. */
const STATEMENT_TIMEOUT_MS = 10_000;
/** Any number, as long as every version of the program takes the same. */
const MIGRATION_LOCK = 7_346_221_090;
const SERIALIZATION_FAILURES: ReadonlySet<string> = new Set(['40001', '40P01']);

export class PostgresEngine implements Engine {
  readonly #pool: pg.Pool;

  private constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** `onIdleError`: told when a connection that nobody uses breaks. */
  static async open(url: string, onIdleError: (error: Error) => void): Promise<PostgresEngine> {
    const pool = new pg.Pool({
      connectionString: url,
      max: POOL_SIZE,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      application_name: 'storybar',
      types: { getTypeParser: readNumbers },
    });
    pool.on('error', onIdleError);
    try {
      await migrate(pool);
    } catch (error) {
      await pool.end();
      throw error;
    }
    return new PostgresEngine(pool);
  }

  async all<Row>(sql: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
    return await sessionOn(this.#pool).all<Row>(sql, parameters);
  }

  async run(sql: string, parameters: readonly Parameter[] = []): Promise<number> {
    return await sessionOn(this.#pool).run(sql, parameters);
  }

  async transaction<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await onOneConnection(this.#pool, work);
      } catch (error) {
        // Two transactions in each other's way: one of them is told to come again.
        if (attempt === 3 || !SERIALIZATION_FAILURES.has(codeOf(error))) throw error;
      }
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

async function onOneConnection<Result>(pool: pg.Pool, work: (session: Session) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const result = await work(sessionOn(client));
    await client.query('commit');
    client.release();
    return result;
  } catch (error) {
    await client.query('rollback').then(
      () => client.release(),
      // A connection that cannot even roll back is thrown away; the database rolls back by itself.
      (broken: Error) => client.release(broken),
    );
    throw error;
  }
}

function sessionOn(connection: pg.Pool | pg.PoolClient): Session {
  return {
    all: async <Row>(sql: string, parameters: readonly Parameter[] = []) => {
      const { rows } = await connection.query(numbered(sql), [...parameters]);
      return rows as Row[];
    },
    run: async (sql, parameters = []) => (await connection.query(numbered(sql), [...parameters])).rowCount ?? 0,
  };
}

/** Two servers may start at once: the second waits until the first is through, and finds nothing left to do. */
async function migrate(pool: pg.Pool): Promise<void> {
  await onOneConnection(pool, async (session) => {
    await session.all('select pg_advisory_xact_lock(?)', [MIGRATION_LOCK]);
    await session.run('create table if not exists schema_version (version bigint not null)');
    const [row] = await session.all<{ version: number }>('select version from schema_version');
    const version = row?.version ?? 0;
    if (version > MIGRATIONS.length) {
      throw new Error(`the database has schema ${version}, newer than this program (${MIGRATIONS.length})`);
    }
    for (const { common, postgres = '' } of MIGRATIONS.slice(version)) await session.run(toPostgres(common) + postgres);
    await session.run('delete from schema_version');
    await session.run('insert into schema_version (version) values (?)', [MIGRATIONS.length]);
  });
}

/** Migrations are written for SQLite; three words are different here. */
function toPostgres(sql: string): string {
  return sql
    .replaceAll(/\) strict;/gu, ');')
    .replaceAll('integer primary key autoincrement', 'bigint generated always as identity primary key')
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

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

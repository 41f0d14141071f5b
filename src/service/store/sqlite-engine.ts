// The embedded database: one SQLite file. Write-ahead logging lets the command line write while a server reads, and
// every commit is on disk before it's acknowledged. Three properties of the driver shape this file:
// - Binding parameters by name takes several times longer, and aborts the process when there are none, so they are
// always bound as one array.
// - It blocks the thread while it waits for a lock, so the waiting is done here.
// - A prepared statement that failed to get a lock stays unfinished until garbage collection. Until then no read ends
// its transaction, so the connection keeps its old view of the data and can't write. The write lock is therefore always
// taken first, by `exec`, which doesn't have this flaw, and a connection with such a statement is replaced.

import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'libsql';
import { Semaphore } from '../../shared/semaphore.ts';
import { type MaintainedEngine, type SqlSession, unavailable, valuesFor } from './engine.ts';
import { pendingMigrations, SCHEMA, type SchemaState } from './migrations.ts';
import { statementsOf } from './migration.ts';
import { integer, type SqlParameters, type SqlRow, toRow } from './rows.ts';

/** Used while the database is opened, when the process has nothing else to do. */
const OPEN_TIMEOUT_MS = 10_000;
const MAX_PAUSE_MS = 10;
/** The cache of database pages, so that fewer statements have to read them from the file. */
const CACHE_KB = 32_000;
const LOCK_TIMEOUT_MS = 5_000;

/** Every other statement may write, for example `update ... returning` and `with ... update`. */
const READS = /^\s*(?:(?:select|pragma|explain)\b|with\b(?!.*\b(?:insert|update|delete)\b))/isu;

/** Whether a statement only reads, by its text. There are as many as the program has statements. */
const readers = new Map<string, boolean>();

function onlyReads(sql: string): boolean {
  const known = readers.get(sql);
  if (known !== undefined) return known;
  const isReader = READS.test(sql);
  readers.set(sql, isReader);
  return isReader;
}

/**
 * The database was locked too long, has no space or a failing disk. That isn't the caller's fault, and a retry may
 * succeed.
 */
const UNAVAILABLE_CODES = /^SQLITE_(?:BUSY|LOCKED|FULL|IOERR|NOMEM|READONLY|CANTOPEN|PROTOCOL)/u;

/** The codes of these that are temporary before the first statement. The others concern the location of the file. */
const TEMPORARY_CODES = /^SQLITE_(?:BUSY|LOCKED|FULL|IOERR|NOMEM|PROTOCOL)/u;

export interface SqliteOptions {
  /** `off` may lose the last commits when the machine fails. Only for tests that don't crash. */
  readonly synchronous?: 'full' | 'off';
  readonly lockTimeoutMs?: number;
  /** Called with the reason when the connection can't be used any more and another is opened. */
  readonly onBrokenConnection?: (error: Error) => void;
}

export class SqliteEngine implements MaintainedEngine {
  readonly dialect = 'sqlite';
  readonly #file: string;
  readonly #synchronous: 'full' | 'off';
  readonly #lockTimeoutMs: number;
  readonly #onBrokenConnection: (error: Error) => void;
  #database: Database.Database;
  /** The connection has to be replaced before it's used again. */
  #isBroken = false;
  readonly #statements = new Map<string, Database.Statement>();
  /** There is one connection, so one transaction at a time. */
  readonly #connection = new Semaphore({ permits: 1 });

  constructor(file: string, options: SqliteOptions = {}) {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    this.#file = file;
    this.#synchronous = options.synchronous ?? 'full';
    this.#lockTimeoutMs = options.lockTimeoutMs ?? LOCK_TIMEOUT_MS;
    this.#onBrokenConnection = options.onBrokenConnection ?? (() => undefined);
    this.#database = this.#open();
  }

  /** Reads a database as it is, without migrating it. */
  static async inspect<Result>(
    file: string,
    look: (session: SqlSession, state: SchemaState) => Promise<Result>,
  ): Promise<Result> {
    const database = new Database(file, { readonly: true });
    try {
      const all: SqlSession['all'] = async (sql, parameters = {}) =>
        database.prepare(sql).all(valuesFor(sql, parameters)).map(toRow);
      const run: SqlSession['run'] = async () => {
        throw new Error('the database is only read');
      };
      return await look({ all, run }, schemaState(database));
    } finally {
      database.close();
    }
  }

  /** Throws `storage_unavailable` if another try may succeed. */
  #open(): Database.Database {
    try {
      const database = this.#connect(OPEN_TIMEOUT_MS);
      try {
        this.#migrate(database);
        database.exec('pragma busy_timeout = 0');
        return database;
      } catch (error) {
        database.close();
        throw error;
      }
    } catch (error) {
      throw TEMPORARY_CODES.test(codeOf(error)) ? unavailable(error) : error;
    }
  }

  #connect(busyTimeoutMs: number): Database.Database {
    const database = new Database(this.#file);
    try {
      database.exec(`
        pragma busy_timeout = ${busyTimeoutMs};
        pragma journal_mode = wal;
        pragma synchronous = ${this.#synchronous};
        pragma foreign_keys = on;
        pragma cache_size = -${CACHE_KB};
      `);
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  }

  #replaceConnection(reason: Error): void {
    this.#onBrokenConnection(reason);
    this.#isBroken = true;
    this.#reconnectIfBroken();
  }

  /**
   * Fails at once if the file is locked, so that the event loop isn't blocked. The next use of the connection tries
   * again.
   */
  #reconnectIfBroken(): void {
    if (!this.#isBroken) return;
    const database = this.#connect(0);
    this.#statements.clear();
    this.#database.close();
    this.#database = database;
    this.#isBroken = false;
  }

  /** A read waits only while another process restores the log after a crash. */
  async #read(sql: string, parameters: SqlParameters): Promise<SqlRow[]> {
    this.#reconnectIfBroken();
    try {
      return await this.#session.all(sql, parameters);
    } catch (error) {
      if (isBusy(error)) this.#replaceConnection(error);
      throw error;
    }
  }

  async #begin(): Promise<void> {
    this.#reconnectIfBroken();
    try {
      this.#database.exec('begin immediate');
    } catch (error) {
      // The connection still has a view from before the latest commit, although none of its reads is running.
      if (isBusy(error) && error.code === 'SQLITE_BUSY_SNAPSHOT') this.#replaceConnection(error);
      throw error;
    }
  }

  async all(sql: string, parameters: SqlParameters = {}): Promise<SqlRow[]> {
    if (!onlyReads(sql)) return await this.transaction(async (session) => await session.all(sql, parameters));
    return await this.#exclusively(
      async () => await this.#untilUnlocked(async () => await this.#read(sql, parameters)),
    );
  }

  async run(sql: string, parameters: SqlParameters = {}): Promise<number> {
    return await this.transaction(async (session) => await session.run(sql, parameters));
  }

  async transaction<Result>(work: (session: SqlSession) => Promise<Result>): Promise<Result> {
    return await this.#exclusively(async () => {
      await this.#untilUnlocked(async () => await this.#begin());
      try {
        const result = await work(this.#session);
        this.#database.exec('commit');
        return result;
      } catch (error) {
        rollback(this.#database);
        // While this connection has the write lock, only an unfinished statement can keep the transaction from its
        // commit.
        if (isBusy(error)) this.#replaceConnection(error);
        throw error;
      }
    });
  }

  /** Makes a complete, consistent copy while other processes keep writing. The file must not exist yet. */
  async backup(file: string): Promise<void> {
    await this.#exclusively(async () => {
      this.#database.prepare('vacuum into ?').run([file]);
    });
  }

  /** Other processes can read meanwhile, but not write. */
  async vacuum(): Promise<{ readonly before: number; readonly after: number }> {
    return await this.#exclusively(async () => {
      const before = statSync(this.#file).size;
      // A prepared statement that is not finished would keep the file from being rewritten.
      this.#statements.clear();
      await this.#untilUnlocked(async () => this.#database.exec('vacuum'));
      await this.#untilUnlocked(async () => this.#database.exec('pragma wal_checkpoint(truncate)'));
      return { before, after: statSync(this.#file).size };
    });
  }

  async close(): Promise<void> {
    await this.#exclusively(async () => {
      this.#statements.clear();
      this.#database.close();
    });
  }

  /** Statements inside the transaction that has the connection. */
  readonly #session: SqlSession = {
    all: async (sql, parameters = {}) =>
      this.#withStatement(sql, (statement) => statement.all(valuesFor(sql, parameters)).map(toRow)),
    run: async (sql, parameters = {}) =>
      this.#withStatement(sql, (statement) => statement.run(valuesFor(sql, parameters)).changes),
  };

  async #exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await this.#connection.run(work);
    } catch (error) {
      throw UNAVAILABLE_CODES.test(codeOf(error)) ? unavailable(error) : error;
    }
  }

  /** Retries while another process has the lock, and lets this process do other work in between. */
  async #untilUnlocked<Result>(work: () => Promise<Result>): Promise<Result> {
    const end = performance.now() + this.#lockTimeoutMs;
    for (let pause = 1; ; pause = Math.min(pause + 1, MAX_PAUSE_MS)) {
      try {
        return await work();
      } catch (error) {
        if (!isBusy(error) || performance.now() > end) throw error;
        await wait(pause);
      }
    }
  }

  #withStatement<Result>(sql: string, use: (statement: Database.Statement) => Result): Result {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    // A statement that failed isn't used again, because the driver may have left it unfinished.
    this.#statements.delete(sql);
    const result = use(statement);
    this.#statements.set(sql, statement);
    return result;
  }

  /**
   * Migrates the schema. This is safe in two processes at once: the second waits for the write lock and finds nothing
   * left to do. A table that others reference can be replaced only while foreign keys aren't enforced, so they are
   * checked at the end.
   */
  #migrate(database: Database.Database): void {
    database.exec('pragma foreign_keys = off; begin immediate');
    try {
      database.exec('create table if not exists schema_version (compatible_from integer not null) strict');
      const state = schemaState(database);
      const pending = pendingMigrations(state);
      for (const migration of pending) database.exec(statementsOf(migration, 'sqlite'));
      if (pending.length > 0) this.#checkForeignKeys(database);
      if (state.version < SCHEMA.version) {
        database.exec(`
          pragma user_version = ${SCHEMA.version};
          delete from schema_version;
          insert into schema_version (compatible_from) values (${SCHEMA.compatibleFrom});
        `);
      }
      database.exec('commit; pragma foreign_keys = on');
    } catch (error) {
      rollback(database);
      throw error;
    }
  }

  #checkForeignKeys(database: Database.Database): void {
    const [broken]: unknown[] = database.prepare('pragma foreign_key_check').all([]);
    if (broken !== undefined) throw new Error(`the migration breaks a foreign key: ${JSON.stringify(broken)}`);
  }
}

/** The version is SQLite's own number. The table holds only what doesn't fit there. */
function schemaState(database: Database.Database): SchemaState {
  const version = integer(toRow(database.prepare('pragma user_version').get()), 'user_version');
  const row: unknown = database.prepare('select compatible_from from schema_version').get();
  return { version, compatibleFrom: row === undefined ? version : integer(toRow(row), 'compatible_from') };
}

/** A full disk or a failed commit may have ended the transaction already. */
function rollback(database: Database.Database): void {
  if (database.inTransaction) database.exec('rollback');
}

function isBusy(error: unknown): error is Error & { readonly code: string } {
  return codeOf(error).startsWith('SQLITE_BUSY');
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

// The embedded database: one SQLite file. Write-ahead logging lets the command line write while a server reads; every commit
// is on disk before it is acknowledged. Three habits of the driver shape this file: it takes a single object for named
// parameters and aborts the process when there are none, so parameters always go in as one array; it blocks while it waits
// for a lock, so the waiting is done here; and a statement that failed for want of a lock is left half done and keeps later
// commits from happening, so a write lock is always taken first, by `exec`, which has no such flaw.

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'libsql';
import { type Engine, type Parameter, type SqlSession, unavailable } from './engine.ts';
import { MIGRATIONS } from './migrations.ts';

/** While opening, where nothing else has to go on. */
const OPEN_TIMEOUT_MS = 10_000;
const LONGEST_PAUSE_MS = 10;
const LOCK_TIMEOUT_MS = 5_000;

/** Locked too long, no room, or a disk in trouble: nothing a caller did, and worth another try later. */
const TROUBLE = /^SQLITE_(?:BUSY|LOCKED|FULL|IOERR|NOMEM|READONLY|CANTOPEN|PROTOCOL)/u;

export interface SqliteOptions {
  /** `off` may lose the last commits when the machine fails; for tests that count, not for money. */
  readonly synchronous?: 'full' | 'off';
  readonly lockTimeoutMs?: number;
}

export class SqliteEngine implements Engine {
  readonly dialect = 'sqlite';
  readonly #database: Database.Database;
  readonly #lockTimeoutMs: number;
  readonly #statements = new Map<string, Database.Statement>();
  /** There is one connection: whoever comes while a transaction is open waits for its end. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(file: string, { synchronous = 'full', lockTimeoutMs = LOCK_TIMEOUT_MS }: SqliteOptions = {}) {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    this.#lockTimeoutMs = lockTimeoutMs;
    this.#database = new Database(file);
    try {
      this.#database.exec(`
        pragma busy_timeout = ${OPEN_TIMEOUT_MS};
        pragma journal_mode = wal;
        pragma synchronous = ${synchronous};
        pragma foreign_keys = on;
      `);
      this.#migrate();
      this.#database.exec('pragma busy_timeout = 0');
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  async all<Row>(sql: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
    return await this.#inTurn(async () => await this.#patiently(() => this.#direct.all<Row>(sql, parameters)));
  }

  async run(sql: string, parameters: readonly Parameter[] = []): Promise<number> {
    return await this.transaction(async (session) => await session.run(sql, parameters));
  }

  async transaction<Result>(work: (session: SqlSession) => Promise<Result>): Promise<Result> {
    return await this.#inTurn(async () => {
      await this.#patiently(async () => this.#database.exec('begin immediate'));
      try {
        const result = await work(this.#direct);
        this.#database.exec('commit');
        return result;
      } catch (error) {
        this.#rollback();
        throw error;
      }
    });
  }

  /** A whole, consistent copy while others go on writing. The file must not exist yet. */
  async backup(file: string): Promise<void> {
    await this.#inTurn(async () => {
      this.#database.prepare('vacuum into ?').run([file]);
    });
  }

  async close(): Promise<void> {
    await this.#inTurn(async () => {
      this.#statements.clear();
      this.#database.close();
    });
  }

  readonly #direct: SqlSession = {
    all: async <Row>(sql: string, parameters: readonly Parameter[] = []) =>
      this.#with(sql, (statement) => statement.all([...parameters]) as Row[]),
    run: async (sql, parameters = []) => this.#with(sql, (statement) => statement.run([...parameters]).changes),
  };

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(work);
    // The next one's turn comes whether this one succeeds or not; its own caller hears of the failure.
    this.#last = turn.catch(() => undefined);
    try {
      return await turn;
    } catch (error) {
      throw TROUBLE.test(codeOf(error)) ? unavailable(error) : error;
    }
  }

  /** Another process has the lock: ask again, and let this process do other things in between. */
  async #patiently<Result>(work: () => Promise<Result>): Promise<Result> {
    const end = performance.now() + this.#lockTimeoutMs;
    for (let pause = 1; ; pause = Math.min(pause + 1, LONGEST_PAUSE_MS)) {
      try {
        return await work();
      } catch (error) {
        if (!codeOf(error).startsWith('SQLITE_BUSY') || performance.now() > end) throw error;
        await wait(pause);
      }
    }
  }

  #with<Result>(sql: string, use: (statement: Database.Statement) => Result): Result {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    // One that failed is not used again: the driver may have left it half done.
    this.#statements.delete(sql);
    const result = use(statement);
    this.#statements.set(sql, statement);
    return result;
  }

  #rollback(): void {
    // A full disk or a failed commit may have ended the transaction already.
    if (this.#database.inTransaction) this.#database.exec('rollback');
  }

  /** Safe to run from two processes at once: the first takes the write lock, the second finds nothing left to do. */
  #migrate(): void {
    this.#database.exec('begin immediate');
    try {
      const row = this.#database.prepare('pragma user_version').get() as { user_version: number };
      if (row.user_version > MIGRATIONS.length) {
        throw new Error(`the database has schema ${row.user_version}, newer than this program (${MIGRATIONS.length})`);
      }
      for (const { common, sqlite = '' } of MIGRATIONS.slice(row.user_version)) this.#database.exec(common + sqlite);
      this.#database.exec(`pragma user_version = ${MIGRATIONS.length}; commit`);
    } catch (error) {
      this.#rollback();
      throw error;
    }
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

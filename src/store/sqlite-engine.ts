// The embedded database: one SQLite file. Write-ahead logging lets the command line write while a server reads; every commit
// is on disk before it is acknowledged. Parameters always go in as one array: the driver takes a single object for named
// parameters, and aborts the process when there are none.

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import Database from 'libsql';
import type { Engine, Parameter, Session } from './engine.ts';
import { MIGRATIONS } from './migrations.ts';

const BUSY_TIMEOUT_MS = 5_000;

export class SqliteEngine implements Engine {
  readonly #database: Database.Database;
  readonly #statements = new Map<string, Database.Statement>();
  /** There is one connection: whoever comes while a transaction is open waits for its end. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(file: string) {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    this.#database = new Database(file);
    this.#database.exec(`
      pragma busy_timeout = ${BUSY_TIMEOUT_MS};
      pragma journal_mode = wal;
      pragma synchronous = full;
      pragma foreign_keys = on;
    `);
    this.#migrate();
  }

  async all<Row>(sql: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
    return await this.#inTurn(async () => this.#direct.all<Row>(sql, parameters));
  }

  async run(sql: string, parameters: readonly Parameter[] = []): Promise<number> {
    return await this.#inTurn(async () => this.#direct.run(sql, parameters));
  }

  async transaction<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    return await this.#inTurn(async () => {
      this.#database.exec('begin immediate');
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
      this.#database.close();
    });
  }

  readonly #direct: Session = {
    all: async <Row>(sql: string, parameters: readonly Parameter[] = []) =>
      this.#prepare(sql).all([...parameters]) as Row[],
    run: async (sql, parameters = []) => this.#prepare(sql).run([...parameters]).changes,
  };

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(work);
    // The next one's turn comes whether this one succeeds or not; its own caller hears of the failure.
    this.#last = turn.catch(() => undefined);
    return await turn;
  }

  #prepare(sql: string): Database.Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
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

// The embedded store: one SQLite file. Write-ahead logging lets the command line write while a server reads; every commit
// is on disk before it is acknowledged. Parameters always go in as one array: the driver takes a single object for named
// parameters, and aborts the process when there are none.

import { timingSafeEqual } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import Database from 'libsql';
import type { KeyHolder, KeyState } from '../account/access.ts';
import { MIGRATIONS } from './migrations.ts';
import type { KeySummary, NewAccount, NewKey, Store } from './store.ts';

const BUSY_TIMEOUT_MS = 5_000;

const HOLDER_BY_HASH = `
  select k.id as keyId, k.state as keyState, k.mode, k.hash,
         a.id as accountId, a.state as accountState, a.plan
  from api_keys k join accounts a on a.id = k.account_id
  where k.hash = ?`;

const ALL_KEYS = `
  select k.id, k.account_id as accountId, k.name, a.plan, k.mode, k.state, a.state as accountState,
         k.prefix, k.last_four as lastFour, k.created_at as createdAt, k.last_used_at as lastUsedAt
  from api_keys k join accounts a on a.id = k.account_id
  order by k.created_at, k.id`;

export class SqliteStore implements Store {
  readonly #database: Database.Database;

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

  async countAccounts(): Promise<number> {
    const row = this.#database.prepare('select count(*) as count from accounts').get() as { count: number };
    return row.count;
  }

  async createAccountWithKey(account: NewAccount, key: NewKey): Promise<void> {
    const now = new Date().toISOString();
    const addAccount = this.#database.prepare('insert into accounts (id, name, plan, created_at) values (?, ?, ?, ?)');
    const addKey = this.#database.prepare(
      'insert into api_keys (id, account_id, name, mode, hash, prefix, last_four, created_at) values (?, ?, ?, ?, ?, ?, ?, ?)',
    );
    this.#transaction(() => {
      addAccount.run([account.id, account.name, account.plan, now]);
      addKey.run([key.id, key.accountId, key.name, key.mode, hex(key.hash), key.prefix, key.lastFour, now]);
    });
  }

  async findKey(hash: Buffer): Promise<KeyHolder | undefined> {
    const row = this.#database.prepare(HOLDER_BY_HASH).get([hex(hash)]) as (KeyHolder & { hash: string }) | undefined;
    if (row === undefined || !timingSafeEqual(Buffer.from(row.hash, 'hex'), hash)) return undefined;
    const { keyId, keyState, mode, accountId, accountState, plan } = row;
    return { keyId, keyState, mode, accountId, accountState, plan };
  }

  async listKeys(): Promise<KeySummary[]> {
    return this.#database.prepare(ALL_KEYS).all() as KeySummary[];
  }

  async setKeyState(keyId: string, state: KeyState): Promise<boolean> {
    const update = this.#database.prepare("update api_keys set state = ? where id = ? and state <> 'revoked'");
    return update.run([state, keyId]).changes === 1;
  }

  async markKeyUsed(keyId: string): Promise<void> {
    this.#database.prepare('update api_keys set last_used_at = ? where id = ?').run([new Date().toISOString(), keyId]);
  }

  async close(): Promise<void> {
    this.#database.close();
  }

  /** Safe to run from two processes at once: the first takes the write lock, the second finds nothing left to do. */
  #migrate(): void {
    this.#transaction(() => {
      const row = this.#database.prepare('pragma user_version').get() as { user_version: number };
      if (row.user_version > MIGRATIONS.length) {
        throw new Error(`the database has schema ${row.user_version}, newer than this program (${MIGRATIONS.length})`);
      }
      for (const migration of MIGRATIONS.slice(row.user_version)) this.#database.exec(migration);
      this.#database.exec(`pragma user_version = ${MIGRATIONS.length}`);
    });
  }

  #transaction(work: () => void): void {
    this.#database.exec('begin immediate');
    try {
      work();
      this.#database.exec('commit');
    } catch (error) {
      this.#database.exec('rollback');
      throw error;
    }
  }
}

function hex(bytes: Buffer): string {
  return bytes.toString('hex');
}

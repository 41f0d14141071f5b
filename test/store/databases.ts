// Databases for tests: a new one of either kind, which can be opened several times.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { Engine } from '../../src/service/store/engine.ts';
import { PostgresEngine } from '../../src/service/store/postgres-engine.ts';
import { SqliteEngine, type SqliteOptions } from '../../src/service/store/sqlite-engine.ts';
import { createDatabase } from '../postgres-server.ts';

export interface TestDatabase {
  /** A file, or the URL of a PostgreSQL database. */
  readonly place: string;
  /** Opens another connection; `remove` closes it if it is still open. */
  open(): Promise<Engine>;
  remove(): Promise<void>;
}

/** `folder` may be in memory (`/dev/shm`) for tests that don't crash. */
export function sqliteDatabase(options: SqliteOptions = {}, folder = tmpdir()): TestDatabase {
  const directory = mkdtempSync(path.join(folder, 'storybar-store-'));
  const place = path.join(directory, 'storybar.db');
  return database(
    place,
    async () => new SqliteEngine(place, options),
    () => rmSync(directory, { recursive: true, force: true }),
  );
}

let migrated: Buffer | undefined;

/** Returns a database that doesn't have to go through every migration, because its file is the copy of one that has. */
export async function migratedSqlite(): Promise<TestDatabase> {
  const copy = sqliteDatabase();
  if (migrated === undefined) {
    const engine = await copy.open();
    await engine.all('pragma wal_checkpoint(truncate)');
    await engine.close();
    migrated = readFileSync(copy.place);
  } else writeFileSync(copy.place, migrated);
  return copy;
}

export async function postgresDatabase(serverUrl: string): Promise<TestDatabase> {
  return databaseAt(await createDatabase(serverUrl));
}

/** Returns the URL of a migrated database. */
export async function migratedDatabase(serverUrl: string): Promise<string> {
  const place = await createDatabase(serverUrl);
  await (await openAt(place)).close();
  return place;
}

/** Deletes all rows of a migrated PostgreSQL database, because a copy of an empty database for each test takes far longer. */
export async function emptyDatabase(place: string): Promise<void> {
  const client = new pg.Client({ connectionString: place });
  await client.connect();
  try {
    const { rows } = await client.query<{ sql: string }>(`
      select format('delete from %I', tablename) as sql from pg_tables
      where schemaname = 'public' and tablename <> 'schema_version'
      union all select format('alter sequence %I restart', sequencename) from pg_sequences`);
    // As a replica, the session checks no foreign keys and runs no triggers.
    await client.query(['set session_replication_role = replica', ...rows.map(({ sql }) => sql)].join(';'));
  } finally {
    await client.end();
  }
}

/** An existing PostgreSQL database. */
export function databaseAt(place: string): TestDatabase {
  return database(
    place,
    async () => await openAt(place),
    () => undefined,
  );
}

export async function openAt(place: string): Promise<Engine> {
  return place.startsWith('postgres') ? await PostgresEngine.open(place, () => undefined) : new SqliteEngine(place);
}

function database(place: string, open: () => Promise<Engine>, clean: () => void): TestDatabase {
  const engines: Engine[] = [];
  return {
    place,
    open: async () => {
      const engine = await open();
      engines.push(engine);
      return engine;
    },
    remove: async () => {
      for (const engine of engines) await engine.close();
      clean();
    },
  };
}

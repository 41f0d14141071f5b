// Databases for tests: a new one of either kind, which can be opened several times.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Engine } from '../../src/store/engine.ts';
import { PostgresEngine } from '../../src/store/postgres-engine.ts';
import { SqliteEngine, type SqliteOptions } from '../../src/store/sqlite-engine.ts';
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

export async function postgresDatabase(serverUrl: string): Promise<TestDatabase> {
  return databaseAt(await createDatabase(serverUrl));
}

/** Its URL. Copies of it are ready much sooner than an empty database, which has to go through every migration. */
export async function migratedDatabase(serverUrl: string): Promise<string> {
  const place = await createDatabase(serverUrl);
  await (await openAt(place)).close();
  return place;
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

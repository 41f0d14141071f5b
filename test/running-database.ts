// Databases for tests with a running server: the environment to start the server with, and a way to query the database.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'libsql';
import pg from 'pg';
import { createDatabase } from './postgres-server.ts';

export interface RunningDatabase {
  /** Settings for the server. */
  readonly env: Readonly<Record<string, string>>;
  read(sql: string): Promise<Record<string, unknown>[]>;
  remove(): Promise<void>;
}

export function embeddedDatabase(): RunningDatabase {
  const folder = mkdtempSync(path.join(tmpdir(), 'storybar-database-'));
  return {
    env: { STORYBAR_DATA_DIR: folder },
    read: async (sql) => {
      const database = new Database(path.join(folder, 'storybar.db'));
      // The server may be writing.
      database.pragma('busy_timeout = 10000');
      try {
        return database.prepare(sql).all([]) as Record<string, unknown>[];
      } finally {
        database.close();
      }
    },
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

export async function serverDatabase(postgresUrl: string): Promise<RunningDatabase> {
  const url = await createDatabase(postgresUrl);
  const client = new pg.Client({ connectionString: url });
  // A test may stop the database server.
  client.on('error', () => undefined);
  await client.connect();
  return {
    env: { STORYBAR_DATABASE_URL: url },
    read: async (sql) => {
      const { rows } = await client.query<Record<string, unknown>>(sql);
      // PostgreSQL returns sums and counts as strings.
      return rows.map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [name, /^\d+$/u.test(String(value)) ? Number(value) : value]),
        ),
      );
    },
    remove: async () => await client.end(),
  };
}

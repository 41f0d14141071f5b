import path from 'node:path';
import { type Settings, SettingsError } from '../config/settings.ts';
import type { Engine } from '../store/engine.ts';
import { PostgresEngine } from '../store/postgres-engine.ts';
import { createStore } from '../store/sql-store.ts';
import { SqliteEngine } from '../store/sqlite-engine.ts';
import type { Store } from '../store/store.ts';

type Where = Pick<Settings, 'dataDirectory' | 'databaseUrl'>;

export async function openStore(where: Where, onIdleError: (error: Error) => void = ignore): Promise<Store> {
  return createStore(await openEngine(where, onIdleError));
}

/** For a command: opened, used and closed. */
export async function withStore(where: Where, work: (store: Store) => Promise<void>): Promise<void> {
  const store = await openStore(where);
  try {
    await work(store);
  } finally {
    await store.close();
  }
}

/** Brings the schema up to date. */
export async function openEngine(
  { dataDirectory, databaseUrl }: Where,
  onIdleError: (error: Error) => void = ignore,
): Promise<Engine> {
  try {
    if (databaseUrl === '') return new SqliteEngine(embeddedFile(dataDirectory));
    return await PostgresEngine.open(databaseUrl, onIdleError);
  } catch (error) {
    const where = databaseUrl === '' ? `the database in ${dataDirectory} (STORYBAR_DATA_DIR)` : 'STORYBAR_DATABASE_URL';
    throw new SettingsError([`${where} cannot be used: ${explain(error)}`]);
  }
}

export function embeddedFile(dataDirectory: string): string {
  return path.join(dataDirectory, 'storybar.db');
}

/** A refused connection may come as several errors in one, with an empty message. */
function explain(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(explain).join('; ');
  return error instanceof Error ? error.message : String(error);
}

/** For a command that runs for a moment: a connection that breaks while unused is noticed when it is used. */
function ignore(): void {}

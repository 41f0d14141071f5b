import { chmodSync, existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Settings, SettingsError } from '../service/config/settings.ts';
import { AppError } from '../shared/errors.ts';
import {
  type Engine,
  first,
  isUnavailable,
  type MaintainedEngine,
  observeFailures,
  type SqlSession,
} from '../service/store/engine.ts';
import { SCHEMA, type SchemaState } from '../service/store/migrations.ts';
import { date, integer } from '../service/store/rows.ts';
import type { PostgresEngine } from '../service/store/postgres-engine.ts';
import { SecretBox } from '../service/store/secret-box.ts';
import { countSecretsByKey, missingKeys } from '../service/store/secrets.ts';
import { createStore, type Store } from '../service/store/store.ts';
import { SqliteEngine } from '../service/store/sqlite-engine.ts';
import type { DependencyMetrics } from '../service/telemetry/dependency-metrics.ts';
import { causeOf } from './cause-of.ts';
import { keepFilesPrivate } from './private-files.ts';

type StoreLocation = Pick<Settings, 'dataDirectory' | 'databaseUrl'> &
  Partial<Pick<Settings, 'databasePool' | 'databaseTls' | 'databaseAuthorities' | 'encryptionKeys'>>;

export async function openStore(
  location: StoreLocation,
  onBrokenConnection: (error: Error) => void = ignore,
  metrics?: DependencyMetrics,
): Promise<Store> {
  const engine = await openEngine(location, onBrokenConnection);
  const box = await boxFor(location, engine).catch(async (error: unknown) => {
    await engine.close();
    throw error;
  });
  if (metrics === undefined) return createStore(engine, undefined, undefined, box);
  if (isPooled(engine)) metrics.watchConnections(() => engine.connections);
  const observed = observeFailures(engine, () => metrics.storeFailed());
  const store = createStore(observed, undefined, undefined, box);
  metrics.watchPendingWrites(() => store.pendingWrites.list().length);
  return store;
}

/** Refuses a database with secrets that this process can't decrypt: webhooks and sign-ins would fail one by one. */
async function boxFor({ encryptionKeys = [] }: StoreLocation, engine: Engine): Promise<SecretBox> {
  const box = new SecretBox(encryptionKeys);
  const missing = await missingKeys(engine, box);
  if (missing.length === 0) return box;
  throw new SettingsError([
    `STORYBAR_ENCRYPTION_KEYS lacks ${missing.join(', ')}, with which secrets in the database are encrypted`,
  ]);
}

const START_PATIENCE_MS = 30_000;
const RETRY_PAUSE_MS = 1_000;

/** A server and its database often start together, so a server waits for it a little. Other errors are thrown immediately. */
export async function onceAvailable<Result>(
  open: () => Promise<Result>,
  onRetry: (error: unknown) => void,
  patienceMs = START_PATIENCE_MS,
): Promise<Result> {
  for (const end = performance.now() + patienceMs; ; await wait(RETRY_PAUSE_MS)) {
    try {
      return await open();
    } catch (error) {
      if (!isUnavailable(error) || performance.now() > end) throw error;
      onRetry(error);
    }
  }
}

/** Opens the store for a command and closes it afterwards. */
export async function withStore(location: StoreLocation, work: (store: Store) => Promise<void>): Promise<void> {
  const store = await openStore(location);
  try {
    await work(store);
  } finally {
    await store.close();
  }
}

function isPooled(engine: Engine): engine is PostgresEngine {
  return engine.dialect === 'postgres';
}

/** Opens the database and brings its schema up to date. */
export async function openEngine(
  { dataDirectory, databaseUrl, databasePool, databaseTls, databaseAuthorities }: StoreLocation,
  onBrokenConnection: (error: Error) => void = ignore,
): Promise<MaintainedEngine> {
  try {
    if (databaseUrl === '') return openEmbedded(dataDirectory, onBrokenConnection);
    // PostgreSQL is loaded on demand, like all code that only some servers need, because every command then starts
    // faster.
    const { PostgresEngine: Postgres } = await import('../service/store/postgres-engine.ts');
    return await Postgres.open(databaseUrl, onBrokenConnection, {
      ...(databasePool !== undefined && { poolSize: databasePool }),
      ...(databaseTls !== undefined && { tls: databaseTls }),
      ...(databaseAuthorities !== undefined && { authoritiesFile: databaseAuthorities }),
    });
  } catch (error) {
    const database =
      databaseUrl === '' ? `the database in ${dataDirectory} (STORYBAR_DATA_DIR)` : 'STORYBAR_DATABASE_URL';
    const fault = `${database} cannot be used: ${causeOf(error)}`;
    throw isUnavailable(error) ? new AppError('storage_unavailable', fault) : new SettingsError([fault]);
  }
}

/** Tools and servers of other users must not read the accounts. Files of write-ahead logging get the database's own mode. */
function openEmbedded(dataDirectory: string, onBrokenConnection: (error: Error) => void): MaintainedEngine {
  keepFilesPrivate();
  const file = embeddedFile(dataDirectory);
  if (existsSync(file)) chmodSync(file, 0o600);
  return new SqliteEngine(file, { onBrokenConnection });
}

export interface DatabaseFacts extends SchemaState {
  /** The clock of the database server; undefined for the embedded database. */
  readonly now: Date | undefined;
  /** Undefined before the first start of a server. */
  readonly heartbeatAt: Date | undefined;
  /** How many secrets have each encryption key; the name of plain text is an empty text. */
  readonly secrets: ReadonlyMap<string, number>;
}

/** For `storybar doctor`. Nothing is migrated or created; undefined if there is no database yet. */
export async function inspectDatabase(location: StoreLocation): Promise<DatabaseFacts | undefined> {
  const look = async (session: SqlSession, state: SchemaState): Promise<DatabaseFacts> => {
    const isServer = location.databaseUrl !== '';
    const clock = isServer
      ? await first(session, 'select (extract(epoch from now()) * 1000)::bigint as now')
      : undefined;
    // A database of an earlier version may not have these tables yet.
    const isMigrated = state.version >= SCHEMA.version;
    const heartbeat = isMigrated ? await first(session, 'select trusted_at from trusted_time') : undefined;
    return {
      ...state,
      now: clock && new Date(integer(clock, 'now')),
      heartbeatAt: heartbeat && date(heartbeat, 'trusted_at'),
      secrets: isMigrated ? await countSecretsByKey(session) : new Map(),
    };
  };
  const { dataDirectory, databaseUrl, databaseTls, databaseAuthorities } = location;
  if (databaseUrl === '') {
    const file = embeddedFile(dataDirectory);
    return existsSync(file) ? await SqliteEngine.inspect(file, look) : undefined;
  }
  const { PostgresEngine: Postgres } = await import('../service/store/postgres-engine.ts');
  const options = {
    ...(databaseTls !== undefined && { tls: databaseTls }),
    ...(databaseAuthorities !== undefined && { authoritiesFile: databaseAuthorities }),
  };
  return await Postgres.inspect(databaseUrl, options, look);
}

export function embeddedFile(dataDirectory: string): string {
  return path.join(dataDirectory, 'storybar.db');
}

/** Short commands notice a broken connection when they use it. */
function ignore(): void {}

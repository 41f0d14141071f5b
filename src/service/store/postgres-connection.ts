// Connects to PostgreSQL, directly or through PgBouncer, and classifies its errors. See PostgreSQL's appendix "Error
// Codes".

import { readFileSync } from 'node:fs';
import pg from 'pg';

export interface PostgresOptions {
  /** The maximum number of connections of this process. */
  readonly poolSize?: number;
  /** `require` encrypts, `verify-full` also checks the certificate and the host name. Empty uses what the URL says. */
  readonly tls?: '' | 'disable' | 'require' | 'verify-full';
  /** PEM file with the certificate authorities to trust. Implies `verify-full`. */
  readonly authoritiesFile?: string;
}

/** Also the longest wait for a free connection. */
const CONNECT_TIMEOUT_MS = 5_000;
/** No statement of the store takes long, so a slow one is waiting for a database with a problem. */
const STATEMENT_TIMEOUT_MS = 10_000;
/** A storybar server that freezes in the middle of a transaction must not keep its locks for long. */
const IDLE_IN_TRANSACTION_MS = 15_000;

export const SESSION_TIMEOUTS = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
} as const;

/**
 * Begins a transaction on connections that PgBouncer shares between clients, so the timeouts end with the transaction.
 */
export const BEGIN_WITH_TIMEOUTS = `begin; ${Object.entries(SESSION_TIMEOUTS)
  .map(([name, milliseconds]) => `set local ${name} = ${milliseconds}`)
  .join('; ')}`;

export function connectionConfig(url: string, { tls = '', authoritiesFile = '' }: PostgresOptions): pg.ClientConfig {
  const mode = tls === '' && authoritiesFile !== '' ? 'verify-full' : tls;
  const common = { connectionTimeoutMillis: CONNECT_TIMEOUT_MS, keepAlive: true, application_name: 'storybar' };
  if (mode === '') return { ...common, connectionString: url };
  const plain = new URL(url);
  // The driver would prefer the settings of the URL.
  for (const name of ['sslmode', 'ssl', 'sslrootcert', 'uselibpqcompat']) plain.searchParams.delete(name);
  const ca = authoritiesFile === '' ? {} : { ca: readFileSync(authoritiesFile, 'utf8') };
  const ssl = mode === 'disable' ? false : { rejectUnauthorized: mode === 'verify-full', ...ca };
  return { ...common, connectionString: plain.href, ssl };
}

/** PgBouncer refuses parameters that outlive a transaction. Throws if the database can't be used at all. */
export async function acceptsSessionSettings(config: pg.ClientConfig): Promise<boolean> {
  const client = new pg.Client({ ...config, ...SESSION_TIMEOUTS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch (error) {
    if (error instanceof Error && /unsupported startup parameter/iu.test(error.message)) return false;
    throw describeRefusal(error, config);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The driver's texts for a server that is silent or hangs up. They have no code. */
const SILENCE = /^(?:timeout expired|Connection terminated)/u;

function describeRefusal(error: unknown, { connectionString = '' }: pg.ClientConfig): unknown {
  if (!(error instanceof Error) || !SILENCE.test(error.message)) return error;
  const { host } = new URL(connectionString);
  const text = `${host} accepts connections but PostgreSQL doesn't respond within ${CONNECT_TIMEOUT_MS / 1_000} seconds`;
  return new Error(`${text} (${error.message})`, { cause: error });
}

/** serialization_failure, deadlock_detected. */
const CONFLICT_CODES: ReadonlySet<string> = new Set(['40001', '40P01']);

/**
 * Whole classes of codes: connection lost, no resources (disk, memory, connections), operator intervention, system
 * error.
 */
const UNAVAILABLE_CLASSES: ReadonlySet<string> = new Set(['08', '53', '57', '58']);
/** lock_not_available, idle_in_transaction_session_timeout, and read_only_sql_transaction, as a standby reports. */
const UNAVAILABLE_CODES: ReadonlySet<string> = new Set(['55P03', '25P03', '25006']);

export function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code !== undefined && CONFLICT_CODES.has(error.code);
}

/** The database can't be used right now, which is neither the caller's fault nor a bug. */
export function isOutage(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) {
    const { code } = error;
    return code !== undefined && (UNAVAILABLE_CLASSES.has(code.slice(0, 2)) || UNAVAILABLE_CODES.has(code));
  }
  // Other errors of the driver concern the connection: refused, reset, ended or timed out. Some have no code.
  return error instanceof Error && !(error instanceof TypeError);
}

const NETWORK_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
]);

/** Before the first connection, only these errors can pass by themselves. Others, such as a wrong certificate, are settings. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return isOutage(error);
  if (error instanceof AggregateError) return error.errors.some(isUnreachable);
  if (!(error instanceof Error)) return false;
  if ('code' in error && NETWORK_CODES.has(String(error.code))) return true;
  return SILENCE.test(error.message) || isUnreachable(error.cause);
}

/**
 * Recognizes character_not_in_repertoire. PostgreSQL refuses only the NUL character of the text that requests can
 * contain.
 */
export function isUnstorableText(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '22021';
}

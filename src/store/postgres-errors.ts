// What an error of PostgreSQL, or of the connection to it, means. Codes: PostgreSQL's appendix "Error Codes".

import pg from 'pg';

/** serialization_failure, deadlock_detected. */
const CONFLICT_CODES: ReadonlySet<string> = new Set(['40001', '40P01']);

/** Whole classes: connection lost, no resources (disk, memory, connections), operator intervention, system error. */
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
  // Other errors of the driver are about the connection: refused, reset, ended or timed out. Some have no code.
  return error instanceof Error && !(error instanceof TypeError);
}

// What an error of PostgreSQL or of the way to it means for us. Codes: PostgreSQL's appendix "Error Codes".

import pg from 'pg';

/** serialization_failure, deadlock_detected. */
const CONFLICTS: ReadonlySet<string> = new Set(['40001', '40P01']);

/** Whole classes: connection lost, no resources (disk, memory, connections), operator intervention, system error. */
const TROUBLED_CLASSES: ReadonlySet<string> = new Set(['08', '53', '57', '58']);
/** lock_not_available, idle_in_transaction_session_timeout, and read-only: we are talking to a standby. */
const TROUBLES: ReadonlySet<string> = new Set(['55P03', '25P03', '25006']);

export function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && CONFLICTS.has(error.code ?? '');
}

/** Not a caller's doing and not a bug: the database cannot be used right now. */
export function isTrouble(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? '';
    return TROUBLED_CLASSES.has(code.slice(0, 2)) || TROUBLES.has(code);
  }
  // Whatever else the driver throws is about the connection: refused, reset, ended, timed out; some have no code.
  return error instanceof Error && !(error instanceof TypeError);
}

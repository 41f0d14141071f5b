// Names of processes, as owners of holds, leases and idempotency keys.

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { hasCode } from '../../shared/error-facts.ts';
import { pidNamespace } from '../../shared/pid-namespace.ts';

/** Creates the name of this process as the owner of holds and idempotency keys. */
export function createOwner(): string {
  return [hostname(), process.pid, pidNamespace() ?? '', randomUUID()].join('/');
}

/**
 * Returns true when the owner was a process in this PID namespace that no longer runs. Any other owner may still run,
 * in another container for example, and is gone only when its lease has expired.
 */
export function isGone(owner: string): boolean {
  const [host, pid, namespace] = owner.split('/');
  if (host !== hostname() || namespace !== pidNamespace()) return false;
  // The name belongs to an earlier process with the same PID.
  if (Number(pid) === process.pid) return true;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return hasCode(error, 'ESRCH');
  }
}

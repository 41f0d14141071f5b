// Names the PID namespace of this process. A PID is meaningful only within its namespace: in another container, the same
// number belongs to a different process.

import { readFileSync, readlinkSync } from 'node:fs';

let known: string | undefined;

/** Returns undefined where the namespace is unknown. Its inode number is unique until the machine restarts. */
export function pidNamespace(): string | undefined {
  if (known !== undefined) return known;
  try {
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    known = `${bootId}:${readlinkSync('/proc/self/ns/pid').replaceAll(/\D/gu, '')}`;
    return known;
  } catch {
    // This isn't Linux.
    return undefined;
  }
}

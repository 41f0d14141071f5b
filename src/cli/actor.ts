import { userInfo } from 'node:os';
import type { Actor } from '../store/store.ts';

/** Who works on the command line, for the audit log. A user number without a name, as in many containers, is one too. */
export function commandLineActor(): Actor {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    return `cli:uid-${process.getuid?.() ?? 'unknown'}`;
  }
}

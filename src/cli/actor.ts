import { userInfo } from 'node:os';
import type { Actor } from '../service/store/audit.ts';

/** Returns the operating system user, for the audit log. In many containers the user id has no name. */
export function commandLineActor(): Actor {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    return `cli:uid-${process.getuid?.() ?? 'unknown'}`;
  }
}

import type { UserRole } from '../../service/store/people/user.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface SessionTimeouts {
  /** A session ends when no page is opened for this long. */
  readonly idleMs: number;
  /** A session never lasts longer than this. */
  readonly absoluteMs: number;
}

/** Operators can do more damage, so their sessions are shorter. */
export const SESSION_TIMEOUTS: Readonly<Record<UserRole, SessionTimeouts>> = {
  member: { idleMs: 7 * DAY_MS, absoluteMs: 30 * DAY_MS },
  operator: { idleMs: 2 * HOUR_MS, absoluteMs: 12 * HOUR_MS },
};

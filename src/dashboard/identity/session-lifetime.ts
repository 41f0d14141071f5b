import type { UserRole } from '../../store/users.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** How long one stays signed in: without opening a page, and in any case. Who can do more signs in more often. */
export const LIFETIMES: Readonly<Record<UserRole, { readonly idleMs: number; readonly wholeMs: number }>> = {
  member: { idleMs: 7 * DAY_MS, wholeMs: 30 * DAY_MS },
  operator: { idleMs: 2 * HOUR_MS, wholeMs: 12 * HOUR_MS },
};

// Requests that change what an account has need a key that stays on a server.

import type { Caller } from '../../account/caller.ts';
import { AppError } from '../../errors.ts';
import type { Keys } from '../../store/accounts/keys.ts';
import type { Actor } from '../../store/audit.ts';

/** Returns the name of the key for the audit log. `what` completes "Use a live key without allowed origins to ...". */
export async function assertServerKey(keys: Pick<Keys, 'get'>, { keyId, mode }: Caller, what: string): Promise<Actor> {
  const key = keyId === undefined ? undefined : await keys.get(keyId);
  if (key !== undefined && mode === 'live' && key.allowedOrigins.length === 0) return `key:${key.id}`;
  throw new AppError('server_key_required', `Use a live key without allowed origins to ${what}. Other keys cannot.`);
}

// Requests that change what an account has need a key that stays on a server.

import type { Caller } from '../../account/caller.ts';
import { AppError } from '../../errors.ts';
import type { Keys } from '../../store/accounts/keys.ts';
import type { Actor } from '../../store/audit.ts';

/** The dependencies of routes that change styles, logos and fonts. */
export interface BrandChanges {
  readonly keys: Pick<Keys, 'get'>;
  /** The name of the marketplace in the audit log. */
  readonly marketplace: string;
}

/** Returns the name of the key for the audit log. `what` completes "Use a live key without allowed origins to ...". */
export async function assertServerKey(keys: Pick<Keys, 'get'>, { keyId, mode }: Caller, what: string): Promise<Actor> {
  const key = keyId === undefined ? undefined : await keys.get(keyId);
  if (key !== undefined && mode === 'live' && key.allowedOrigins.length === 0) return `key:${key.id}`;
  throw new AppError('server_key_required', `Use a live key without allowed origins to ${what}. Other keys cannot.`);
}

/** Like `assertServerKey`, for what the callers of a marketplace may change as well: they have no other keys. */
export async function assertServerOrMarketplace(
  { keys, marketplace }: BrandChanges,
  caller: Caller,
  what: string,
): Promise<Actor> {
  return caller.keyId === undefined ? `marketplace:${marketplace}` : await assertServerKey(keys, caller, what);
}

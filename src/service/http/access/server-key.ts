// Requests that change what an account has need a key that stays on a server.

import type { Caller } from '../../account/caller.ts';
import { AppError } from '../../../shared/errors.ts';
import type { Keys } from '../../store/accounts/keys.ts';
import type { Access } from '../operation.ts';

/** Callers through the marketplace have no keys. `what` completes "Use a live key without allowed origins to ...". */
export async function assertServerKey(
  keys: Pick<Keys, 'get'>,
  { keyId, mode }: Caller,
  access: Access,
  what = 'do this',
): Promise<void> {
  if (keyId === undefined && access === 'server key or marketplace') return;
  const key = keyId === undefined ? undefined : await keys.get(keyId);
  if (key !== undefined && mode === 'live' && key.allowedOrigins.length === 0) return;
  throw new AppError('server_key_required', `Use a live key without allowed origins to ${what}. Other keys cannot.`);
}

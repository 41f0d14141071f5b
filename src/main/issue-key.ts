import { randomUUID } from 'node:crypto';
import { createApiKey, hashKey, type KeyMode, maskKey } from '../service/account/api-key.ts';
import type { Actor } from '../service/store/audit.ts';
import type { Store } from '../service/store/store.ts';

export interface IssuedKey {
  readonly id: string;
  /** The key itself, which is shown once. Only its hash is stored. */
  readonly key: string;
}

/** Creates an account on a plan and returns its id. */
export async function openAccount(store: Store, plan: string, name: string, actor: Actor): Promise<string> {
  const id = randomUUID();
  await store.accounts.create({ id, name }, actor);
  await store.accounts.subscribe(id, plan, 'now', actor);
  return id;
}

export async function issueKey(
  store: Store,
  accountId: string,
  { name, mode, allowedOrigins = [] }: { name: string; mode: KeyMode; allowedOrigins?: readonly string[] },
  actor: Actor,
): Promise<IssuedKey> {
  const key = createApiKey(mode);
  const id = randomUUID();
  await store.keys.create({ id, accountId, name, mode, hash: hashKey(key), ...maskKey(key), allowedOrigins }, actor);
  return { id, key };
}

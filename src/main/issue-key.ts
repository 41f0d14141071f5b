import { randomUUID } from 'node:crypto';
import { createApiKey, hashKey, type KeyMode, maskKey } from '../account/api-key.ts';
import type { PlanName } from '../account/plan.ts';
import type { Store } from '../store/store.ts';

export interface IssuedKey {
  readonly id: string;
  /** Shown once; only its hash is kept. */
  readonly key: string;
  readonly plan: PlanName;
}

/** A new account on a plan, with its first key. */
export async function issueKey(store: Store, plan: PlanName, name: string, mode: KeyMode = 'live'): Promise<IssuedKey> {
  const key = createApiKey(mode);
  const id = randomUUID();
  const accountId = randomUUID();
  await store.createAccountWithKey(
    { id: accountId, name, plan },
    { id, accountId, name, mode, hash: hashKey(key), ...maskKey(key) },
  );
  return { id, key, plan };
}

// Changes that users make to their API keys. A key of another account is treated as if it didn't exist.

import { randomUUID } from 'node:crypto';
import { createApiKey, hashKey, type KeyMode, maskKey } from '../../service/account/api-key.ts';
import { MAX_ORIGINS, parseOrigin } from '../../service/account/web-origin.ts';
import { AppError } from '../../shared/errors.ts';
import type { KeySummary } from '../../service/store/accounts/keys.ts';
import type { Store } from '../../service/store/store.ts';
import type { User } from '../../service/store/people/user.ts';
import type { FormFields } from '../identity/form-fields.ts';
import type { ShownKey } from '../identity/new-key-cookie.ts';

const MAX_NAME = 80;
const MAX_KEYS = 100;
const CONFIRM_FIRST = 'Confirm your email address to create live keys. Test keys work already.';
const APPROVAL_FIRST = 'Ask the operator to approve this account to create live keys. Test keys work already.';

/** How long the old key keeps working after a rotation. */
export const OVERLAPS = {
  none: { label: 'Immediately', milliseconds: 0 },
  hour: { label: 'In 1 hour', milliseconds: 3_600_000 },
  day: { label: 'In 1 day', milliseconds: 86_400_000 },
  week: { label: 'In 1 week', milliseconds: 7 * 86_400_000 },
} as const;

export interface KeyForm {
  readonly name: string;
  /** The text as typed, one origin per line. */
  readonly origins: string;
}

export interface KeyFaults {
  readonly name?: string;
  readonly origins?: string;
}

export type CheckedKeyForm =
  | { readonly name: string; readonly allowedOrigins: string[] }
  | { readonly faults: KeyFaults };

export function readKeyForm(fields: FormFields): KeyForm {
  return { name: fields.text('name'), origins: fields.text('origins') };
}

/** Reports the faults of all fields together. */
export function checkKeyForm({ name, origins }: KeyForm): CheckedKeyForm {
  const cleaned = name.replaceAll(/\p{Cc}/gu, ' ').trim();
  const lines = origins.split(/[\s,]+/u).filter((line) => line !== '');
  const parsed = lines.slice(0, MAX_ORIGINS).map((line) => parseOrigin(line));
  const invalid = lines.slice(0, MAX_ORIGINS).filter((_, index) => parsed[index] === undefined);
  const faults = {
    ...(cleaned === '' && { name: 'Name this key so you can recognize it later.' }),
    ...(Array.from(cleaned).length > MAX_NAME && { name: `Use up to ${MAX_NAME} characters.` }),
    ...(lines.length > MAX_ORIGINS && { origins: `Enter up to ${MAX_ORIGINS} origins.` }),
    ...(invalid.length > 0 && {
      origins: `Enter origins like https://shop.example. Invalid: ${invalid.slice(0, 3).join(', ')}`,
    }),
  };
  if (Object.keys(faults).length > 0) return { faults };
  return { name: cleaned, allowedOrigins: [...new Set(parsed.filter((origin) => origin !== undefined))] };
}

export class KeyChanges {
  readonly #keys: Store['keys'];
  readonly #accounts: Store['accounts'];

  constructor({ keys, accounts }: Pick<Store, 'keys' | 'accounts'>) {
    this.#keys = keys;
    this.#accounts = accounts;
  }

  /** Lists keys, newest first. */
  async list({ accountId }: User): Promise<KeySummary[]> {
    return (await this.#keys.list(accountId)).toReversed();
  }

  async find({ accountId }: User, keyId: string): Promise<KeySummary> {
    const key = (await this.#keys.list(accountId)).find(({ id }) => id === keyId);
    if (key === undefined) throw new AppError('not_found', "This key doesn't exist.");
    return key;
  }

  /** Returns the key itself. It is stored as a hash, so it can't be shown again. */
  async create(user: User, mode: KeyMode, name: string, allowedOrigins: readonly string[]): Promise<ShownKey> {
    if (mode === 'live') await this.#assertLiveAccess(user);
    const usable = (await this.#keys.list(user.accountId)).filter(({ state }) => state !== 'revoked');
    if (usable.length >= MAX_KEYS) {
      throw new AppError('invalid_fields', `An account can have up to ${MAX_KEYS} keys. Revoke one first.`);
    }
    const { accountId } = user;
    const key = createApiKey(mode);
    const stored = { id: randomUUID(), hash: hashKey(key), ...maskKey(key) };
    await this.#keys.create({ ...stored, accountId, name, mode, allowedOrigins, createdBy: user.id }, actorOf(user));
    return { id: stored.id, name, key };
  }

  async save(user: User, key: KeySummary, name: string, allowedOrigins: readonly string[]): Promise<void> {
    if (name !== key.name) assertChanged(await this.#keys.rename(key.id, name, actorOf(user)));
    if (JSON.stringify(allowedOrigins) === JSON.stringify(key.allowedOrigins)) return;
    assertChanged(await this.#keys.setAllowedOrigins(key.id, allowedOrigins, actorOf(user)));
  }

  /** Creates a key with the same settings. The old key keeps working for `overlapMs`. */
  async rotate(user: User, key: KeySummary, overlapMs: number): Promise<ShownKey> {
    assertChanged(key.state !== 'revoked' && key.expiresAt === null);
    const next = await this.create(user, key.mode, key.name, key.allowedOrigins);
    if (overlapMs === 0) await this.revoke(user, key);
    else assertChanged(await this.#keys.expireAt(key.id, new Date(Date.now() + overlapMs), actorOf(user)));
    return next;
  }

  async revoke(user: User, key: KeySummary): Promise<void> {
    assertChanged(await this.#keys.setState(key.id, 'revoked', actorOf(user)));
  }

  async #assertLiveAccess({ accountId, unconfirmedEmail }: User): Promise<void> {
    if (unconfirmedEmail !== null) throw new AppError('invalid_fields', CONFIRM_FIRST);
    const account = await this.#accounts.find(accountId);
    if (account?.awaitsApproval === true) throw new AppError('approval_required', APPROVAL_FIRST);
  }
}

function actorOf({ id }: User): string {
  return `user:${id}`;
}

function assertChanged(isChanged: boolean): void {
  if (!isChanged) throw new AppError('not_found', 'This key has already been revoked or rotated.');
}

// What people do with their keys. A key belongs to an account; one of another account is as good as none.

import { randomUUID } from 'node:crypto';
import { createApiKey, hashKey, type KeyMode, maskKey } from '../../account/api-key.ts';
import { MAX_ORIGINS, parseOrigin } from '../../account/web-origin.ts';
import { AppError } from '../../errors.ts';
import type { KeySummary, Store } from '../../store/store.ts';
import type { User } from '../../store/users.ts';
import type { FormFields } from '../identity/form-fields.ts';

const MAX_NAME = 80;
const MAX_KEYS = 100;

/** How long the old key goes on working beside the new one. */
export const OVERLAPS = {
  none: { label: 'no time at all', milliseconds: 0 },
  hour: { label: 'an hour', milliseconds: 3_600_000 },
  day: { label: 'a day', milliseconds: 86_400_000 },
  week: { label: 'a week', milliseconds: 7 * 86_400_000 },
} as const;

export interface KeyForm {
  readonly name: string;
  /** As typed, one a line. */
  readonly origins: string;
}

export type Checked =
  | { readonly name: string; readonly allowedOrigins: string[] }
  | { readonly faults: { readonly name?: string; readonly origins?: string } };

export function readKeyForm(fields: FormFields): KeyForm {
  return { name: fields.text('name'), origins: fields.text('origins') };
}

/** Every fault at once. */
export function checkKeyForm({ name, origins }: KeyForm): Checked {
  const cleaned = name.replaceAll(/\p{Cc}/gu, ' ').trim();
  const lines = origins.split(/[\s,]+/u).filter((line) => line !== '');
  const parsed = lines.map((line) => parseOrigin(line));
  const bad = lines.filter((_, index) => parsed[index] === undefined);
  const faults = {
    ...(cleaned === '' && { name: 'Give the key a name, so that you know it again.' }),
    ...(Array.from(cleaned).length > MAX_NAME && { name: `At most ${MAX_NAME} characters.` }),
    ...(lines.length > MAX_ORIGINS && { origins: `At most ${MAX_ORIGINS} origins.` }),
    ...(bad.length > 0 && { origins: `Not an origin like https://shop.example: ${bad.slice(0, 3).join(', ')}` }),
  };
  if (Object.keys(faults).length > 0) return { faults };
  return { name: cleaned, allowedOrigins: [...new Set(parsed.filter((origin) => origin !== undefined))] };
}

export class KeyChanges {
  readonly #keys: Store['keys'];

  constructor({ keys }: Pick<Store, 'keys'>) {
    this.#keys = keys;
  }

  /** Newest first. */
  async list({ accountId }: User): Promise<KeySummary[]> {
    return (await this.#keys.list(accountId)).toReversed();
  }

  async find({ accountId }: User, keyId: string): Promise<KeySummary> {
    const key = (await this.#keys.list(accountId)).find(({ id }) => id === keyId);
    if (key === undefined) throw new AppError('not_found', 'There is no such key.');
    return key;
  }

  /** Returns the key itself, which nobody can be shown again. */
  async create(user: User, mode: KeyMode, name: string, allowedOrigins: readonly string[]): Promise<string> {
    const working = (await this.#keys.list(user.accountId)).filter(({ state }) => state !== 'revoked');
    if (working.length >= MAX_KEYS) {
      throw new AppError('invalid_fields', `An account has at most ${MAX_KEYS} keys. Revoke one first.`);
    }
    const key = createApiKey(mode);
    const made = { id: randomUUID(), hash: hashKey(key), ...maskKey(key) };
    await this.#keys.create({ ...made, accountId: user.accountId, name, mode, allowedOrigins }, actorOf(user));
    return key;
  }

  async save(user: User, key: KeySummary, name: string, allowedOrigins: readonly string[]): Promise<void> {
    if (name !== key.name) assertDone(await this.#keys.rename(key.id, name, actorOf(user)));
    if (JSON.stringify(allowedOrigins) === JSON.stringify(key.allowedOrigins)) return;
    assertDone(await this.#keys.setAllowedOrigins(key.id, allowedOrigins, actorOf(user)));
  }

  /** A new key like the old one, which goes on for a while. */
  async rotate(user: User, key: KeySummary, overlapMs: number): Promise<string> {
    assertDone(key.state !== 'revoked' && key.expiresAt === null);
    const next = await this.create(user, key.mode, key.name, key.allowedOrigins);
    if (overlapMs === 0) await this.revoke(user, key);
    else assertDone(await this.#keys.expireAt(key.id, new Date(Date.now() + overlapMs), actorOf(user)));
    return next;
  }

  async revoke(user: User, key: KeySummary): Promise<void> {
    assertDone(await this.#keys.setState(key.id, 'revoked', actorOf(user)));
  }
}

function actorOf({ id }: User): string {
  return `user:${id}`;
}

function assertDone(done: boolean): void {
  if (!done) throw new AppError('not_found', 'This key is revoked or replaced already.');
}

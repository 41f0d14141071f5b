import { timingSafeEqual } from 'node:crypto';
import { KEY_STATES, type KeyHolder, type KeyState, stateOf } from '../../account/access.ts';
import { KEY_MODES } from '../../account/api-key.ts';
import { changeDue } from '../../account/subscription.ts';
import { must } from '../../../shared/must.ts';
import { type Actor, type Clock, recordAudit } from '../audit.ts';
import { type Engine, first, insertRow } from '../engine.ts';
import { bool, oneOf, type SqlRow, type SqlParameters, text, textList, textOrNull } from '../rows.ts';
import { asOf, bringUpToDate, SUBSCRIPTION_COLUMNS, toSubscription, lockAccount } from './subscriptions.ts';
import { isTrusted } from '../lease.ts';
import type { AccountState } from '../../account/access.ts';
import type { KeyMode } from '../../account/api-key.ts';

export interface NewKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly mode: KeyMode;
  readonly hash: Buffer;
  readonly prefix: string;
  readonly lastFour: string;
  readonly allowedOrigins?: readonly string[];
  /** The user who creates it; undefined for a key that the operator creates. */
  readonly createdBy?: string;
}

export interface KeySummary {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly plan: string | null;
  readonly mode: KeyMode;
  readonly state: KeyState;
  readonly accountState: AccountState;
  readonly prefix: string;
  readonly lastFour: string;
  readonly allowedOrigins: readonly string[];
  readonly createdAt: string;
  /** The user who created it, who may have been removed since; null for a key that the operator created. */
  readonly createdBy: string | null;
  readonly lastUsedAt: string | null;
  /** When a key that was rotated out stops working. */
  readonly expiresAt: string | null;
}

const KEYS = `
  select k.id, k.account_id, k.name, k.mode, k.state, a.state as account_state, a.awaits_approval, k.hash, k.prefix, k.last_four,
         k.allowed_origins, k.created_at, k.created_by, k.last_used_at, k.expires_at, ${SUBSCRIPTION_COLUMNS}
  from api_keys k
  join accounts a on a.id = k.account_id
  left join subscriptions s on s.account_id = k.account_id`;

export class Keys {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  async create(key: NewKey, actor: Actor): Promise<void> {
    const at = this.#clock().toISOString();
    const { id, accountId, name, mode, hash, prefix, lastFour, allowedOrigins = [], createdBy = null } = key;
    await this.#engine.transaction(async (session) => {
      await insertRow(session, 'api_keys', {
        id,
        accountId,
        name,
        mode,
        hash: hash.toString('hex'),
        prefix,
        lastFour,
        allowedOrigins: JSON.stringify(allowedOrigins),
        createdAt: at,
        createdBy,
      });
      const details = { name, mode, prefix, lastFour, allowedOrigins };
      await recordAudit(session, at, { actor, action: 'key.created', accountId, subject: id, details });
    });
  }

  /** Finds the holder of a key, after bringing the subscription up to date. */
  async find(hash: Buffer): Promise<KeyHolder | undefined> {
    const row = await first(this.#engine, `${KEYS} where k.hash = :hash`, { hash: hash.toString('hex') });
    if (row === undefined || !timingSafeEqual(Buffer.from(text(row, 'hash'), 'hex'), hash)) return undefined;
    const now = this.#clock();
    const accountId = text(row, 'account_id');
    let subscription = toSubscription(row);
    if (subscription && changeDue(subscription, now).kind !== 'none') {
      subscription = await this.#engine.transaction(async (session) => {
        await lockAccount(session, accountId);
        return await bringUpToDate(session, accountId, now);
      });
    }
    return {
      keyId: text(row, 'id'),
      keyState: stateAt(row, now),
      mode: oneOf(row, 'mode', KEY_MODES),
      allowedOrigins: textList(row, 'allowed_origins'),
      accountId,
      suspended: row['account_state'] === 'suspended',
      awaitsApproval: bool(row, 'awaits_approval'),
      subscription,
    };
  }

  async get(keyId: string): Promise<KeySummary | undefined> {
    const row = await first(this.#engine, `${KEYS} where k.id = :keyId`, { keyId });
    const now = this.#clock();
    return row && toSummary(row, now, await isTrusted(this.#engine, now));
  }

  async list(accountId?: string): Promise<KeySummary[]> {
    const [where, parameters] = accountId === undefined ? ['', {}] : ['where k.account_id = :accountId', { accountId }];
    const rows = await this.#engine.all(`${KEYS} ${where} order by k.created_at, k.id`, parameters);
    const now = this.#clock();
    const trusted = await isTrusted(this.#engine, now);
    return rows.map((row) => toSummary(row, now, trusted));
  }

  /** Returns false when there is no such key or it is revoked, which is final. */
  async setState(keyId: string, state: KeyState, actor: Actor): Promise<boolean> {
    return await this.#change(keyId, actor, `key.${state === 'active' ? 'resumed' : state}`, {
      set: 'state = :state',
      values: { state },
    });
  }

  async rename(keyId: string, name: string, actor: Actor): Promise<boolean> {
    return await this.#change(keyId, actor, 'key.renamed', {
      set: 'name = :name',
      values: { name },
      details: { name },
    });
  }

  async setAllowedOrigins(keyId: string, allowedOrigins: readonly string[], actor: Actor): Promise<boolean> {
    const values = { origins: JSON.stringify(allowedOrigins) };
    const details = { allowedOrigins };
    return await this.#change(keyId, actor, 'key.origins', { set: 'allowed_origins = :origins', values, details });
  }

  /** Does the second half of a rotation: the old key works until `at`. */
  async expireAt(keyId: string, at: Date, actor: Actor): Promise<boolean> {
    const expiresAt = at.toISOString();
    const details = { expiresAt };
    return await this.#change(keyId, actor, 'key.expires', {
      set: 'expires_at = :expiresAt',
      values: { expiresAt },
      details,
    });
  }

  async markUsed(keyId: string): Promise<void> {
    await this.#engine.run('update api_keys set last_used_at = :now where id = :keyId', { now: this.#clock(), keyId });
  }

  async #change(
    keyId: string,
    actor: Actor,
    action: string,
    change: { set: string; values: SqlParameters; details?: Readonly<Record<string, unknown>> },
  ): Promise<boolean> {
    return await this.#engine.transaction(async (session) => {
      const at = this.#clock().toISOString();
      const update = `update api_keys set ${change.set}
        where id = :keyId and state <> 'revoked' and (expires_at is null or expires_at > :at)`;
      if ((await session.run(update, { ...change.values, keyId, at })) === 0) return false;
      const row = must(await first(session, 'select account_id from api_keys where id = :keyId', { keyId }), 'the key');
      await recordAudit(session, at, {
        actor,
        action,
        accountId: text(row, 'account_id'),
        subject: keyId,
        ...(change.details && { details: change.details }),
      });
      return true;
    });
  }
}

function toSummary(row: SqlRow, now: Date, trusted: boolean): KeySummary {
  const stored = toSubscription(row);
  const subscription = stored && asOf(now, trusted, stored);
  return {
    id: text(row, 'id'),
    accountId: text(row, 'account_id'),
    name: text(row, 'name'),
    plan: subscription?.plan ?? null,
    mode: oneOf(row, 'mode', KEY_MODES),
    state: stateAt(row, now),
    accountState: stateOf({
      suspended: row['account_state'] === 'suspended',
      awaitsApproval: bool(row, 'awaits_approval'),
      subscription,
    }),
    prefix: text(row, 'prefix'),
    lastFour: text(row, 'last_four'),
    allowedOrigins: textList(row, 'allowed_origins'),
    createdAt: text(row, 'created_at'),
    createdBy: textOrNull(row, 'created_by'),
    lastUsedAt: textOrNull(row, 'last_used_at'),
    expiresAt: textOrNull(row, 'expires_at'),
  };
}

/** A key that was rotated out counts as revoked once its overlap is over. */
function stateAt(row: SqlRow, now: Date): KeyState {
  const expiresAt = textOrNull(row, 'expires_at');
  return expiresAt !== null && expiresAt <= now.toISOString() ? 'revoked' : oneOf(row, 'state', KEY_STATES);
}

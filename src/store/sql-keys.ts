import { timingSafeEqual } from 'node:crypto';
import { type KeyHolder, type KeyState, stateOf } from '../account/access.ts';
import type { KeyMode } from '../account/api-key.ts';
import { afterTurn, changeDue } from '../account/subscription.ts';
import { type Engine, first, type Parameter } from './engine.ts';
import { type Clock, note } from './sql-audit.ts';
import type { Actor, KeySummary, Keys, NewKey } from './store.ts';
import {
  bringUpToDate,
  lockAccount,
  SUBSCRIPTION_COLUMNS,
  type SubscriptionRow,
  toSubscription,
} from './subscription-rows.ts';

interface KeyRow extends SubscriptionRow {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly mode: KeyMode;
  readonly keyState: KeyState;
  readonly accountState: 'active' | 'suspended';
  readonly hash: string;
  readonly prefix: string;
  readonly lastFour: string;
  readonly allowedOrigins: string | null;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly expiresAt: string | null;
}

const KEYS = `
  select k.id, k.account_id as "accountId", k.name, k.mode, k.state as "keyState", a.state as "accountState", k.hash,
         k.prefix, k.last_four as "lastFour", k.allowed_origins as "allowedOrigins", k.created_at as "createdAt",
         k.last_used_at as "lastUsedAt", k.expires_at as "expiresAt", ${SUBSCRIPTION_COLUMNS}
  from api_keys k
  join accounts a on a.id = k.account_id
  left join subscriptions s on s.account_id = k.account_id`;

export class SqlKeys implements Keys {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  async create(key: NewKey, actor: Actor): Promise<void> {
    const at = this.#clock().toISOString();
    const { id, accountId, name, mode, hash, prefix, lastFour, allowedOrigins = [] } = key;
    await this.#engine.transaction(async (session) => {
      await session.run(
        `insert into api_keys (id, account_id, name, mode, hash, prefix, last_four, allowed_origins, created_at)
         values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [id, accountId, name, mode, hash.toString('hex'), prefix, lastFour, JSON.stringify(allowedOrigins), at],
      );
      const details = { name, mode, prefix, lastFour, allowedOrigins };
      await note(session, at, { actor, action: 'key.created', accountId, subject: id, details });
    });
  }

  async find(hash: Buffer): Promise<KeyHolder | undefined> {
    const row = await first<KeyRow>(this.#engine, `${KEYS} where k.hash = ?`, [hash.toString('hex')]);
    if (row === undefined || !timingSafeEqual(Buffer.from(row.hash, 'hex'), hash)) return undefined;
    const now = this.#clock();
    let subscription = toSubscription(row);
    if (subscription && changeDue(subscription, now).kind !== 'none') {
      subscription = await this.#engine.transaction(async (session) => {
        await lockAccount(session, row.accountId);
        return await bringUpToDate(session, row.accountId, now);
      });
    }
    return {
      keyId: row.id,
      keyState: stateAt(row, now),
      mode: row.mode,
      allowedOrigins: origins(row),
      accountId: row.accountId,
      suspended: row.accountState === 'suspended',
      subscription,
    };
  }

  async get(keyId: string): Promise<KeySummary | undefined> {
    const row = await first<KeyRow>(this.#engine, `${KEYS} where k.id = ?`, [keyId]);
    return row && toSummary(row, this.#clock());
  }

  async list(accountId?: string): Promise<KeySummary[]> {
    const [where, parameters] = accountId === undefined ? ['', []] : ['where k.account_id = ?', [accountId]];
    const rows = await this.#engine.all<KeyRow>(`${KEYS} ${where} order by k.created_at, k.id`, parameters);
    const now = this.#clock();
    return rows.map((row) => toSummary(row, now));
  }

  async setState(keyId: string, state: KeyState, actor: Actor): Promise<boolean> {
    return await this.#change(keyId, actor, `key.${state === 'active' ? 'resumed' : state}`, {
      set: 'state = ?',
      values: [state],
    });
  }

  async rename(keyId: string, name: string, actor: Actor): Promise<boolean> {
    return await this.#change(keyId, actor, 'key.renamed', { set: 'name = ?', values: [name], details: { name } });
  }

  async setAllowedOrigins(keyId: string, allowedOrigins: readonly string[], actor: Actor): Promise<boolean> {
    const values = [JSON.stringify(allowedOrigins)];
    const details = { allowedOrigins };
    return await this.#change(keyId, actor, 'key.origins', { set: 'allowed_origins = ?', values, details });
  }

  async expireAt(keyId: string, at: Date, actor: Actor): Promise<boolean> {
    const expiresAt = at.toISOString();
    const details = { expiresAt };
    return await this.#change(keyId, actor, 'key.expires', { set: 'expires_at = ?', values: [expiresAt], details });
  }

  async markUsed(keyId: string): Promise<void> {
    await this.#engine.run('update api_keys set last_used_at = ? where id = ?', [this.#clock().toISOString(), keyId]);
  }

  async #change(
    keyId: string,
    actor: Actor,
    action: string,
    change: { set: string; values: readonly Parameter[]; details?: Readonly<Record<string, unknown>> },
  ): Promise<boolean> {
    return await this.#engine.transaction(async (session) => {
      const at = this.#clock().toISOString();
      const update = `update api_keys set ${change.set}
        where id = ? and state <> 'revoked' and (expires_at is null or expires_at > ?)`;
      if ((await session.run(update, [...change.values, keyId, at])) === 0) return false;
      const row = await first<{ accountId: string }>(
        session,
        'select account_id as "accountId" from api_keys where id = ?',
        [keyId],
      );
      await note(session, at, {
        actor,
        action,
        accountId: row?.accountId ?? null,
        subject: keyId,
        ...(change.details && { details: change.details }),
      });
      return true;
    });
  }
}

function toSummary(row: KeyRow, now: Date): KeySummary {
  const stored = toSubscription(row);
  const subscription = stored && afterTurn(stored, changeDue(stored, now));
  return {
    id: row.id,
    accountId: row.accountId,
    name: row.name,
    plan: subscription?.plan ?? null,
    mode: row.mode,
    state: stateAt(row, now),
    accountState: stateOf({ suspended: row.accountState === 'suspended', subscription }),
    prefix: row.prefix,
    lastFour: row.lastFour,
    allowedOrigins: origins(row),
    createdAt: row.createdAt,
    lastUsedAt: row.lastUsedAt,
    expiresAt: row.expiresAt,
  };
}

/** A key that was replaced ends by itself when its time is over. */
function stateAt({ keyState, expiresAt }: KeyRow, now: Date): KeyState {
  return expiresAt !== null && expiresAt <= now.toISOString() ? 'revoked' : keyState;
}

function origins({ allowedOrigins }: KeyRow): string[] {
  return allowedOrigins === null ? [] : (JSON.parse(allowedOrigins) as string[]);
}

// Passkeys and their challenges.

import { must } from '../../../shared/must.ts';
import { type Engine, first, type SqlSession, insertRow } from '../engine.ts';
import { date, integer, type SqlRow, text, textList } from '../rows.ts';
import { type Clock, recordAudit } from '../audit.ts';
import { type SqlCondition, deleteInSteps } from '../bounded/steps.ts';

/** The maximum per user. */
export const MAX_PASSKEYS = 20;

export interface NewPasskey {
  /** The id of the credential, in Base64url. */
  readonly id: string;
  readonly userId: string;
  /** The user's name for the device. */
  readonly name: string;
  /** The public key in Base64url. */
  readonly publicKey: string;
  readonly counter: number;
  readonly transports: readonly string[];
}

export interface Passkey extends NewPasskey {
  readonly createdAt: Date;
  readonly lastUsedAt: Date | undefined;
}

const LOCK_ACCOUNT =
  'update accounts set state = state where id = (select account_id from users where id = :userId) and deleted_at is null';
const COLUMNS = 'id, user_id, name, public_key, counter, transports, created_at, last_used_at';

export class Passkeys {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  /** Lists the passkeys of a user, oldest first. */
  async list(userId: string): Promise<Passkey[]> {
    const rows = await this.#engine.all(
      `select ${COLUMNS} from passkeys where user_id = :userId order by created_at, id`,
      { userId },
    );
    return rows.map(toPasskey);
  }

  async find(id: string): Promise<Passkey | undefined> {
    const row = await first(this.#engine, `select ${COLUMNS} from passkeys where id = :id`, { id });
    return row && toPasskey(row);
  }

  /** Returns false when the passkey is known already, even for another user, or the user has `MAX_PASSKEYS` of them. */
  async add({ id, userId, name, publicKey, counter, transports }: NewPasskey): Promise<boolean> {
    return await this.#engine.transaction(async (session) => {
      // The account is locked, so that two requests can't both add the last passkey, and none is added while the
      // account is erased.
      if ((await session.run(LOCK_ACCOUNT, { userId })) === 0) return false;
      const existing = await session.all('select id from passkeys where user_id = :userId', { userId });
      if (existing.length >= MAX_PASSKEYS) return false;
      const added = await insertRow(
        session,
        'passkeys',
        { id, userId, name, publicKey, counter, transports: JSON.stringify(transports), createdAt: this.#clock() },
        `on conflict (id) do nothing`,
      );
      if (added === 1) await this.#record(session, userId, 'user.passkey_added', { name });
      return added === 1;
    });
  }

  /**
   * Stores the counter of a sign-in. Returns false when it isn't higher than the last one, which means that the passkey
   * was copied. Passkeys without a counter always send 0.
   */
  async markUsed(id: string, counter: number): Promise<boolean> {
    const changed = await this.#engine.run(
      `update passkeys set counter = :counter, last_used_at = :now
       where id = :id and (counter < :counter or (counter = 0 and :counter = 0))`,
      { counter, now: this.#clock(), id },
    );
    return changed === 1;
  }

  /** Returns false when the user has no such passkey. */
  async remove(userId: string, id: string): Promise<boolean> {
    return await this.#engine.transaction(async (session) => {
      const removed = await session.run('delete from passkeys where user_id = :userId and id = :id', { userId, id });
      if (removed === 1) await this.#record(session, userId, 'user.passkey_removed', {});
      return removed === 1;
    });
  }

  async addChallenge(hash: string, visitor: string, expiresAt: Date): Promise<void> {
    await insertRow(this.#engine, 'passkey_challenges', { hash, visitor, expiresAt });
  }

  /** Returns true once, for the visitor who got the challenge. */
  async useChallenge(hash: string, visitor: string): Promise<boolean> {
    const used = await this.#engine.run(
      'delete from passkey_challenges where hash = :hash and visitor = :visitor and expires_at > :now',
      { hash, visitor, now: this.#clock() },
    );
    return used === 1;
  }

  async removeExpired(): Promise<void> {
    const isOver: SqlCondition = ['expires_at <= :now', { now: this.#clock() }];
    await deleteInSteps(this.#engine, 'passkey_challenges', ['hash'], isOver);
  }

  async #record(session: SqlSession, userId: string, action: string, details: object): Promise<void> {
    const user = must(await first(session, 'select account_id from users where id = :userId', { userId }), 'the user');
    await recordAudit(session, this.#clock().toISOString(), {
      actor: `user:${userId}`,
      action,
      accountId: text(user, 'account_id'),
      subject: userId,
      details: { ...details },
    });
  }
}

function toPasskey(row: SqlRow): Passkey {
  return {
    id: text(row, 'id'),
    userId: text(row, 'user_id'),
    name: text(row, 'name'),
    publicKey: text(row, 'public_key'),
    counter: integer(row, 'counter'),
    transports: textList(row, 'transports'),
    createdAt: date(row, 'created_at'),
    lastUsedAt: row['last_used_at'] === null ? undefined : date(row, 'last_used_at'),
  };
}

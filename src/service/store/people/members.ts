// The users of an account, their roles, and invitations to it. A user belongs to one account.

import { randomUUID } from 'node:crypto';
import { ACCOUNT_ROLES, type AccountRole } from '../../account/roles.ts';
import { type Actor, type Clock, recordAudit } from '../audit.ts';
import { TABLES } from '../copy.ts';
import { type Engine, first, type SqlSession, insertRow } from '../engine.ts';
import { date, oneOf, type SqlRow, text } from '../rows.ts';
import { type SqlCondition, deleteInSteps } from '../bounded/steps.ts';
import { lockAccount, lockExisting } from '../accounts/subscriptions.ts';
import { createTokenKey, type User } from './user.ts';

/**
 * An invitation lets its holder join the account as a new user, once. Unlike a password link, it can never change an
 * existing user.
 */
export interface Invitation {
  readonly accountId: string;
  readonly email: string;
  readonly accountRole: AccountRole;
  readonly expiresAt: Date;
}

export interface OpenInvitation extends Invitation {
  readonly hash: string;
}

/** The maximum number of users of an account, including open invitations. */
export const MAX_MEMBERS = 50;

/** The result of a change. An account must keep an owner. */
export type MemberChange = 'changed' | 'not found' | 'last owner';

const COLUMNS = 'hash, account_id, email, account_role, expires_at';

export class Members {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  /**
   * Replaces an earlier invitation of the same address to the same account. Returns false when the account has
   * `MAX_MEMBERS` members and open invitations, or was deleted.
   */
  async invite(hash: string, invitation: Invitation, actor: Actor): Promise<boolean> {
    const { accountId, email, accountRole, expiresAt } = invitation;
    const at = this.#clock().toISOString();
    return await this.#engine.transaction(async (session) => {
      if (!(await lockExisting(session, accountId))) return false;
      const taken = await session.all(
        `select id from users where account_id = :accountId union all
         select hash from invitations where account_id = :accountId and email <> :email and expires_at > :at`,
        { accountId, email, at },
      );
      if (taken.length >= MAX_MEMBERS) return false;
      await session.run('delete from invitations where account_id = :accountId and email = :email', {
        accountId,
        email,
      });
      await insertRow(session, 'invitations', { hash, accountId, email, accountRole, createdAt: at, expiresAt });
      const details = { role: accountRole };
      await recordAudit(session, at, { actor, action: 'member.invited', accountId, subject: accountId, details });
      return true;
    });
  }

  /** Lists invitations that haven't been used and haven't expired, newest first. */
  async invitations(accountId: string): Promise<OpenInvitation[]> {
    const rows = await this.#engine.all(
      `select ${COLUMNS} from invitations where account_id = :accountId and expires_at > :now order by created_at desc, hash`,
      { accountId, now: this.#clock() },
    );
    return rows.map((row) => ({ hash: text(row, 'hash'), ...toInvitation(row) }));
  }

  async findInvitation(hash: string): Promise<Invitation | undefined> {
    return await this.#find(this.#engine, hash);
  }

  /** Returns false when there is no such invitation to the account. */
  async revoke(accountId: string, hash: string, actor: Actor): Promise<boolean> {
    return await this.#engine.transaction(async (session) => {
      const removed = await session.run('delete from invitations where account_id = :accountId and hash = :hash', {
        accountId,
        hash,
      });
      if (removed === 0) return false;
      const entry = { actor, action: 'member.invitation_revoked', accountId, subject: accountId };
      await recordAudit(session, this.#clock().toISOString(), entry);
      return true;
    });
  }

  /** Creates the user. Returns undefined when the invitation isn't valid any more, or the address belongs to a user. */
  async accept(hash: string, passwordHash: string): Promise<User | undefined> {
    return await this.#engine.transaction(async (session) => {
      const invitation = await this.#find(session, hash);
      // An account that is being erased at this moment would otherwise keep the new user.
      if (invitation === undefined || !(await lockExisting(session, invitation.accountId))) return undefined;
      // Only the request that deletes the invitation may use it.
      if ((await session.run('delete from invitations where hash = :hash', { hash })) === 0) return undefined;
      const { accountId, email, accountRole } = invitation;
      const at = this.#clock().toISOString();
      const user: User = {
        id: randomUUID(),
        accountId,
        email,
        unconfirmedEmail: null,
        role: 'member',
        accountRole,
        createdAt: at,
        passwordHash,
        tokenKey: createTokenKey(),
      };
      const { id, role, tokenKey } = user;
      const added = await insertRow(
        session,
        'users',
        { id, accountId, email, role, accountRole, passwordHash, tokenKey, createdAt: at },
        'on conflict (email) do nothing',
      );
      if (added === 0) return undefined;
      const entry = { action: 'member.joined', accountId, subject: id, details: { role: accountRole } };
      await recordAudit(session, at, { actor: `user:${id}`, ...entry });
      return user;
    });
  }

  /** Sets the role. Also revokes the open invitations of a user who isn't an owner any more. */
  async setRole(accountId: string, userId: string, role: AccountRole, actor: Actor): Promise<MemberChange> {
    return await this.#change(accountId, userId, role, async (session, from) => {
      await session.run('update users set account_role = :role where id = :userId', { role, userId });
      if (role !== 'owner') await revokeInvitationsBy(session, accountId, userId);
      await this.#record(session, accountId, {
        actor,
        action: 'member.role',
        subject: userId,
        details: { from, to: role },
      });
    });
  }

  /**
   * Deletes the user with their sessions, links and second factor, and revokes their open invitations. Their keys belong to
   * the account and keep working, unless `keys` says otherwise.
   */
  async remove(
    accountId: string,
    userId: string,
    actor: Actor,
    keys: 'keep' | 'revoke' = 'keep',
  ): Promise<MemberChange> {
    return await this.#change(accountId, userId, undefined, async (session) => {
      if (keys === 'revoke') await this.#revokeKeysBy(session, accountId, userId, actor);
      await session.run('delete from password_links where email = (select email from users where id = :userId)', {
        userId,
      });
      for (const { name, belongsTo } of TABLES.toReversed()) {
        if (belongsTo.includes('user_id')) await session.run(`delete from ${name} where user_id = :userId`, { userId });
      }
      await session.run('delete from users where id = :userId', { userId });
      await revokeInvitationsBy(session, accountId, userId);
      await this.#record(session, accountId, { actor, action: 'member.removed', subject: userId, details: { keys } });
    });
  }

  async removeExpired(): Promise<void> {
    const isOver: SqlCondition = ['expires_at <= :now', { now: this.#clock() }];
    await deleteInSteps(this.#engine, 'invitations', ['hash'], isOver);
  }

  /** Changes a member with the account locked, so that two owners can't remove each other at the same time. */
  async #change(
    accountId: string,
    userId: string,
    role: AccountRole | undefined,
    apply: (session: SqlSession, from: AccountRole) => Promise<void>,
  ): Promise<MemberChange> {
    return await this.#engine.transaction(async (session) => {
      await lockAccount(session, accountId);
      const rows = await session.all('select id, account_role from users where account_id = :accountId', { accountId });
      const user = rows.find((row) => text(row, 'id') === userId);
      if (user === undefined) return 'not found';
      const owners = rows.filter((row) => text(row, 'account_role') === 'owner');
      const from = oneOf(user, 'account_role', ACCOUNT_ROLES);
      if (role !== 'owner' && from === 'owner' && owners.length === 1) return 'last owner';
      await apply(session, from);
      return 'changed';
    });
  }

  async #revokeKeysBy(session: SqlSession, accountId: string, userId: string, actor: Actor): Promise<void> {
    const rows = await session.all(
      `select id from api_keys where account_id = :accountId and created_by = :userId and state <> 'revoked'
       and (expires_at is null or expires_at > :now) order by created_at, id`,
      { accountId, userId, now: this.#clock() },
    );
    for (const row of rows) {
      const keyId = text(row, 'id');
      await session.run("update api_keys set state = 'revoked' where id = :keyId", { keyId });
      await this.#record(session, accountId, { actor, action: 'key.revoked', subject: keyId });
    }
  }

  async #find(session: SqlSession, hash: string): Promise<Invitation | undefined> {
    const row = await first(session, `select ${COLUMNS} from invitations where hash = :hash and expires_at > :now`, {
      hash,
      now: this.#clock(),
    });
    return row && toInvitation(row);
  }

  async #record(
    session: SqlSession,
    accountId: string,
    entry: { actor: Actor; action: string; subject: string; details?: Readonly<Record<string, unknown>> },
  ): Promise<void> {
    await recordAudit(session, this.#clock().toISOString(), { accountId, ...entry });
  }
}

/** The audit log knows who sent an invitation: its entry is written together with the invitation, at the same time. */
async function revokeInvitationsBy(session: SqlSession, accountId: string, userId: string): Promise<void> {
  await session.run(
    `delete from invitations where account_id = :accountId and created_at in (
       select at from audit where account_id = :accountId and action = 'member.invited' and actor = :actor
     )`,
    { accountId, actor: `user:${userId}` },
  );
}

function toInvitation(row: SqlRow): Invitation {
  return {
    accountId: text(row, 'account_id'),
    email: text(row, 'email'),
    accountRole: oneOf(row, 'account_role', ACCOUNT_ROLES),
    expiresAt: date(row, 'expires_at'),
  };
}

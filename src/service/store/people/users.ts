import { type Actor, type Clock, recordAudit } from '../audit.ts';
import { type Engine, first, type SqlSession, insertRow } from '../engine.ts';
import { searchAccounts, type AccountSearch } from '../accounts/search-accounts.ts';
import { eraseUnconfirmed } from '../accounts/unconfirmed-accounts.ts';
import { bool, date, oneOf, type SqlRow, text, textOrNull } from '../rows.ts';
import { approveAccount } from '../accounts/accounts.ts';
import { type SqlCondition, deleteInSteps } from '../bounded/steps.ts';
import { lockExisting } from '../accounts/subscriptions.ts';
import {
  type Confirmation,
  type LiveAccess,
  type PasswordLink,
  type User,
  type UserRole,
  UNIQUE_VIOLATION,
  findBy,
  USER_COLUMNS,
  toUser,
  type NewUser,
  insertUser,
  createTokenKey,
  ROLES,
} from './user.ts';
import { must } from '../../../shared/must.ts';

/** The maximum number of links sent to one address that haven't been used or expired. */
export const MAX_MAILED_LINKS = 5;

interface StoredLink extends PasswordLink {
  /** True if the link was emailed to the address, so its holder owns the address. */
  readonly isMailed: boolean;
}

export class Users {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  /**
   * Creates a user with an account of their own, on no plan. Returns undefined when the address is taken. `access` says
   * whether the account can use live keys at once or awaits the operator's approval.
   */
  async signUp(email: string, passwordHash: string, access?: LiveAccess): Promise<User | undefined> {
    return await this.#engine.transaction(
      async (session) => await this.#insert(session, { email, role: 'member', accountId: null, access }, passwordHash),
    );
  }

  /**
   * Like `signUp`, for an address that isn't confirmed yet. It may be taken, so that the response doesn't reveal
   * whether it is.
   */
  async signUpUnconfirmed(email: string, passwordHash: string): Promise<User> {
    return await this.#engine.transaction(async (session) => {
      const newUser = { email: null, unconfirmedEmail: email, role: 'member', accountId: null } as const;
      return must(await this.#insert(session, newUser, passwordHash), 'the unconfirmed user');
    });
  }

  async addConfirmation(hash: string, { userId, email, role, expiresAt }: Confirmation): Promise<void> {
    await insertRow(this.#engine, 'password_links', { hash, email, role, userId, createdAt: this.#clock(), expiresAt });
  }

  async findConfirmation(hash: string): Promise<Confirmation | undefined> {
    return await this.#findConfirmation(this.#engine, hash);
  }

  /**
   * Confirms an address. `userId` is the user who proved to have signed up, and `access` is for that user's account.
   * Returns undefined when the link isn't valid any more or belongs to another user, or another user has confirmed the
   * address before.
   */
  async confirm(hash: string, userId: string, access?: LiveAccess): Promise<User | undefined> {
    try {
      return await this.#confirm(hash, userId, access);
    } catch (error) {
      // On PostgreSQL, another user confirmed the address between the check and the update.
      if (error instanceof Error && 'code' in error && error.code === UNIQUE_VIOLATION) return undefined;
      throw error;
    }
  }

  async #confirm(hash: string, userId: string, access?: LiveAccess): Promise<User | undefined> {
    return await this.#engine.transaction(async (session) => {
      const confirmation = await this.#findConfirmation(session, hash);
      // Only the request that deletes the link may use it.
      if (
        confirmation?.userId !== userId ||
        (await session.run('delete from password_links where hash = :hash', { hash })) === 0
      ) {
        return undefined;
      }
      const { email, role } = confirmation;
      if ((await findBy(session, 'email', email)) !== undefined) return undefined;
      // Links that were sent to the old address must not work any more.
      await session.run('delete from password_links where email = (select email from users where id = :userId)', {
        userId,
      });
      if (access === 'awaits approval') await holdUnconfirmed(session, userId);
      await session.run('update users set email = :email, unconfirmed_email = null where id = :userId', {
        email,
        userId,
      });
      const user = must(await findBy(session, 'id', userId), 'the confirmed user');
      const entry = { action: 'user.confirmed', accountId: user.accountId, subject: user.id };
      await recordAudit(session, this.#clock().toISOString(), { actor: `user:${user.id}`, ...entry });
      if (role !== 'operator') return user;
      await this.#changeRole(session, user, role, `user:${user.id}`);
      return { ...user, role };
    });
  }

  async find(userId: string): Promise<User | undefined> {
    return await findBy(this.#engine, 'id', userId);
  }

  async findByEmail(email: string): Promise<User | undefined> {
    return await findBy(this.#engine, 'email', email);
  }

  /** Lists users, oldest first. */
  async list(accountId?: string): Promise<User[]> {
    const where = accountId === undefined ? '' : 'where account_id = :accountId';
    const rows = await this.#engine.all(
      `select ${USER_COLUMNS} from users u ${where} order by created_at, id`,
      accountId === undefined ? {} : { accountId },
    );
    return rows.map(toUser);
  }

  /** Ends the user's sessions. Returns false when no user has the address. */
  async setRole(email: string, role: UserRole, actor: Actor): Promise<boolean> {
    return await this.#engine.transaction(async (session) => {
      const user = await findBy(session, 'email', email);
      if (user === undefined) return false;
      if (user.role !== role) await this.#changeRole(session, user, role, actor);
      return true;
    });
  }

  /** Ends the user's sessions and removes their links. */
  async setPassword(userId: string, passwordHash: string): Promise<User | undefined> {
    return await this.#engine.transaction(async (session) => {
      const user = await findBy(session, 'id', userId);
      return user && (await this.#changePassword(session, user, passwordHash, 'user.password_changed'));
    });
  }

  async addLink(hash: string, link: PasswordLink, actor: Actor): Promise<void> {
    const at = this.#clock().toISOString();
    await this.#engine.transaction(async (session) => {
      await insertRow(session, 'password_links', {
        hash,
        email: link.email,
        role: link.role,
        accountId: link.accountId,
        createdAt: at,
        expiresAt: link.expiresAt,
      });
      const user = await findBy(session, 'email', link.email);
      await recordAudit(session, at, {
        actor,
        action: 'user.link',
        accountId: user?.accountId ?? link.accountId,
        subject: user?.id ?? 'new user',
        details: { role: link.role },
      });
    });
  }

  /**
   * Adds a link to email to a user, which proves the address when it is used. Returns false when no user has the
   * address, or `MAX_MAILED_LINKS` are valid: the mailbox already has a working link, and another email would only add
   * to a flood.
   */
  async addMailedLink(hash: string, { email, role, expiresAt }: Omit<PasswordLink, 'accountId'>): Promise<boolean> {
    const at = this.#clock().toISOString();
    return await this.#engine.transaction(async (session) => {
      // The user is locked, so that concurrent requests can't send more.
      if ((await session.run('update users set role = role where email = :email', { email })) === 0) return false;
      const valid = 'select hash from password_links where email = :email and is_mailed = 1 and expires_at > :at';
      if ((await session.all(valid, { email, at })).length >= MAX_MAILED_LINKS) return false;
      await insertRow(session, 'password_links', { hash, email, role, createdAt: at, expiresAt, isMailed: 1 });
      const user = must(await findBy(session, 'email', email), 'the user of the link');
      const entry = { actor: 'system', action: 'user.link', accountId: user.accountId, subject: user.id };
      await recordAudit(session, at, { ...entry, details: { role } });
      return true;
    });
  }

  /** Removes a link whose email couldn't be sent. */
  async removeLink(hash: string): Promise<void> {
    await this.#engine.run('delete from password_links where hash = :hash', { hash });
  }

  async findLink(hash: string): Promise<PasswordLink | undefined> {
    const found = await this.#findLink(this.#engine, hash);
    if (found === undefined) return undefined;
    const { isMailed: _, ...link } = found;
    return link;
  }

  /**
   * Uses up the link and changes nothing else. Returns undefined when it isn't valid any more or no user has the
   * address.
   */
  async useLinkToSignIn(hash: string): Promise<User | undefined> {
    return await this.#engine.transaction(async (session) => {
      const link = await this.#takeLink(session, hash);
      const user = link && (await findBy(session, 'email', link.email));
      if (link === undefined || user === undefined) return undefined;
      await this.#proveAddress(session, user, link);
      return await findBy(session, 'id', user.id);
    });
  }

  /**
   * Sets the password, ends sessions, and removes links of the address and identities at providers. Returns undefined
   * when the link isn't valid any more.
   */
  async useLink(hash: string, passwordHash: string): Promise<User | undefined> {
    return await this.#engine.transaction(async (session) => {
      const link = await this.#takeLink(session, hash);
      if (link === undefined) return undefined;
      const user = await findBy(session, 'email', link.email);
      if (user === undefined) {
        await session.run('delete from password_links where email = :email', { email: link.email });
        return await this.#insert(session, link, passwordHash);
      }
      const changed = await this.#changePassword(session, user, passwordHash, 'user.password_reset');
      // The owner of the mailbox takes over the account, so an identity of another person must not stay a way into it.
      await session.run('delete from linked_identities where user_id = :id', { id: user.id });
      await this.#proveAddress(session, user, link);
      return changed;
    });
  }

  async #takeLink(session: SqlSession, hash: string): Promise<StoredLink | undefined> {
    const link = await this.#findLink(session, hash);
    // An account that is being erased at this moment would otherwise keep the new user.
    if (link?.accountId && !(await lockExisting(session, link.accountId))) return undefined;
    // Only the request that deletes the link may use it.
    const isFirst =
      link !== undefined && (await session.run('delete from password_links where hash = :hash', { hash })) === 1;
    return isFirst ? link : undefined;
  }

  /** Grants a user who holds a link to the address what only its owner gets. */
  async #proveAddress(session: SqlSession, user: User, { role, isMailed }: StoredLink): Promise<void> {
    const actor = `user:${user.id}`;
    if (isMailed) await approveAccount(session, user.accountId, actor, this.#clock());
    if (role === 'operator' && user.role !== 'operator') await this.#changeRole(session, user, 'operator', actor);
  }

  /** Returns the ids of accounts whose name, id or users match, newest first, starting after the account `after`. */
  async searchAccounts(query: string, search: AccountSearch): Promise<string[]> {
    return await searchAccounts(this.#engine, query, search);
  }

  async removeExpired(): Promise<void> {
    const isOver: SqlCondition = ['expires_at <= :now', { now: this.#clock() }];
    await deleteInSteps(this.#engine, 'password_links', ['hash'], isOver);
  }

  /**
   * Erases accounts from before `before` whose user never confirmed an address and that have paid for nothing; see
   * `AccountData`. Returns how many there were.
   */
  async eraseUnconfirmed(before: Date): Promise<number> {
    return await eraseUnconfirmed(this.#engine, this.#clock, before);
  }

  async #findConfirmation(session: SqlSession, hash: string): Promise<Confirmation | undefined> {
    const row = await first(
      session,
      `select user_id, email, role, expires_at from password_links
       where hash = :hash and expires_at > :now and user_id is not null`,
      { hash, now: this.#clock() },
    );
    return row && { ...toLink({ ...row, account_id: null }), userId: text(row, 'user_id') };
  }

  async #findLink(session: SqlSession, hash: string): Promise<StoredLink | undefined> {
    const row = await first(
      session,
      `select email, role, account_id, expires_at, is_mailed from password_links
       where hash = :hash and expires_at > :now and user_id is null`,
      { hash, now: this.#clock() },
    );
    return row && { ...toLink(row), isMailed: bool(row, 'is_mailed') };
  }

  async #insert(session: SqlSession, newUser: NewUser, passwordHash: string): Promise<User | undefined> {
    return await insertUser(session, this.#clock().toISOString(), newUser, passwordHash);
  }

  async #changeRole(session: SqlSession, user: User, role: UserRole, actor: Actor): Promise<void> {
    await session.run('update users set role = :role where id = :id', { role, id: user.id });
    // Operators could approve themselves anyway.
    if (role === 'operator') await approveAccount(session, user.accountId, actor, this.#clock());
    // Sessions that were started with the old role must not continue.
    await session.run('delete from sessions where user_id = :id', { id: user.id });
    const details = { from: user.role, to: role };
    const entry = { action: 'user.role', accountId: user.accountId, subject: user.id, details };
    await recordAudit(session, this.#clock().toISOString(), { actor, ...entry });
  }

  async #changePassword(session: SqlSession, user: User, passwordHash: string, action: string): Promise<User> {
    const changed = { ...user, passwordHash, tokenKey: createTokenKey() };
    await session.run('update users set password_hash = :passwordHash, token_key = :tokenKey where id = :id', changed);
    await session.run('delete from sessions where user_id = :id', { id: user.id });
    // Links are also deleted by user, because the confirmation of a new address was sent to that address.
    await session.run('delete from password_links where email = :email or user_id = :id', {
      email: user.email,
      id: user.id,
    });
    const entry = { actor: `user:${user.id}`, action, accountId: user.accountId, subject: user.id };
    await recordAudit(session, this.#clock().toISOString(), entry);
    return changed;
  }
}

/**
 * Holds the account of a user who confirms a first address. A user who changes the address has an account that is in
 * use.
 */
async function holdUnconfirmed(session: SqlSession, userId: string): Promise<void> {
  await session.run(
    `update accounts set awaits_approval = 1
     where id = (select account_id from users where id = :userId and unconfirmed_email is not null)`,
    { userId },
  );
}

function toLink(row: SqlRow): PasswordLink {
  return {
    email: text(row, 'email'),
    role: oneOf(row, 'role', ROLES),
    accountId: textOrNull(row, 'account_id'),
    expiresAt: date(row, 'expires_at'),
  };
}

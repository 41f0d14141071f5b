import { randomUUID } from 'node:crypto';
import { type Engine, first, type SqlSession } from './engine.ts';
import { type Clock, note } from './sql-audit.ts';
import type { Actor } from './store.ts';
import type { PasswordLink, UserRole, User, Users } from './users.ts';

interface UserRow extends User {
  readonly passwordHash: string;
}

interface LinkRow extends Omit<PasswordLink, 'expiresAt'> {
  readonly expiresAt: string;
}

const COLUMNS = 'id, account_id as "accountId", email, role, created_at as "createdAt"';
const LINKS = `select email, role, account_id as "accountId", expires_at as "expiresAt" from password_links
  where hash = ? and expires_at > ?`;

export class SqlUsers implements Users {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  async signUp(email: string, passwordHash: string): Promise<User | undefined> {
    return await this.#engine.transaction(
      async (session) => await this.#insert(session, { email, role: 'member', accountId: null }, passwordHash),
    );
  }

  async find(userId: string): Promise<User | undefined> {
    return await first<User>(this.#engine, `select ${COLUMNS} from users where id = ?`, [userId]);
  }

  async findByEmail(email: string): Promise<UserRow | undefined> {
    const sql = `select ${COLUMNS}, password_hash as "passwordHash" from users where email = ?`;
    return await first<UserRow>(this.#engine, sql, [email]);
  }

  async list(accountId?: string): Promise<User[]> {
    const where = accountId === undefined ? '' : 'where account_id = ?';
    return await this.#engine.all<User>(
      `select ${COLUMNS} from users ${where} order by created_at, id`,
      accountId === undefined ? [] : [accountId],
    );
  }

  async setRole(email: string, role: UserRole, actor: Actor): Promise<boolean> {
    return await this.#engine.transaction(async (session) => {
      const user = await first<User>(session, `select ${COLUMNS} from users where email = ?`, [email]);
      if (user === undefined) return false;
      if (user.role !== role) await this.#changeRole(session, user, role, actor);
      return true;
    });
  }

  async setPassword(userId: string, passwordHash: string): Promise<void> {
    await this.#engine.transaction(async (session) => {
      const user = await first<User>(session, `select ${COLUMNS} from users where id = ?`, [userId]);
      if (user !== undefined) await this.#changePassword(session, user, passwordHash, 'user.password_changed');
    });
  }

  async addLink(hash: string, link: PasswordLink, actor: Actor): Promise<void> {
    const at = this.#clock().toISOString();
    await this.#engine.transaction(async (session) => {
      await session.run(
        `insert into password_links (hash, email, role, account_id, created_at, expires_at) values (?, ?, ?, ?, ?, ?)`,
        [hash, link.email, link.role, link.accountId, at, link.expiresAt.toISOString()],
      );
      const user = await first<User>(session, `select ${COLUMNS} from users where email = ?`, [link.email]);
      await note(session, at, {
        actor,
        action: 'user.link',
        accountId: user?.accountId ?? link.accountId,
        subject: user?.id ?? 'new user',
        details: { role: link.role },
      });
    });
  }

  async findLink(hash: string): Promise<PasswordLink | undefined> {
    const row = await first<LinkRow>(this.#engine, LINKS, [hash, this.#clock().toISOString()]);
    return row && { ...row, expiresAt: new Date(row.expiresAt) };
  }

  async useLink(hash: string, passwordHash: string): Promise<User | undefined> {
    return await this.#engine.transaction(async (session) => {
      const link = await first<LinkRow>(session, LINKS, [hash, this.#clock().toISOString()]);
      // Deleting decides who was first.
      if (link === undefined || (await session.run('delete from password_links where hash = ?', [hash])) === 0) {
        return undefined;
      }
      const user = await first<User>(session, `select ${COLUMNS} from users where email = ?`, [link.email]);
      if (user === undefined) {
        await session.run('delete from password_links where email = ?', [link.email]);
        return await this.#insert(session, link, passwordHash);
      }
      await this.#changePassword(session, user, passwordHash, 'user.password_reset');
      if (link.role === 'operator' && user.role !== 'operator') {
        await this.#changeRole(session, user, 'operator', `user:${user.id}`);
      }
      return user;
    });
  }

  async searchAccounts(
    text: string,
    { after, count }: { after?: string | undefined; count: number },
  ): Promise<string[]> {
    const pattern = `%${text
      .trim()
      .toLowerCase()
      .replaceAll(/[\\%_]/gu, String.raw`\$&`)}%`;
    const rows = await this.#engine.all<{ id: string }>(
      `select a.id from accounts a
       where (a.id = ? or lower(a.name) like ? escape '\\' or exists (
         select 1 from users u where u.account_id = a.id and u.email like ? escape '\\'
       )) ${after === undefined ? '' : 'and (a.created_at, a.id) < (select created_at, id from accounts where id = ?)'}
       order by a.created_at desc, a.id desc limit ?`,
      [text.trim(), pattern, pattern, ...(after === undefined ? [] : [after]), count],
    );
    return rows.map(({ id }) => id);
  }

  async removeExpired(): Promise<void> {
    await this.#engine.run('delete from password_links where expires_at <= ?', [this.#clock().toISOString()]);
  }

  async #insert(
    session: SqlSession,
    { email, role, accountId }: Pick<PasswordLink, 'email' | 'role' | 'accountId'>,
    passwordHash: string,
  ): Promise<User | undefined> {
    const at = this.#clock().toISOString();
    const user: User = { id: randomUUID(), accountId: accountId ?? randomUUID(), email, role, createdAt: at };
    const actor = `user:${user.id}`;
    if (accountId === null) {
      await session.run('insert into accounts (id, name, created_at) values (?, ?, ?)', [user.accountId, email, at]);
    }
    const added = await session.run(
      `insert into users (id, account_id, email, role, password_hash, created_at) values (?, ?, ?, ?, ?, ?)
       on conflict (email) do nothing`,
      [user.id, user.accountId, email, role, passwordHash, at],
    );
    if (added === 0) {
      if (accountId === null) await session.run('delete from accounts where id = ?', [user.accountId]);
      return undefined;
    }
    if (accountId === null) {
      const made = { action: 'account.created', accountId: user.accountId, subject: user.accountId };
      await note(session, at, { actor, ...made, details: { name: email } });
    }
    const entry = { action: 'user.signed_up', accountId: user.accountId, subject: user.id, details: { role } };
    await note(session, at, { actor, ...entry });
    return user;
  }

  async #changeRole(session: SqlSession, user: User, role: UserRole, actor: Actor): Promise<void> {
    await session.run('update users set role = ? where id = ?', [role, user.id]);
    // What the person may do has changed, so what was signed in before is no longer good for it.
    await session.run('delete from sessions where user_id = ?', [user.id]);
    const details = { from: user.role, to: role };
    const entry = { action: 'user.role', accountId: user.accountId, subject: user.id, details };
    await note(session, this.#clock().toISOString(), { actor, ...entry });
  }

  async #changePassword(session: SqlSession, user: User, passwordHash: string, action: string): Promise<void> {
    await session.run('update users set password_hash = ? where id = ?', [passwordHash, user.id]);
    await session.run('delete from sessions where user_id = ?', [user.id]);
    await session.run('delete from password_links where email = ?', [user.email]);
    const entry = { actor: `user:${user.id}`, action, accountId: user.accountId, subject: user.id };
    await note(session, this.#clock().toISOString(), entry);
  }
}

import { type Engine, first } from './engine.ts';
import { type Clock, note } from './sql-audit.ts';
import type { NewSession, UserRole, UserSession, Sessions, User } from './users.ts';

interface Row extends User {
  readonly role: UserRole;
  readonly idleUntil: string;
  readonly endsAt: string;
}

export class SqlSessions implements Sessions {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  async begin({ hash, userId, idleUntil, endsAt }: NewSession): Promise<void> {
    const at = this.#clock().toISOString();
    await this.#engine.transaction(async (session) => {
      await session.run(
        'insert into sessions (hash, user_id, created_at, idle_until, ends_at) values (?, ?, ?, ?, ?)',
        [hash, userId, at, idleUntil.toISOString(), endsAt.toISOString()],
      );
      const user = await first<{ accountId: string }>(
        session,
        'select account_id as "accountId" from users where id = ?',
        [userId],
      );
      const entry = { action: 'user.signed_in', accountId: user?.accountId ?? null, subject: userId };
      await note(session, at, { actor: `user:${userId}`, ...entry });
    });
  }

  async find(hash: string): Promise<UserSession | undefined> {
    const now = this.#clock().toISOString();
    const row = await first<Row>(
      this.#engine,
      `select u.id, u.account_id as "accountId", u.email, u.role, u.created_at as "createdAt",
              s.idle_until as "idleUntil", s.ends_at as "endsAt"
       from sessions s join users u on u.id = s.user_id
       where s.hash = ? and s.idle_until > ? and s.ends_at > ?`,
      [hash, now, now],
    );
    if (row === undefined) return undefined;
    const { idleUntil, endsAt, ...user } = row;
    return { user, idleUntil: new Date(idleUntil), endsAt: new Date(endsAt) };
  }

  async extend(hash: string, idleUntil: Date): Promise<void> {
    await this.#engine.run('update sessions set idle_until = ? where hash = ?', [idleUntil.toISOString(), hash]);
  }

  async end(hash: string): Promise<void> {
    await this.#engine.run('delete from sessions where hash = ?', [hash]);
  }

  async endAll(userId: string): Promise<void> {
    await this.#engine.run('delete from sessions where user_id = ?', [userId]);
  }

  async removeExpired(): Promise<void> {
    const now = this.#clock().toISOString();
    await this.#engine.run('delete from sessions where idle_until <= ? or ends_at <= ?', [now, now]);
  }
}

import { must } from '../../../shared/must.ts';
import { type Engine, first, insertRow } from '../engine.ts';
import { bool, date, text, textOrNull } from '../rows.ts';
import { type Clock, recordAudit } from '../audit.ts';
import { toUser, USER_COLUMNS, type User } from './user.ts';
import { deleteInSteps } from '../bounded/steps.ts';

export interface NewSession {
  readonly hash: string;
  readonly userId: string;
  /** When the session ends unless it is extended. */
  readonly idleUntil: Date;
  /** When the session ends in any case. */
  readonly endsAt: Date;
  /** The browser's user agent. */
  readonly userAgent?: string | null;
}

/** A session as its user sees it. */
export interface SessionSummary {
  readonly hash: string;
  readonly userAgent: string | null;
  readonly createdAt: Date;
  readonly idleUntil: Date;
}

export interface UserSession {
  readonly user: User;
  /** Set when the user's account awaits approval. */
  readonly awaitsApproval: boolean;
  readonly idleUntil: Date;
  readonly endsAt: Date;
}

export class Sessions {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  async begin({ hash, userId, idleUntil, endsAt, userAgent = null }: NewSession): Promise<void> {
    const at = this.#clock().toISOString();
    await this.#engine.transaction(async (session) => {
      await insertRow(session, 'sessions', { hash, userId, createdAt: at, idleUntil, endsAt, userAgent });
      const user = must(
        await first(session, 'select account_id from users where id = :userId', { userId }),
        'the user',
      );
      const entry = { action: 'user.signed_in', accountId: text(user, 'account_id'), subject: userId };
      await recordAudit(session, at, { actor: `user:${userId}`, ...entry });
    });
  }

  /** Returns undefined when the session has ended. */
  async find(hash: string): Promise<UserSession | undefined> {
    const now = this.#clock().toISOString();
    const row = await first(
      this.#engine,
      `select ${USER_COLUMNS}, a.awaits_approval, s.idle_until, s.ends_at
       from sessions s join users u on u.id = s.user_id join accounts a on a.id = u.account_id
       where s.hash = :hash and s.idle_until > :now and s.ends_at > :now`,
      { hash, now },
    );
    return (
      row && {
        user: toUser(row),
        awaitsApproval: bool(row, 'awaits_approval'),
        idleUntil: date(row, 'idle_until'),
        endsAt: date(row, 'ends_at'),
      }
    );
  }

  async extend(hash: string, idleUntil: Date): Promise<void> {
    await this.#engine.run('update sessions set idle_until = :idleUntil where hash = :hash', { idleUntil, hash });
  }

  async end(hash: string): Promise<void> {
    await this.#engine.run('delete from sessions where hash = :hash', { hash });
  }

  async endAll(userId: string): Promise<void> {
    await this.#engine.run('delete from sessions where user_id = :userId', { userId });
  }

  /** Ends all sessions but the given one. Returns how many were ended. */
  async endOthers(userId: string, keptHash: string): Promise<number> {
    return await this.#engine.run('delete from sessions where user_id = :userId and hash <> :keptHash', {
      userId,
      keptHash,
    });
  }

  /** Lists sessions that haven't ended, the most recently used first. */
  async list(userId: string): Promise<SessionSummary[]> {
    const now = this.#clock().toISOString();
    const rows = await this.#engine.all(
      `select hash, user_agent, created_at, idle_until from sessions
       where user_id = :userId and idle_until > :now and ends_at > :now order by idle_until desc, created_at desc, hash`,
      { userId, now },
    );
    return rows.map((row) => ({
      hash: text(row, 'hash'),
      userAgent: textOrNull(row, 'user_agent'),
      createdAt: date(row, 'created_at'),
      idleUntil: date(row, 'idle_until'),
    }));
  }

  async removeExpired(): Promise<void> {
    const now = this.#clock().toISOString();
    await deleteInSteps(this.#engine, 'sessions', ['hash'], ['idle_until <= :now', { now }]);
    await deleteInSteps(this.#engine, 'sessions', ['hash'], ['ends_at <= :now', { now }]);
  }
}

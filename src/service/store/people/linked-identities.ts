// Identities at sign-in providers that are linked to users. A user has at most one per provider.
// An identity is never linked because of its address: a provider may have verified the address years ago, for a person who
// doesn't own it any more.

import { type ProviderIdentity, SIGN_IN_PROVIDERS, type SignInProvider } from '../../account/sign-in-provider.ts';
import { type Engine, first, type SqlSession, insertRow } from '../engine.ts';
import { date, oneOf, type SqlRow, text } from '../rows.ts';
import { type Clock, recordAudit } from '../audit.ts';
import { insertUser, toUser, UNIQUE_VIOLATION, USER_COLUMNS, type LiveAccess, type User } from './user.ts';

export interface LinkedIdentity extends ProviderIdentity {
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
}

/** Why an identity wasn't linked. */
export type LinkRefusal =
  /** The identity belongs to another user. */
  | 'taken'
  /** The user has another identity of the provider. */
  | 'other identity';

export class LinkedIdentities {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  /** Lists the identities of a user, oldest first. */
  async list(userId: string): Promise<LinkedIdentity[]> {
    const rows = await this.#engine.all(
      `select provider, subject, email, created_at, last_used_at from linked_identities
       where user_id = :userId order by created_at, provider`,
      { userId },
    );
    return rows.map(toIdentity);
  }

  /** Finds the user of an identity, for a sign-in. */
  async use({ provider, subject }: ProviderIdentity): Promise<User | undefined> {
    const row = await first(
      this.#engine,
      `select ${USER_COLUMNS} from linked_identities l join users u on u.id = l.user_id
       where l.provider = :provider and l.subject = :subject`,
      { provider, subject },
    );
    if (row === undefined) return undefined;
    await this.#engine.run(
      'update linked_identities set last_used_at = :now where provider = :provider and subject = :subject',
      { now: this.#clock(), provider, subject },
    );
    return toUser(row);
  }

  /**
   * Creates a user without a password, with an account of their own, on no plan. The address counts as confirmed. Undefined
   * when the address or the identity belongs to a user.
   */
  async signUp(identity: ProviderIdentity, access?: LiveAccess): Promise<User | undefined> {
    return await unlessTaken(
      async () =>
        await this.#engine.transaction(async (session) => {
          const newUser = { email: identity.email, role: 'member', accountId: null, access } as const;
          const user = await insertUser(session, this.#clock().toISOString(), newUser, null);
          if (user === undefined) return undefined;
          await this.#insert(session, user, identity);
          return user;
        }),
    );
  }

  /** Links an identity to a signed-in user. Does nothing if it is linked to this user already. */
  async link(userId: string, identity: ProviderIdentity): Promise<'linked' | LinkRefusal> {
    const result = await unlessTaken(
      async () =>
        await this.#engine.transaction(async (session) => {
          const row = await lockUser(session, userId);
          const owner = await ownerOf(session, identity);
          // No row means that the user was deleted a moment ago.
          if (row === undefined || (owner !== undefined && owner !== userId)) return 'taken';
          if (owner === userId) return 'linked';
          const other = 'select 1 as one from linked_identities where user_id = :userId and provider = :provider';
          if (await first(session, other, { userId, provider: identity.provider })) return 'other identity';
          await this.#insert(session, toUser(row), identity);
          return 'linked';
        }),
    );
    return result ?? 'taken';
  }

  /** Refuses to remove the last way to sign in. `usable` lists the providers that users can sign in with at present. */
  async unlink(
    userId: string,
    provider: SignInProvider,
    usable: readonly SignInProvider[],
  ): Promise<'unlinked' | 'not found' | 'last way'> {
    return await this.#engine.transaction(async (session) => {
      // The row is locked, so that two requests can't remove the last two identities at the same time.
      const row = await lockUser(session, userId);
      const linked = (
        await session.all('select provider from linked_identities where user_id = :userId', { userId })
      ).map((each) => oneOf(each, 'provider', SIGN_IN_PROVIDERS));
      if (row === undefined || !linked.includes(provider)) return 'not found';
      const hasOther = linked.some((each) => each !== provider && usable.includes(each));
      if (toUser(row).passwordHash === null && !hasOther) return 'last way';
      await session.run('delete from linked_identities where user_id = :userId and provider = :provider', {
        userId,
        provider,
      });
      await this.#record(session, toUser(row), 'user.identity_unlinked', provider);
      return 'unlinked';
    });
  }

  async #insert(session: SqlSession, user: User, { provider, subject, email }: ProviderIdentity): Promise<void> {
    const at = this.#clock().toISOString();
    await insertRow(session, 'linked_identities', {
      provider,
      subject,
      userId: user.id,
      email,
      createdAt: at,
      lastUsedAt: at,
    });
    await this.#record(session, user, 'user.identity_linked', provider);
  }

  async #record(session: SqlSession, user: User, action: string, provider: SignInProvider): Promise<void> {
    await recordAudit(session, this.#clock().toISOString(), {
      actor: `user:${user.id}`,
      action,
      accountId: user.accountId,
      subject: user.id,
      details: { provider },
    });
  }
}

/** Locks the user, so that two requests for the same user run one after the other. */
async function lockUser(session: SqlSession, userId: string): Promise<SqlRow | undefined> {
  await session.run('update users set role = role where id = :userId', { userId });
  return await first(session, `select ${USER_COLUMNS} from users u where u.id = :userId`, { userId });
}

/**
 * Returns undefined when another server linked the identity at the same time. SQLite runs one writing transaction at a
 * time.
 */
async function unlessTaken<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === UNIQUE_VIOLATION) return undefined;
    throw error;
  }
}

async function ownerOf(session: SqlSession, { provider, subject }: ProviderIdentity): Promise<string | undefined> {
  const row = await first(
    session,
    'select user_id from linked_identities where provider = :provider and subject = :subject',
    { provider, subject },
  );
  return row && text(row, 'user_id');
}

function toIdentity(row: SqlRow): LinkedIdentity {
  return {
    provider: oneOf(row, 'provider', SIGN_IN_PROVIDERS),
    subject: text(row, 'subject'),
    email: text(row, 'email'),
    createdAt: date(row, 'created_at'),
    lastUsedAt: date(row, 'last_used_at'),
  };
}

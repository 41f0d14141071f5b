// Users, and the links that let them sign in. Secrets arrive and are stored as hashes.

import { randomBytes, randomUUID } from 'node:crypto';
import { recordAudit } from '../audit.ts';
import { first, type SqlSession, insertRow } from '../engine.ts';
import { oneOf, type SqlRow, text, textOrNull } from '../rows.ts';
import { ACCOUNT_ROLES, type AccountRole } from '../../account/roles.ts';
import { must } from '../../../shared/must.ts';

export const ROLES = ['member', 'operator'] as const;

/** PostgreSQL's error code. SQLite runs one writing transaction at a time. */
export const UNIQUE_VIOLATION = '23505';

/** Columns of a user with the table alias `u`. */
export const USER_COLUMNS =
  'u.id, u.account_id, u.email, u.unconfirmed_email, u.role, u.account_role, u.created_at, u.token_key, u.password_hash';

export interface NewUser {
  readonly email: string | null;
  /** Set instead of `email`. */
  readonly unconfirmedEmail?: string | null;
  readonly role: UserRole;
  /** Null creates an account for the user. */
  readonly accountId: string | null;
  readonly access?: LiveAccess | undefined;
}

/** Returns undefined when the address is taken. */
export async function insertUser(
  session: SqlSession,
  at: string,
  { email, unconfirmedEmail = null, role, accountId, access }: NewUser,
  passwordHash: string | null,
): Promise<User | undefined> {
  const ids = { id: randomUUID(), accountId: accountId ?? randomUUID() };
  const secrets = { passwordHash, tokenKey: createTokenKey() };
  const user: User = { ...ids, email, unconfirmedEmail, role, accountRole: 'owner', createdAt: at, ...secrets };
  const actor = `user:${user.id}`;
  const name = must(email ?? unconfirmedEmail, 'an address');
  if (accountId === null) {
    const awaitsApproval = access === 'awaits approval';
    await insertRow(session, 'accounts', { id: user.accountId, name, createdAt: at, awaitsApproval });
  }
  const added = await insertRow(
    session,
    'users',
    {
      id: user.id,
      accountId: user.accountId,
      email,
      unconfirmedEmail,
      role,
      passwordHash,
      tokenKey: user.tokenKey,
      createdAt: at,
    },
    `on conflict (email) do nothing`,
  );
  if (added === 0) {
    if (accountId === null)
      await session.run('delete from accounts where id = :accountId', { accountId: user.accountId });
    return undefined;
  }
  if (accountId === null) {
    const created = { action: 'account.created', accountId: user.accountId, subject: user.accountId };
    await recordAudit(session, at, { actor, ...created, details: { name } });
  }
  const entry = { action: 'user.signed_up', accountId: user.accountId, subject: user.id, details: { role } };
  await recordAudit(session, at, { actor, ...entry });
  return user;
}

/** Creates a key that was never used. */
export function createTokenKey(): string {
  return randomBytes(32).toString('base64url');
}

export async function findBy(session: SqlSession, column: 'id' | 'email', value: string): Promise<User | undefined> {
  const row = await first(session, `select ${USER_COLUMNS} from users u where u.${column} = :value`, { value });
  return row && toUser(row);
}

export function toUser(row: SqlRow): User {
  return {
    id: text(row, 'id'),
    accountId: text(row, 'account_id'),
    email: textOrNull(row, 'email'),
    unconfirmedEmail: textOrNull(row, 'unconfirmed_email'),
    role: oneOf(row, 'role', ROLES),
    accountRole: oneOf(row, 'account_role', ACCOUNT_ROLES),
    createdAt: text(row, 'created_at'),
    passwordHash: textOrNull(row, 'password_hash'),
    tokenKey: text(row, 'token_key'),
  };
}

/** An operator can see and change every account. */
export type UserRole = 'member' | 'operator';

export interface User {
  readonly id: string;
  readonly accountId: string;
  /** Null until the user confirms an address. */
  readonly email: string | null;
  /** The address that the user typed and hasn't confirmed yet; null once it is confirmed. */
  readonly unconfirmedEmail: string | null;
  readonly role: UserRole;
  /** The role of the user in the account. */
  readonly accountRole: AccountRole;
  readonly createdAt: string;
  /** Null for a user who signed up with a provider and never chose a password. */
  readonly passwordHash: string | null;
  /** The key that signs tokens, which end when the password changes. */
  readonly tokenKey: string;
}

/** Returns the address of a user, confirmed or not. */
export function addressOf({ email, unconfirmedEmail }: User): string {
  return must(email ?? unconfirmedEmail, 'an address');
}

/**
 * A password link lets its holder set the password of an email address or sign in with it, once. An address without a
 * user becomes a new user.
 */
export interface PasswordLink {
  readonly email: string;
  /** The role of a new user. */
  readonly role: UserRole;
  /** The account of a new user; null for an account of their own. */
  readonly accountId: string | null;
  readonly expiresAt: Date;
}

/**
 * A confirmation lets the user who signed up confirm their address, once. It may reach other people, because it is sent
 * to whatever address was typed.
 */
export interface Confirmation {
  readonly userId: string;
  readonly email: string;
  readonly role: UserRole;
  readonly expiresAt: Date;
}

/** Tells whether an account can use live keys at once or after the operator approves it. */
export type LiveAccess = 'granted' | 'awaits approval';

// People who sign in, and their sessions. Part of the store's interface. Secrets arrive as hashes and are stored only so.

import type { AccountState } from '../account/access.ts';
import type { AccountRole } from '../account/roles.ts';
import { must } from '../primitives/must.ts';
import type { Actor } from './actor.ts';

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
  /** What the user may do in the account. */
  readonly accountRole: AccountRole;
  readonly createdAt: string;
  /** Null for a user who signed up with a provider and never chose a password. */
  readonly passwordHash: string | null;
  /** Signs tokens that end when the password changes. */
  readonly tokenKey: string;
}

/** Of a user who may not have confirmed it yet. */
export function addressOf({ email, unconfirmedEmail }: User): string {
  return must(email ?? unconfirmedEmail, 'an address');
}

/**
 * Lets its holder set the password of an email address or sign in with it, once. An address without a user becomes a new
 * user.
 */
export interface PasswordLink {
  readonly email: string;
  /** The role of a new user. */
  readonly role: UserRole;
  /** The account of a new user; null for an account of their own. */
  readonly accountId: string | null;
  readonly expiresAt: Date;
}

/** Lets the user who signed up confirm their address, once. Others may hold it: it is sent to whatever address was typed. */
export interface Confirmation {
  readonly userId: string;
  readonly email: string;
  readonly role: UserRole;
  readonly expiresAt: Date;
}

/** Whether an account can use live keys at once, or after the operator approves it. */
export type LiveAccess = 'granted' | 'awaits approval';

/** Links that were sent to one address and haven't been used or expired. */
export const MAX_MAILED_LINKS = 5;

export interface AccountSearch {
  /** Only accounts on this plan. */
  readonly plan?: string | undefined;
  readonly state?: AccountState | undefined;
  readonly after?: string | undefined;
  readonly count: number;
}

export interface Users {
  /**
   * Creates a user with an account of their own, on no plan. Undefined when the address is taken. `access` says whether the
   * account can use live keys at once or awaits the operator's approval.
   */
  signUp(email: string, passwordHash: string, access?: LiveAccess): Promise<User | undefined>;
  /** Like `signUp`, for an address that has yet to be confirmed. It may be taken, so that the response doesn't reveal it. */
  signUpUnconfirmed(email: string, passwordHash: string): Promise<User>;
  addConfirmation(hash: string, confirmation: Confirmation): Promise<void>;
  findConfirmation(hash: string): Promise<Confirmation | undefined>;
  /**
   * `userId` is the user who proved to have signed up. Undefined when the link isn't valid any more or belongs to another
   * user, or another user has confirmed the address before. `access` is for the account of a user who signed up.
   */
  confirm(hash: string, userId: string, access?: LiveAccess): Promise<User | undefined>;
  find(userId: string): Promise<User | undefined>;
  findByEmail(email: string): Promise<User | undefined>;
  /** Oldest first. */
  list(accountId?: string): Promise<User[]>;
  /** Ends the user's sessions. False when no user has the address. */
  setRole(email: string, role: UserRole, actor: Actor): Promise<boolean>;
  /** Ends the user's sessions and removes their links. */
  setPassword(userId: string, passwordHash: string): Promise<User | undefined>;
  addLink(hash: string, link: PasswordLink, actor: Actor): Promise<void>;
  findLink(hash: string): Promise<PasswordLink | undefined>;
  /**
   * A link for a user, to be sent to their address, which proves the address when it is used. False when no user has the
   * address, or `MAX_MAILED_LINKS` are valid: then the mailbox has what it takes, and another email would only add to a flood.
   */
  addMailedLink(hash: string, link: Omit<PasswordLink, 'accountId'>): Promise<boolean>;
  /** For a link whose email couldn't be sent. */
  removeLink(hash: string): Promise<void>;
  /** Uses up the link and changes nothing else. Undefined when it isn't valid any more or no user has the address. */
  useLinkToSignIn(hash: string): Promise<User | undefined>;
  /** Sets the password, ends sessions, and removes links of the address and identities at providers. Undefined when the link isn't valid any more. */
  useLink(hash: string, passwordHash: string): Promise<User | undefined>;
  /** Ids of accounts whose name, id or users match, newest first, starting after the account `after`. */
  searchAccounts(query: string, page: AccountSearch): Promise<string[]>;
  removeExpired(): Promise<void>;
  /**
   * Erases accounts from before `before` whose user never confirmed an address and that have paid for nothing; see
   * `AccountData`. Returns how many there were.
   */
  eraseUnconfirmed(before: Date): Promise<number>;
}

export interface NewSession {
  readonly hash: string;
  readonly userId: string;
  /** The session ends then unless it is extended. */
  readonly idleUntil: Date;
  /** The session ends then in any case. */
  readonly endsAt: Date;
  /** As the browser names itself. */
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
  /** Of the user's account. */
  readonly awaitsApproval: boolean;
  readonly idleUntil: Date;
  readonly endsAt: Date;
}

export interface Sessions {
  begin(session: NewSession): Promise<void>;
  /** Undefined when the session has ended. */
  find(hash: string): Promise<UserSession | undefined>;
  extend(hash: string, idleUntil: Date): Promise<void>;
  end(hash: string): Promise<void>;
  endAll(userId: string): Promise<void>;
  /** All but the one that is used. Returns how many were ended. */
  endOthers(userId: string, keptHash: string): Promise<number>;
  /** Sessions that haven't ended, the latest used first. */
  list(userId: string): Promise<SessionSummary[]>;
  removeExpired(): Promise<void>;
}

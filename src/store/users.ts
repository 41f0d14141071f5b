// People who sign in, and their sessions. Part of the store's interface. Secrets come in as hashes; none is kept as it is.

import type { Actor } from './store.ts';

/** An operator sees and changes every account. */
export type UserRole = 'member' | 'operator';

export interface User {
  readonly id: string;
  readonly accountId: string;
  readonly email: string;
  readonly role: UserRole;
  readonly createdAt: string;
}

/** Whoever holds the link chooses the password of an address, once; an address nobody has yet becomes a user. */
export interface PasswordLink {
  readonly email: string;
  /** Of a new user. */
  readonly role: UserRole;
  /** Where a new user belongs; null: to an account of their own. */
  readonly accountId: string | null;
  readonly expiresAt: Date;
}

export interface Users {
  /** With an account of their own, on no plan. Undefined when somebody has the address. */
  signUp(email: string, passwordHash: string): Promise<User | undefined>;
  find(userId: string): Promise<User | undefined>;
  findByEmail(email: string): Promise<(User & { readonly passwordHash: string }) | undefined>;
  /** Oldest first. */
  list(accountId?: string): Promise<User[]>;
  /** Ends their sessions. False when nobody has the address. */
  setRole(email: string, role: UserRole, actor: Actor): Promise<boolean>;
  /** Ends their sessions and links. */
  setPassword(userId: string, passwordHash: string): Promise<void>;
  addLink(hash: string, link: PasswordLink, actor: Actor): Promise<void>;
  findLink(hash: string): Promise<PasswordLink | undefined>;
  /** Sets the password, ends sessions and links of the address. Undefined when the link is used, replaced or too old. */
  useLink(hash: string, passwordHash: string): Promise<User | undefined>;
  /** Accounts whose name, id or users match, newest first, beginning after the one with this id. */
  searchAccounts(text: string, page: { after?: string | undefined; count: number }): Promise<string[]>;
  removeExpired(): Promise<void>;
}

export interface NewSession {
  readonly hash: string;
  readonly userId: string;
  /** Ends then unless it is used. */
  readonly idleUntil: Date;
  /** Ends then in any case. */
  readonly endsAt: Date;
}

export interface UserSession {
  readonly user: User;
  readonly idleUntil: Date;
  readonly endsAt: Date;
}

export interface Sessions {
  begin(session: NewSession): Promise<void>;
  /** Undefined when it is over. */
  find(hash: string): Promise<UserSession | undefined>;
  extend(hash: string, idleUntil: Date): Promise<void>;
  end(hash: string): Promise<void>;
  endAll(userId: string): Promise<void>;
  removeExpired(): Promise<void>;
}

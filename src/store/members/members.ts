// The users of an account, their roles, and invitations to it. Part of the store's interface. A user belongs to one account.

import type { AccountRole } from '../../account/roles.ts';
import type { Actor } from '../actor.ts';
import type { User } from '../users.ts';

/** Lets its holder join the account as a new user, once. Unlike a password link, it can never change an existing user. */
export interface Invitation {
  readonly accountId: string;
  readonly email: string;
  readonly accountRole: AccountRole;
  readonly expiresAt: Date;
}

export interface OpenInvitation extends Invitation {
  readonly hash: string;
}

/** Users of one account, and open invitations to it. */
export const MAX_MEMBERS = 50;

/** Why a change was refused: an account must keep an owner. */
export type MemberChange = 'changed' | 'not found' | 'last owner';

export interface Members {
  /**
   * Replaces an earlier invitation of the same address to the same account. False when the account has `MAX_MEMBERS`
   * members and open invitations, or was deleted.
   */
  invite(hash: string, invitation: Invitation, actor: Actor): Promise<boolean>;
  /** Those that haven't been used and haven't expired, newest first. */
  invitations(accountId: string): Promise<OpenInvitation[]>;
  findInvitation(hash: string): Promise<Invitation | undefined>;
  /** False when there is no such invitation to the account. */
  revoke(accountId: string, hash: string, actor: Actor): Promise<boolean>;
  /** Creates the user. Undefined when the invitation isn't valid any more, or the address belongs to a user. */
  accept(hash: string, passwordHash: string): Promise<User | undefined>;
  /** Also revokes the open invitations of a user who isn't an owner any more. */
  setRole(accountId: string, userId: string, role: AccountRole, actor: Actor): Promise<MemberChange>;
  /**
   * Deletes the user with their sessions, links and second factor, and revokes their open invitations. Their keys belong to
   * the account and keep working, unless `keys` says otherwise.
   */
  remove(accountId: string, userId: string, actor: Actor, keys?: 'keep' | 'revoke'): Promise<MemberChange>;
  removeExpired(): Promise<void>;
}

// What an operator sees of the whole service, and credits that an operator adds. Part of the store's interface.

import type { Actor } from '../actor.ts';
import type { UsageDay } from '../store.ts';

export interface SignUpDay {
  readonly day: string;
  readonly accounts: number;
}

export interface PlanCount {
  readonly plan: string;
  readonly provider: 'manual' | 'stripe' | 'marketplace';
  readonly accounts: number;
}

/** The action in the audit log; it changes nothing. */
export const ACCOUNT_VIEWED = 'account.viewed';

export interface OperatorData {
  /** Renders of all accounts. */
  days(from: string, to: string): Promise<UsageDay[]>;
  /** Days without sign-ups are left out. */
  signUps(from: string, to: string): Promise<SignUpDay[]>;
  /** How many accounts await approval. */
  pendingAccounts(): Promise<number>;
  /** Accounts with an active plan. */
  plans(): Promise<PlanCount[]>;
  /**
   * Adds credits to the current period of the account; the reason is part of the audit log. Returns all credits that were
   * added to the period, or undefined when the account has no active plan.
   */
  grantCredits(accountId: string, credits: number, reason: string, actor: Actor): Promise<number | undefined>;
  /** Records in the audit log that an operator looks at the account's pages, at most once an hour per operator. */
  recordView(accountId: string, actor: Actor): Promise<void>;
}

// What is remembered between requests, behind one interface. Everything else knows only this file; which database stands
// behind it is decided in `main`. Every change of an account is one transaction with its entry in the audit log.

import type { AccountState, Holder, KeyHolder, KeyState } from '../account/access.ts';
import type { KeyMode } from '../account/api-key.ts';
import type { Balance } from '../account/credits.ts';
import type { Rate, RateVerdict } from '../account/gcra.ts';
import type { Period } from '../account/period.ts';
import type { ProviderSubscription } from '../account/provider.ts';
import type { Subscription } from '../account/subscription.ts';
import type { Sessions, Users } from './users.ts';

/** Who made a change, as the audit log shows it: `cli:<user>`, `account:<id>`, `user:<id>`, `operator:<id>`, `stripe`, `system`. */
export type Actor = string;

export interface NewAccount {
  readonly id: string;
  readonly name: string;
}

export interface AccountSummary {
  readonly id: string;
  readonly name: string;
  readonly state: AccountState;
  readonly subscription: Subscription | undefined;
  readonly createdAt: string;
}

/** An account and its customer at the payment provider. */
export interface CustomerLink {
  readonly accountId: string;
  readonly customer: string;
  /** Counts what was applied of the provider's word; see `applyProvider`. */
  readonly revision: number;
}

/** Oldest first, beginning after the one with this id. */
export interface PageRequest {
  readonly after?: string | undefined;
  readonly count?: number | undefined;
}

export interface Accounts {
  count(): Promise<number>;
  /** Does nothing when there is one with this id. */
  create(account: NewAccount, actor: Actor): Promise<void>;
  find(accountId: string): Promise<AccountSummary | undefined>;
  list(page?: PageRequest): Promise<AccountSummary[]>;
  /** Plans that accounts have or will have; each must be in the plans file. */
  plansInUse(): Promise<string[]>;
  /** False when there is no such account. */
  setSuspended(accountId: string, suspended: boolean, actor: Actor): Promise<boolean>;
  /**
   * Starts a subscription, or changes the plan of the one there is: at once, or when the period ends. A period that runs
   * goes on with what was used in it, so that leaving and coming back gives nothing twice.
   */
  subscribe(accountId: string, plan: string, when: 'now' | 'next period', actor: Actor): Promise<Subscription>;
  /** Cancelling: false; taking that back: true. The period that is paid for goes on. */
  setRenews(accountId: string, renews: boolean, actor: Actor): Promise<boolean>;
  /**
   * Takes over what the provider says; see `afterProvider`. Whoever asked the provider for all it has passes the link as it
   * was before: false, and nothing changes, when somebody else applied an answer meanwhile, which may be newer. Without a
   * link it is news of one subscription: the end of one that was replaced by another changes nothing.
   */
  applyProvider(
    accountId: string,
    said: ProviderSubscription | undefined,
    actor: Actor,
    asked?: CustomerLink,
  ): Promise<boolean>;
  findByCustomer(customer: string): Promise<string | undefined>;
  /** The account's customer at the payment provider. */
  customerOf(accountId: string): Promise<string | undefined>;
  /** Returns the one that counts: the first that was linked. */
  linkCustomer(accountId: string, customer: string): Promise<string>;
  /** The provider has no such customer any more. */
  unlinkCustomer(accountId: string, customer: string, actor: Actor): Promise<void>;
  findLink(customer: string): Promise<CustomerLink | undefined>;
  /** In the order of account ids, beginning behind one of them. */
  listLinks(afterAccountId: string, count: number): Promise<CustomerLink[]>;
  /** The account of a marketplace's user, made on first sight, on the plan the marketplace says. */
  upsertMarketplaceAccount(accountId: string, plan: string, actor: Actor): Promise<Holder>;
}

export interface NewKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly mode: KeyMode;
  readonly hash: Buffer;
  readonly prefix: string;
  readonly lastFour: string;
  readonly allowedOrigins?: readonly string[];
}

export interface KeySummary {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly plan: string | null;
  readonly mode: KeyMode;
  readonly state: KeyState;
  readonly accountState: AccountState;
  readonly prefix: string;
  readonly lastFour: string;
  readonly allowedOrigins: readonly string[];
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  /** When a key that was replaced stops working. */
  readonly expiresAt: string | null;
}

export interface Keys {
  create(key: NewKey, actor: Actor): Promise<void>;
  /** Brings the subscription up to date before it answers. */
  find(hash: Buffer): Promise<KeyHolder | undefined>;
  get(keyId: string): Promise<KeySummary | undefined>;
  list(accountId?: string): Promise<KeySummary[]>;
  /** False when there is no such key, or it is revoked: revoking is for good. */
  setState(keyId: string, state: KeyState, actor: Actor): Promise<boolean>;
  rename(keyId: string, name: string, actor: Actor): Promise<boolean>;
  setAllowedOrigins(keyId: string, origins: readonly string[], actor: Actor): Promise<boolean>;
  /** The second half of a rotation: the old key works until then. */
  expireAt(keyId: string, at: Date, actor: Actor): Promise<boolean>;
  markUsed(keyId: string): Promise<void>;
}

export type RenderKind = 'image' | 'video' | 'overlay';

export interface NewHold {
  readonly renderId: string;
  readonly accountId: string;
  readonly keyId: string | undefined;
  readonly mode: KeyMode;
  readonly kind: RenderKind;
  readonly credits: number;
  readonly period: Period;
  /** The credits of the plan, for the period. */
  readonly limit: number;
}

export type ReserveResult =
  | { readonly granted: true; readonly balance: Balance }
  | { readonly granted: false; readonly balance: Balance };

/** How a render ended, for the account's history: `delivered`, or the code of the error. */
export interface Ending {
  readonly outcome: string;
  readonly durationMs: number | undefined;
}

/** Under what name a delivered render can be asked for again, and the headers it had. */
export interface Remembered {
  readonly accountId: string;
  readonly key: string;
  readonly facts: string;
}

/**
 * Each step may be repeated. A `settle` or `release` that fails becomes a pending write, and so does the release of a hold
 * whose reservation may or may not have been committed.
 */
export interface Ledger {
  /** Idempotent by render id. A test key's holds are free. */
  reserve(hold: NewHold): Promise<ReserveResult>;
  /**
   * Charges. False, and nothing changes, when the hold is not reserved (any more). With `remember`, false too when another
   * server has taken the idempotency key over because it thought this one dead: one key is charged once, by that one.
   */
  settle(renderId: string, ending: Ending, remember?: Remembered): Promise<boolean>;
  /** Gives back. False, and nothing changes, when the hold is not reserved (any more). */
  release(renderId: string, ending: Ending): Promise<boolean>;
  balance(accountId: string, period: Period, limit: number): Promise<Balance>;
  /** Says that this process lives, so that nobody releases its holds. */
  heartbeat(): Promise<void>;
  /** Releases what processes left behind that are no longer alive; `isGone` may know it before their lease runs out. */
  sweep(isGone?: (owner: string) => boolean): Promise<number>;
}

/** A write that failed: how a render ends in the ledger, or giving its idempotency key back. */
export interface PendingWrite {
  readonly kind: 'settle' | 'release' | 'abandon';
  readonly renderId: string;
}

export interface FailedWrite {
  readonly write: PendingWrite;
  readonly error: unknown;
}

/** Writes that failed, kept in memory to be tried again. */
export interface PendingWrites {
  list(): PendingWrite[];
  /**
   * Tries each write once; stops at the first one for which the database is unavailable. Returns the writes that are given
   * up, because they failed too often for another reason.
   */
  retry(): Promise<FailedWrite[]>;
}

export type Claim =
  | { readonly kind: 'new' }
  | { readonly kind: 'in flight' }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'done'; readonly renderId: string; readonly facts: string };

export interface Idempotency {
  claim(accountId: string, key: string, fingerprint: string, renderId: string): Promise<Claim>;
  /** The render failed: the key may be used again. Never rejects; a failed attempt becomes a pending write. */
  abandon(accountId: string, key: string, renderId: string): Promise<void>;
  removeExpired(): Promise<void>;
}

export interface RenderSummary {
  readonly id: string;
  readonly kind: RenderKind;
  readonly mode: KeyMode;
  readonly state: 'reserved' | 'settled' | 'released';
  readonly outcome: string;
  readonly credits: number;
  readonly createdAt: string;
  readonly durationMs: number | null;
}

export interface AccountUsage {
  readonly accountId: string;
  readonly mode: KeyMode;
  /** All that was asked for, whatever came of it. */
  readonly renders: number;
  readonly delivered: number;
  readonly credits: number;
}

export interface UsageDay {
  readonly day: string;
  readonly mode: KeyMode;
  readonly outcome: string;
  readonly renders: number;
  readonly credits: number;
}

export interface Usage {
  days(accountId: string, from: string, to: string): Promise<UsageDay[]>;
  /** Sums per account over days, the largest first. */
  totals(from: string, to: string): Promise<AccountUsage[]>;
  latest(accountId: string, count: number): Promise<RenderSummary[]>;
  /** Requests that were refused before anything was reserved; for the account's chart, not for money. */
  addRefusals(refusals: readonly { accountId: string; mode: KeyMode; outcome: string; count: number }[]): Promise<void>;
  /** Forgets single renders that ended before; the sums per day stay. */
  forgetBefore(at: Date): Promise<number>;
}

export interface AuditEntry {
  readonly seq: number;
  readonly at: string;
  readonly actor: Actor;
  readonly action: string;
  readonly accountId: string | null;
  readonly subject: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface Audit {
  list(filter: { accountId?: string | undefined; before?: number | undefined; count: number }): Promise<AuditEntry[]>;
}

export interface PaymentEvents {
  /** False when this event was taken before. `apply` and the note of the event are not one transaction: `apply` must be
   * safe to repeat. */
  once(eventId: string, type: string, apply: () => Promise<void>): Promise<boolean>;
  /** Forgets events that were received before. */
  forgetBefore(at: Date): Promise<number>;
}

/** How often and how many at once, across all servers. */
export interface Limits {
  take(name: string, rate: Rate): Promise<RateVerdict & { readonly fullInMs: number }>;
  /** One of the account's places; what gives it back, once, or undefined when all are taken. */
  enter(account: string, most: number): Promise<(() => void) | undefined>;
  /** Throws away what no longer says anything. */
  forget(): Promise<void>;
}

export interface Store {
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly ledger: Ledger;
  readonly idempotency: Idempotency;
  readonly pendingWrites: PendingWrites;
  readonly usage: Usage;
  readonly audit: Audit;
  readonly payments: PaymentEvents;
  /** Undefined where one server has the database to itself and counts in memory. */
  readonly limits: Limits | undefined;
  readonly users: Users;
  readonly sessions: Sessions;
  close(): Promise<void>;
}

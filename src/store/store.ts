// The interface of everything that is stored between requests. The rest of the program uses only this file and `users.ts`;
// `main` chooses the database. Every change of an account is one transaction with its entry in the audit log.

import type { AccountState, Holder, KeyHolder, KeyState } from '../account/access.ts';
import type { KeyMode } from '../account/api-key.ts';
import type { DeliveryCounts } from '../account/broken-delivery.ts';
import type { Balance } from '../account/credits.ts';
import type { Rate, RateVerdict } from '../account/gcra.ts';
import type { Period } from '../account/period.ts';
import type { ProviderSubscription } from '../account/provider.ts';
import type { Subscription } from '../account/subscription.ts';
import type { Actor } from './actor.ts';
import type { AccountData } from './account-data/account-data.ts';
import type { LinkedIdentities } from './identities/linked-identities.ts';
import type { Members } from './members/members.ts';
import type { CreditNotices } from './notices/credit-notices.ts';
import type { OperatorData } from './operator/operator-data.ts';
import type { Renders } from './renders/renders.ts';
import type { RequestLog } from './requests/request-log.ts';
import type { Passkeys } from './security/passkeys.ts';
import type { SecondFactors } from './security/second-factors.ts';
import type { Sessions, Users } from './users.ts';
import type { WebhookDeliveries, WebhookEndpoints } from './webhooks/webhooks.ts';

export type { Actor };

export interface NewAccount {
  readonly id: string;
  readonly name: string;
}

export interface AccountSummary {
  readonly id: string;
  readonly name: string;
  readonly state: AccountState;
  readonly awaitsApproval: boolean;
  readonly subscription: Subscription | undefined;
  readonly createdAt: string;
}

/** An account and its customer at the payment provider. */
export interface CustomerLink {
  readonly accountId: string;
  readonly customer: string;
  /** Counts the provider states that were applied; see `applyProvider`. */
  readonly revision: number;
}

/** Oldest first, starting after the item with the id `after`. */
export interface PageRequest {
  readonly after?: string | undefined;
  readonly count?: number | undefined;
}

export interface Accounts {
  count(): Promise<number>;
  /** Does nothing when there is an account with this id. With `plan`, the account and its subscription start in one step. */
  create(account: NewAccount, actor: Actor, plan?: string): Promise<void>;
  find(accountId: string): Promise<AccountSummary | undefined>;
  list(page?: PageRequest): Promise<AccountSummary[]>;
  /** Plans that accounts have now or from the next period. Each must be in the plans file. */
  plansInUse(): Promise<string[]>;
  /** False when there is no such account. */
  setSuspended(accountId: string, suspended: boolean, actor: Actor): Promise<boolean>;
  /** Turns on the live keys of an account that awaits approval. Does nothing to any other. */
  approve(accountId: string, actor: Actor): Promise<void>;
  /**
   * Starts a subscription, or changes the plan of an existing one: immediately, or when the period ends. The current period
   * continues with what was used in it, so canceling and subscribing again doesn't grant the credits twice.
   */
  subscribe(accountId: string, plan: string, when: 'now' | 'next period', actor: Actor): Promise<Subscription>;
  /** `renews: false` cancels at the end of the period, `true` takes that back. Returns false without an active subscription. */
  setRenews(accountId: string, renews: boolean, actor: Actor): Promise<boolean>;
  /**
   * Applies the state of the account at the payment provider; see `applyProviderState`. `expected` is the link as it was
   * before the provider was asked: if another state was applied in the meantime, which may be newer, nothing changes and the
   * result is false. Without `expected`, the state is about one subscription, and the end of one that was replaced changes
   * nothing.
   */
  applyProvider(
    accountId: string,
    providerState: ProviderSubscription | undefined,
    actor: Actor,
    expected?: CustomerLink,
  ): Promise<boolean>;
  findByCustomer(customer: string): Promise<string | undefined>;
  /** The account's customer at the payment provider. */
  customerOf(accountId: string): Promise<string | undefined>;
  /** An account keeps the first customer it is linked to. Returns that customer. */
  linkCustomer(accountId: string, customer: string): Promise<string>;
  /** For a customer that the provider has deleted. */
  unlinkCustomer(accountId: string, customer: string, actor: Actor): Promise<void>;
  findLink(customer: string): Promise<CustomerLink | undefined>;
  /** By account id, starting after `afterAccountId`. */
  listLinks(afterAccountId: string, count: number): Promise<CustomerLink[]>;
  /** The account of a marketplace user, created with the first request, on the plan that the marketplace names. */
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
  /** The user who creates it; undefined for a key that the operator creates. */
  readonly createdBy?: string;
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
  /** The user who created it, who may have been removed since; null for a key that the operator created. */
  readonly createdBy: string | null;
  readonly lastUsedAt: string | null;
  /** When a key that was rotated out stops working. */
  readonly expiresAt: string | null;
}

export interface Keys {
  create(key: NewKey, actor: Actor): Promise<void>;
  /** Brings the subscription up to date first. */
  find(hash: Buffer): Promise<KeyHolder | undefined>;
  get(keyId: string): Promise<KeySummary | undefined>;
  list(accountId?: string): Promise<KeySummary[]>;
  /** False when there is no such key or it is revoked, which is final. */
  setState(keyId: string, state: KeyState, actor: Actor): Promise<boolean>;
  rename(keyId: string, name: string, actor: Actor): Promise<boolean>;
  setAllowedOrigins(keyId: string, origins: readonly string[], actor: Actor): Promise<boolean>;
  /** The second half of a rotation: the old key works until `at`. */
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
  /** The price of the render; see `account/pricing.ts`. */
  readonly credits: number;
  readonly period: Period;
  /** The plan's credits per period. */
  readonly limit: number;
  /** Set for an asynchronous render: its hold survives this server, and only the latest attempt can reserve it. */
  readonly attempt?: number;
  /**
   * Set for a render that counts among the test renders of the account: the maximum per UTC day. An asynchronous render was
   * counted when it was accepted, and a replay with the render it repeats.
   */
  readonly testRendersPerDay?: number;
}

export interface ReserveResult {
  /** False when too few credits or test renders are left. */
  readonly granted: boolean;
  readonly balance: Balance;
  /** Set when there would be too many test renders: how many. */
  readonly testRenders?: number;
}

/** How a render ended, as the account's history shows it. */
export interface Ending {
  /** `delivered`, or the code of the error. */
  readonly outcome: string;
  readonly durationMs: number | undefined;
}

/** The idempotency key of a delivered render, and its headers as JSON. */
export interface Remembered {
  readonly accountId: string;
  readonly key: string;
  readonly facts: string;
}

/**
 * Every step may be repeated. A `settle` or `release` that fails becomes a pending write. So does the release of a hold whose
 * reservation may or may not have been committed.
 */
export interface Ledger {
  /** Idempotent by render id. Holds of test keys are free. */
  reserve(hold: NewHold): Promise<ReserveResult>;
  /**
   * Charges the account. False, without a change, when the hold isn't reserved any more. With `remember`, also false when
   * another server took the idempotency key over because it considered this one dead. A key is charged only once, by the
   * server that has it.
   */
  settle(renderId: string, ending: Ending, remember?: Remembered): Promise<boolean>;
  /** Gives the credits back. False, without a change, when the hold isn't reserved any more. */
  release(renderId: string, ending: Ending): Promise<boolean>;
  /**
   * Ends a render whose delivery broke: gives the credits back, or charges them if `account/broken-delivery.ts` says so, with
   * what `remember` does in `settle`. Undefined, without a change, when the hold isn't reserved any more.
   */
  breakOff(
    renderId: string,
    durationMs: number | undefined,
    remember?: Remembered,
  ): Promise<'free' | 'charged' | undefined>;
  balance(accountId: string, period: Period, limit: number): Promise<Balance>;
  deliveries(accountId: string, period: Period): Promise<DeliveryCounts>;
  /**
   * Renews the lease of this process, so that no other server releases its holds, and tells the database the time; see
   * `sql-lease.ts`. The time is trusted unless it is far from that of earlier heartbeats.
   */
  heartbeat(): Promise<{ readonly isTimeTrusted: boolean }>;
  /**
   * Releases the holds of dead processes and returns the ids of their renders. `isGone` can recognize a dead process before
   * its lease runs out.
   */
  sweep(isGone?: (owner: string) => boolean): Promise<string[]>;
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
  /** All requested renders, whatever their outcome. */
  readonly renders: number;
  readonly delivered: number;
  /** Broken deliveries, free and charged. */
  readonly broken: number;
  readonly brokenCharged: number;
  readonly credits: number;
}

export interface UsageDay {
  readonly day: string;
  readonly mode: KeyMode;
  readonly outcome: string;
  readonly renders: number;
  readonly credits: number;
}

export interface KeyDay {
  readonly day: string;
  readonly keyId: string | null;
  readonly mode: KeyMode;
  readonly renders: number;
  readonly credits: number;
}

/** Renders of one key and type on one day that ended in the same way. */
export interface UsageDetail extends UsageDay {
  /** Null for a request through a marketplace. */
  readonly keyId: string | null;
  readonly kind: RenderKind;
}

export interface Usage {
  days(accountId: string, from: string, to: string): Promise<UsageDay[]>;
  /** Deliveries per key and day, as far back as single renders are kept. Renders without a key came from a marketplace. */
  keyDays(accountId: string, from: string, to: string): Promise<KeyDay[]>;
  /** Like `keyDays`, also per type, and with renders that failed. */
  details(accountId: string, from: string, to: string): Promise<UsageDetail[]>;
  /** Sums per account over a range of days, largest first. */
  totals(from: string, to: string): Promise<AccountUsage[]>;
  latest(accountId: string, count: number): Promise<RenderSummary[]>;
  /** Requests that were refused before credits were reserved. They appear in the account's usage and cost nothing. */
  addRefusals(refusals: readonly { accountId: string; mode: KeyMode; outcome: string; count: number }[]): Promise<void>;
  /** Deletes single renders that ended before `at`; the sums per day stay. */
  deleteBefore(at: Date): Promise<number>;
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

export interface AuditFilter {
  readonly accountId?: string | undefined;
  /** Only entries whose action starts with this, such as `key.`. */
  readonly action?: string | undefined;
  readonly actor?: string | undefined;
  /** Only entries before this number. */
  readonly before?: number | undefined;
  readonly count: number;
}

export interface Audit {
  list(filter: AuditFilter): Promise<AuditEntry[]>;
}

export interface PaymentEvents {
  /**
   * False when this event was applied before. `apply` and the record of the event aren't one transaction, so `apply` must be
   * safe to repeat.
   */
  once(eventId: string, type: string, apply: () => Promise<void>): Promise<boolean>;
  /** Deletes the record of events that were received before `at`. */
  deleteBefore(at: Date): Promise<number>;
}

/** Rate limits and limits of concurrent renders, across all servers. */
export interface Limits {
  /** `count`: how many requests this one counts as; 1 if absent. */
  take(name: string, rate: Rate, count?: number): Promise<RateVerdict & { readonly fullInMs: number }>;
  /** Undoes a `take` of one request that was allowed. */
  giveBack(name: string, rate: Rate): Promise<void>;
  /** Takes one of the account's slots. Returns the function that frees it, or undefined when all are taken. */
  enter(account: string, maxRunning: number): Promise<(() => void) | undefined>;
  /** Deletes what has no effect any more. */
  forget(): Promise<void>;
}

export interface Store {
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly ledger: Ledger;
  readonly idempotency: Idempotency;
  readonly renders: Renders;
  readonly pendingWrites: PendingWrites;
  readonly usage: Usage;
  readonly audit: Audit;
  readonly payments: PaymentEvents;
  /** Undefined for a database of one server, which counts in memory. */
  readonly limits: Limits | undefined;
  readonly users: Users;
  readonly sessions: Sessions;
  readonly requests: RequestLog;
  readonly webhookEndpoints: WebhookEndpoints;
  readonly webhookDeliveries: WebhookDeliveries;
  readonly creditNotices: CreditNotices;
  readonly accountData: AccountData;
  readonly secondFactors: SecondFactors;
  readonly passkeys: Passkeys;
  readonly linkedIdentities: LinkedIdentities;
  readonly members: Members;
  readonly operator: OperatorData;
  close(): Promise<void>;
}

import { type Holder, stateOf } from '../../account/access.ts';
import { applyProviderState, type ProviderSubscription } from '../../account/provider.ts';
import { changeDue, type Subscription, withPlan } from '../../account/subscription.ts';
import { must } from '../../../shared/must.ts';
import { type Actor, type Clock, recordAudit } from '../audit.ts';
import { type Engine, first, type SqlSession, insertRow } from '../engine.ts';
import { EVERY_ROW, rangesOf } from '../bounded/steps.ts';
import { bool, integer, type SqlRow, text, textOrNull } from '../rows.ts';
import {
  asOf,
  bringUpToDate,
  lockAccount,
  readSubscription,
  SUBSCRIPTION_COLUMNS,
  toSubscription,
  writeSubscription,
} from './subscriptions.ts';
import { isTrusted } from '../lease.ts';
import type { AccountState } from '../../account/access.ts';

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

const ACCOUNTS = `
  select a.id, a.name, a.state, a.awaits_approval, a.created_at, ${SUBSCRIPTION_COLUMNS}
  from accounts a left join subscriptions s on s.account_id = a.id`;

const LINKS = 'select account_id, customer, revision from customers';

const NO_LIMIT = 2_147_483_647;

export class Accounts {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  async count(): Promise<number> {
    const row = await first(this.#engine, 'select count(*) as count from accounts');
    return integer(must(row, 'the number of accounts'), 'count');
  }

  /** Does nothing when there is an account with this id. With `plan`, the account and its subscription start in one step. */
  async create(account: NewAccount, actor: Actor, plan?: string): Promise<void> {
    await this.#engine.transaction(async (session) => {
      const isNew = await this.#insert(session, account, actor);
      if (isNew && plan !== undefined) await this.#subscribe(session, account.id, plan, 'now', actor);
    });
  }

  async find(accountId: string): Promise<AccountSummary | undefined> {
    const row = await first(this.#engine, `${ACCOUNTS} where a.id = :accountId`, { accountId });
    return row && this.#toSummary(row, await isTrusted(this.#engine, this.#clock()));
  }

  async list({ after, count = NO_LIMIT }: PageRequest = {}): Promise<AccountSummary[]> {
    const beyond = 'where (a.created_at, a.id) > (select created_at, id from accounts where id = :after)';
    const rows = await this.#engine.all(
      `${ACCOUNTS} ${after === undefined ? '' : beyond} order by a.created_at, a.id limit :count`,
      { count, ...(after !== undefined && { after }) },
    );
    const trusted = await isTrusted(this.#engine, this.#clock());
    return rows.map((row) => this.#toSummary(row, trusted));
  }

  /** Plans that accounts have now or from the next period. Each must be in the plans file. */
  async plansInUse(): Promise<string[]> {
    const plans = new Set<string>();
    const subscriptions = { table: 'subscriptions', column: 'account_id', within: EVERY_ROW };
    for await (const range of rangesOf(this.#engine, subscriptions)) {
      const rows = await this.#engine.all(
        `select distinct plan, next_plan from subscriptions
         where account_id > :after and account_id <= :to and status = 'active'`,
        range,
      );
      for (const row of rows) plans.add(text(row, 'plan')).add(textOrNull(row, 'next_plan') ?? text(row, 'plan'));
    }
    return [...plans].toSorted();
  }

  /** Returns false when there is no such account. */
  async setSuspended(accountId: string, suspended: boolean, actor: Actor): Promise<boolean> {
    const state = suspended ? 'suspended' : 'active';
    return await this.#engine.transaction(async (session) => {
      const account = await first(session, 'select id from accounts where id = :accountId', { accountId });
      const update = 'update accounts set state = :state where id = :accountId and state <> :state';
      const changed = await session.run(update, { state, accountId });
      if (changed === 1) {
        await this.#record(session, accountId, actor, suspended ? 'account.suspended' : 'account.resumed');
      }
      return account !== undefined;
    });
  }

  /** Turns on the live keys of an account that awaits approval. Does nothing to any other. */
  async approve(accountId: string, actor: Actor): Promise<void> {
    await this.#engine.transaction(async (session) => await approveAccount(session, accountId, actor, this.#clock()));
  }

  /**
   * Starts a subscription, or changes the plan of an existing one: immediately, or when the period ends. The current period
   * continues with what was used in it, so canceling and subscribing again doesn't grant the credits twice.
   */
  async subscribe(accountId: string, plan: string, when: 'now' | 'next period', actor: Actor): Promise<Subscription> {
    return await this.#engine.transaction(
      async (session) => await this.#subscribe(session, accountId, plan, when, actor),
    );
  }

  async #subscribe(
    session: SqlSession,
    accountId: string,
    plan: string,
    when: 'now' | 'next period',
    actor: Actor,
  ): Promise<Subscription> {
    const now = this.#clock();
    const before = await this.#current(session, accountId, now);
    const after = withPlan(before, plan, when, now);
    await writeSubscription(session, accountId, after);
    await this.#record(session, accountId, actor, 'subscription.plan', { from: before?.plan ?? null, to: plan, when });
    return after;
  }

  /** `renews: false` cancels at the end of the period, `true` takes that back. Returns false without an active subscription. */
  async setRenews(accountId: string, renews: boolean, actor: Actor): Promise<boolean> {
    const now = this.#clock();
    return await this.#engine.transaction(async (session) => {
      const before = await this.#current(session, accountId, now);
      if (before?.status !== 'active') return false;
      await writeSubscription(session, accountId, { ...before, renews });
      await this.#record(session, accountId, actor, renews ? 'subscription.resumed' : 'subscription.canceled');
      return true;
    });
  }

  /**
   * Applies the state of the account at the payment provider; see `applyProviderState`. `expected` is the link as it was
   * before the provider was asked: if another state was applied in the meantime, which may be newer, nothing changes and the
   * result is false. Without `expected`, the state is about one subscription, and the end of one that was replaced changes
   * nothing.
   */
  async applyProvider(
    accountId: string,
    providerState: ProviderSubscription | undefined,
    actor: Actor,
    expected?: CustomerLink,
  ): Promise<boolean> {
    return await this.#engine.transaction(async (session) => {
      await lockAccount(session, accountId);
      if (!(await takeRevision(session, accountId, expected))) return false;
      // Without `expected`, the state is about one subscription only. The end of one that was replaced changes nothing.
      if (
        expected === undefined &&
        providerState?.status === 'inactive' &&
        !(await isPaidBy(session, accountId, providerState.subscription))
      ) {
        return true;
      }
      const before = await readSubscription(session, accountId);
      const after = applyProviderState(before, providerState, this.#clock());
      if (after === undefined) return true;
      const changed = JSON.stringify(after) !== JSON.stringify(before);
      if (changed) await writeSubscription(session, accountId, after);
      if (after.provider === 'stripe' && providerState !== undefined) {
        const update = 'update subscriptions set provider_subscription = :subscription where account_id = :accountId';
        await session.run(update, { subscription: providerState.subscription, accountId });
        // An account that has paid isn't withheld from live keys.
        if (after.status === 'active') await approveAccount(session, accountId, actor, this.#clock());
      }
      const { plan, nextPlan, status, renews, period } = after;
      const details = { plan, nextPlan, status, renews, periodEndsAt: period.endsAt };
      if (changed) await this.#record(session, accountId, actor, 'subscription.provider', details);
      return true;
    });
  }

  async findByCustomer(customer: string): Promise<string | undefined> {
    const row = await first(this.#engine, 'select account_id from customers where customer = :customer', { customer });
    return row && text(row, 'account_id');
  }

  /** The account's customer at the payment provider. */
  async customerOf(accountId: string): Promise<string | undefined> {
    return await readCustomer(this.#engine, accountId);
  }

  /** An account keeps the first customer it is linked to. Returns that customer. */
  async linkCustomer(accountId: string, customer: string): Promise<string> {
    return await this.#engine.transaction(async (session) => {
      const added = await insertRow(
        session,
        'customers',
        { accountId, customer },
        `on conflict (account_id) do nothing`,
      );
      if (added === 1) await this.#record(session, accountId, 'system', 'customer.linked', { customer });
      return must(await readCustomer(session, accountId), 'the linked customer');
    });
  }

  /** Unlinks a customer that the provider has deleted. */
  async unlinkCustomer(accountId: string, customer: string, actor: Actor): Promise<void> {
    await this.#engine.transaction(async (session) => {
      const removed = await session.run(
        'delete from customers where account_id = :accountId and customer = :customer',
        { accountId, customer },
      );
      if (removed === 1) await this.#record(session, accountId, actor, 'customer.unlinked', { customer });
    });
  }

  async findLink(customer: string): Promise<CustomerLink | undefined> {
    const row = await first(this.#engine, `${LINKS} where customer = :customer`, { customer });
    return row && toLink(row);
  }

  /** Lists links by account id, starting after `afterAccountId`. */
  async listLinks(afterAccountId: string, count: number): Promise<CustomerLink[]> {
    const sql = `${LINKS} where account_id > :afterAccountId order by account_id limit :count`;
    return (await this.#engine.all(sql, { afterAccountId, count })).map(toLink);
  }

  /** The account of a marketplace user, created with the first request, on the plan that the marketplace names. */
  async upsertMarketplaceAccount(accountId: string, plan: string, actor: Actor): Promise<Holder> {
    const now = this.#clock();
    const row = await first(this.#engine, `${ACCOUNTS} where a.id = :accountId`, { accountId });
    const subscription = row && toSubscription(row);
    if (row && subscription && isOnPlan(subscription, plan) && changeDue(subscription, now).kind === 'none') {
      return { accountId, suspended: isSuspended(row), awaitsApproval: bool(row, 'awaits_approval'), subscription };
    }
    return await this.#engine.transaction(async (session) => {
      await this.#insert(session, { id: accountId, name: accountId }, actor);
      const before = await this.#current(session, accountId, now);
      const after: Subscription = { ...withPlan(before, plan, 'now', now), provider: 'marketplace' };
      if (before === undefined || !isOnPlan(before, plan)) {
        await writeSubscription(session, accountId, after);
        await this.#record(session, accountId, actor, 'subscription.plan', { from: before?.plan ?? null, to: plan });
      }
      const columns = 'select state, awaits_approval from accounts where id = :accountId';
      const account = must(await first(session, columns, { accountId }), 'the account');
      const awaitsApproval = bool(account, 'awaits_approval');
      return { accountId, suspended: isSuspended(account), awaitsApproval, subscription: after };
    });
  }

  /** Returns false when there is an account with this id. */
  async #insert(session: SqlSession, { id, name }: NewAccount, actor: Actor): Promise<boolean> {
    const created = await insertRow(
      session,
      'accounts',
      { id, name, createdAt: this.#clock() },
      `on conflict (id) do nothing`,
    );
    if (created === 1) await this.#record(session, id, actor, 'account.created', { name });
    return created === 1;
  }

  async #current(session: SqlSession, accountId: string, now: Date): Promise<Subscription | undefined> {
    await lockAccount(session, accountId);
    return await bringUpToDate(session, accountId, now);
  }

  /**
   * Describes the account as of now. A change that is due isn't written, because listing all accounts must not become
   * as many transactions.
   */
  #toSummary(row: SqlRow, trusted: boolean): AccountSummary {
    const stored = toSubscription(row);
    const subscription = stored && asOf(this.#clock(), trusted, stored);
    const awaitsApproval = bool(row, 'awaits_approval');
    return {
      id: text(row, 'id'),
      name: text(row, 'name'),
      state: stateOf({ suspended: isSuspended(row), awaitsApproval, subscription }),
      awaitsApproval,
      subscription,
      createdAt: text(row, 'created_at'),
    };
  }

  async #record(
    session: SqlSession,
    accountId: string,
    actor: Actor,
    action: string,
    details: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    await recordAudit(session, this.#clock().toISOString(), { actor, action, accountId, subject: accountId, details });
  }
}

/** Does nothing to an account that doesn't await approval. */
export async function approveAccount(session: SqlSession, accountId: string, actor: Actor, now: Date): Promise<void> {
  const update = 'update accounts set awaits_approval = 0 where id = :accountId and awaits_approval = 1';
  if ((await session.run(update, { accountId })) === 0) return;
  const entry = { actor, action: 'account.approved', accountId, subject: accountId };
  await recordAudit(session, now.toISOString(), entry);
}

function isSuspended(row: SqlRow): boolean {
  return text(row, 'state') === 'suspended';
}

/** The marketplace names the plan with every request, and that overrides anything else. */
function isOnPlan({ plan, status, renews, provider }: Subscription, expected: string): boolean {
  return plan === expected && status === 'active' && renews && provider === 'marketplace';
}

function toLink(row: SqlRow): CustomerLink {
  return {
    accountId: text(row, 'account_id'),
    customer: text(row, 'customer'),
    revision: integer(row, 'revision'),
  };
}

async function readCustomer(session: SqlSession, accountId: string): Promise<string | undefined> {
  const row = await first(session, 'select customer from customers where account_id = :accountId', { accountId });
  return row && text(row, 'customer');
}

/**
 * Returns false when the link is no longer as expected. The revision counts even when nothing else changes, so that an
 * older state that is still on its way can't be applied later.
 */
async function takeRevision(session: SqlSession, accountId: string, expected?: CustomerLink): Promise<boolean> {
  const update = 'update customers set revision = revision + 1 where account_id = :accountId';
  if (expected === undefined) {
    await session.run(update, { accountId });
    return true;
  }
  const { customer, revision } = expected;
  return (
    (await session.run(`${update} and customer = :customer and revision = :revision`, {
      accountId,
      customer,
      revision,
    })) === 1
  );
}

/** Returns false when the subscription was replaced by another one or by a plan without payment. */
async function isPaidBy(session: SqlSession, accountId: string, subscription: string): Promise<boolean> {
  const row = await first(
    session,
    `select account_id from subscriptions
     where account_id = :accountId and (provider <> 'stripe' or provider_subscription <> :subscription)`,
    { accountId, subscription },
  );
  return row === undefined;
}

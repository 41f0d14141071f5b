import { type Holder, stateOf } from '../account/access.ts';
import { afterProvider, type ProviderSubscription } from '../account/provider.ts';
import { afterTurn, type Subscription, changeDue, withPlan } from '../account/subscription.ts';
import { type Engine, first, type SqlSession } from './engine.ts';
import { type Clock, note } from './sql-audit.ts';
import type { Accounts, AccountSummary, Actor, CustomerLink, NewAccount, PageRequest } from './store.ts';
import {
  bringUpToDate,
  lockAccount,
  readSubscription,
  SUBSCRIPTION_COLUMNS,
  type SubscriptionRow,
  toSubscription,
  writeSubscription,
} from './subscription-rows.ts';

interface AccountRow extends SubscriptionRow {
  readonly id: string;
  readonly name: string;
  readonly state: 'active' | 'suspended';
  readonly createdAt: string;
}

const ACCOUNTS = `
  select a.id, a.name, a.state, a.created_at as "createdAt", ${SUBSCRIPTION_COLUMNS}
  from accounts a left join subscriptions s on s.account_id = a.id`;

const LINKS = 'select account_id as "accountId", customer, revision from customers';

/** More than there will ever be. */
const ALL = 2_147_483_647;

export class SqlAccounts implements Accounts {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  async count(): Promise<number> {
    const row = await first<{ count: number }>(this.#engine, 'select count(*) as count from accounts');
    return row?.count ?? 0;
  }

  async create(account: NewAccount, actor: Actor): Promise<void> {
    await this.#engine.transaction(async (session) => {
      await this.#insert(session, account, actor);
    });
  }

  async find(accountId: string): Promise<AccountSummary | undefined> {
    const row = await first<AccountRow>(this.#engine, `${ACCOUNTS} where a.id = ?`, [accountId]);
    return row && this.#summary(row);
  }

  async list({ after, count = ALL }: PageRequest = {}): Promise<AccountSummary[]> {
    const beyond = 'where (a.created_at, a.id) > (select created_at, id from accounts where id = ?)';
    const rows = await this.#engine.all<AccountRow>(
      `${ACCOUNTS} ${after === undefined ? '' : beyond} order by a.created_at, a.id limit ?`,
      [...(after === undefined ? [] : [after]), count],
    );
    return rows.map((row) => this.#summary(row));
  }

  async plansInUse(): Promise<string[]> {
    const rows = await this.#engine.all<{ plan: string }>(
      `select plan from subscriptions where status = 'active'
       union select next_plan from subscriptions where next_plan is not null and status = 'active' order by 1`,
    );
    return rows.map(({ plan }) => plan);
  }

  async setSuspended(accountId: string, suspended: boolean, actor: Actor): Promise<boolean> {
    const state = suspended ? 'suspended' : 'active';
    return await this.#engine.transaction(async (session) => {
      const account = await first<{ state: string }>(session, 'select state from accounts where id = ?', [accountId]);
      const update = 'update accounts set state = ? where id = ? and state <> ?';
      const changed = await session.run(update, [state, accountId, state]);
      if (changed === 1) {
        await this.#note(session, accountId, actor, suspended ? 'account.suspended' : 'account.resumed');
      }
      return account !== undefined;
    });
  }

  async subscribe(accountId: string, plan: string, when: 'now' | 'next period', actor: Actor): Promise<Subscription> {
    const now = this.#clock();
    return await this.#engine.transaction(async (session) => {
      const before = await this.#current(session, accountId, now);
      const after = withPlan(before, plan, when, now);
      await writeSubscription(session, accountId, after);
      await this.#note(session, accountId, actor, 'subscription.plan', { from: before?.plan ?? null, to: plan, when });
      return after;
    });
  }

  async setRenews(accountId: string, renews: boolean, actor: Actor): Promise<boolean> {
    const now = this.#clock();
    return await this.#engine.transaction(async (session) => {
      const before = await this.#current(session, accountId, now);
      if (before?.status !== 'active') return false;
      await writeSubscription(session, accountId, { ...before, renews });
      await this.#note(session, accountId, actor, renews ? 'subscription.resumed' : 'subscription.cancelled');
      return true;
    });
  }

  async applyProvider(
    accountId: string,
    said: ProviderSubscription | undefined,
    actor: Actor,
    asked?: CustomerLink,
  ): Promise<boolean> {
    return await this.#engine.transaction(async (session) => {
      await lockAccount(session, accountId);
      // Counted even when nothing changes below: an older answer that is still under way must not be applied after it.
      const counted = await session.run(
        `update customers set revision = revision + 1
         where account_id = ? ${asked === undefined ? '' : 'and customer = ? and revision = ?'}`,
        asked === undefined ? [accountId] : [accountId, asked.customer, asked.revision],
      );
      if (asked !== undefined && counted === 0) return false;
      // Whoever asked knows the whole of it; mere news of an end may be about another one.
      if (
        asked === undefined &&
        said?.status === 'inactive' &&
        !(await isPaidBy(session, accountId, said.subscription))
      ) {
        return true;
      }
      const before = await readSubscription(session, accountId);
      const after = afterProvider(before, said, this.#clock());
      if (after === undefined) return true;
      const changed = JSON.stringify(after) !== JSON.stringify(before);
      if (changed) await writeSubscription(session, accountId, after);
      if (after.provider === 'stripe' && said !== undefined) {
        const update = 'update subscriptions set provider_subscription = ? where account_id = ?';
        await session.run(update, [said.subscription, accountId]);
      }
      const { plan, nextPlan, status, renews, period } = after;
      const details = { plan, nextPlan, status, renews, periodEndsAt: period.endsAt.toISOString() };
      if (changed) await this.#note(session, accountId, actor, 'subscription.provider', details);
      return true;
    });
  }

  async findByCustomer(customer: string): Promise<string | undefined> {
    const row = await first<{ id: string }>(this.#engine, 'select account_id as id from customers where customer = ?', [
      customer,
    ]);
    return row?.id;
  }

  async customerOf(accountId: string): Promise<string | undefined> {
    const row = await first<{ customer: string }>(this.#engine, 'select customer from customers where account_id = ?', [
      accountId,
    ]);
    return row?.customer;
  }

  async linkCustomer(accountId: string, customer: string): Promise<string> {
    return await this.#engine.transaction(async (session) => {
      const added = await session.run(
        'insert into customers (account_id, customer) values (?, ?) on conflict (account_id) do nothing',
        [accountId, customer],
      );
      if (added === 1) await this.#note(session, accountId, 'system', 'customer.linked', { customer });
      const row = await first<{ customer: string }>(session, 'select customer from customers where account_id = ?', [
        accountId,
      ]);
      return row?.customer ?? customer;
    });
  }

  async unlinkCustomer(accountId: string, customer: string, actor: Actor): Promise<void> {
    await this.#engine.transaction(async (session) => {
      const removed = await session.run('delete from customers where account_id = ? and customer = ?', [
        accountId,
        customer,
      ]);
      if (removed === 1) await this.#note(session, accountId, actor, 'customer.unlinked', { customer });
    });
  }

  async findLink(customer: string): Promise<CustomerLink | undefined> {
    return await first<CustomerLink>(this.#engine, `${LINKS} where customer = ?`, [customer]);
  }

  async listLinks(afterAccountId: string, count: number): Promise<CustomerLink[]> {
    return await this.#engine.all<CustomerLink>(`${LINKS} where account_id > ? order by account_id limit ?`, [
      afterAccountId,
      count,
    ]);
  }

  async upsertMarketplaceAccount(accountId: string, plan: string, actor: Actor): Promise<Holder> {
    const known = await first<AccountRow>(this.#engine, `${ACCOUNTS} where a.id = ?`, [accountId]);
    const now = this.#clock();
    const subscription = known && toSubscription(known);
    if (
      known &&
      subscription &&
      isAsMarketplaceSays(subscription, plan) &&
      changeDue(subscription, now).kind === 'none'
    ) {
      return { accountId, suspended: known.state === 'suspended', subscription };
    }
    return await this.#engine.transaction(async (session) => {
      await this.#insert(session, { id: accountId, name: accountId }, actor);
      const before = await this.#current(session, accountId, now);
      const after: Subscription = { ...withPlan(before, plan, 'now', now), provider: 'marketplace' };
      if (before === undefined || !isAsMarketplaceSays(before, plan)) {
        await writeSubscription(session, accountId, after);
        await this.#note(session, accountId, actor, 'subscription.plan', { from: before?.plan ?? null, to: plan });
      }
      const row = await first<{ state: string }>(session, 'select state from accounts where id = ?', [accountId]);
      return { accountId, suspended: row?.state === 'suspended', subscription: after };
    });
  }

  async #insert(session: SqlSession, { id, name }: NewAccount, actor: Actor): Promise<void> {
    const created = await session.run(
      'insert into accounts (id, name, created_at) values (?, ?, ?) on conflict (id) do nothing',
      [id, name, this.#clock().toISOString()],
    );
    if (created === 1) await this.#note(session, id, actor, 'account.created', { name });
  }

  async #current(session: SqlSession, accountId: string, now: Date): Promise<Subscription | undefined> {
    await lockAccount(session, accountId);
    return await bringUpToDate(session, accountId, now);
  }

  /** As things stand now. Only looking makes no turn: a list of all accounts must not become as many transactions. */
  #summary(row: AccountRow): AccountSummary {
    const stored = toSubscription(row);
    const subscription = stored && afterTurn(stored, changeDue(stored, this.#clock()));
    const state = stateOf({ suspended: row.state === 'suspended', subscription });
    return { id: row.id, name: row.name, state, subscription, createdAt: row.createdAt };
  }

  async #note(
    session: SqlSession,
    accountId: string,
    actor: Actor,
    action: string,
    details: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    await note(session, this.#clock().toISOString(), { actor, action, accountId, subject: accountId, details });
  }
}

/** The marketplace has the say, with every request. */
function isAsMarketplaceSays({ plan, status, renews, provider }: Subscription, wanted: string): boolean {
  return plan === wanted && status === 'active' && renews && provider === 'marketplace';
}

/** The end of a subscription that was replaced by another one, or by a plan without payment, no longer matters. */
async function isPaidBy(session: SqlSession, accountId: string, subscription: string): Promise<boolean> {
  const row = await first<{ provider: string; id: string | null }>(
    session,
    'select provider, provider_subscription as id from subscriptions where account_id = ?',
    [accountId],
  );
  return row === undefined || (row.provider === 'stripe' && (row.id === null || row.id === subscription));
}

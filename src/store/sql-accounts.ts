import { type Holder, stateOf } from '../account/access.ts';
import { periodHolding } from '../account/period.ts';
import { type Subscription, turnOf } from '../account/subscription.ts';
import { AppError } from '../errors.ts';
import { type Engine, first, type Session } from './engine.ts';
import { type Clock, note } from './sql-audit.ts';
import type { Accounts, AccountSummary, Actor, NewAccount, ProviderSubscription } from './store.ts';
import {
  makeTurn,
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
    return row && (await this.#summary(row));
  }

  async list(): Promise<AccountSummary[]> {
    const rows = await this.#engine.all<AccountRow>(`${ACCOUNTS} order by a.created_at, a.id`);
    const summaries: AccountSummary[] = [];
    for (const row of rows) summaries.push(await this.#summary(row));
    return summaries;
  }

  async plansInUse(): Promise<string[]> {
    const rows = await this.#engine.all<{ plan: string }>(
      `select plan from subscriptions where status = 'active'
       union select next_plan from subscriptions where next_plan is not null and status = 'active' order by 1`,
    );
    return rows.map(({ plan }) => plan);
  }

  async setSuspended(accountId: string, suspended: boolean, actor: Actor): Promise<boolean> {
    return await this.#engine.transaction(async (session) => {
      const state = suspended ? 'suspended' : 'active';
      const changed = await session.run('update accounts set state = ? where id = ?', [state, accountId]);
      if (changed === 0) return false;
      await this.#note(session, accountId, actor, suspended ? 'account.suspended' : 'account.resumed');
      return true;
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

  async applyProvider(accountId: string, change: ProviderSubscription, actor: Actor): Promise<void> {
    await this.#engine.transaction(async (session) => {
      const before = await readSubscription(session, accountId);
      const { plan, status, renews, period } = change;
      const anchorAt = before?.provider === 'stripe' ? before.anchorAt : period.startsAt;
      const after: Subscription = { plan, nextPlan: null, status, renews, provider: 'stripe', anchorAt, period };
      await writeSubscription(session, accountId, after);
      await session.run('update subscriptions set provider_subscription = ? where account_id = ?', [
        change.subscription,
        accountId,
      ]);
      const details = { plan, status, renews, periodEndsAt: period.endsAt.toISOString() };
      await this.#note(session, accountId, actor, 'subscription.provider', details);
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

  async meetMarketplace(accountId: string, plan: string, actor: Actor): Promise<Holder> {
    const known = await first<AccountRow>(this.#engine, `${ACCOUNTS} where a.id = ?`, [accountId]);
    const now = this.#clock();
    const subscription = known && toSubscription(known);
    if (known && subscription?.plan === plan && turnOf(subscription, now).kind === 'none') {
      return { accountId, suspended: known.state === 'suspended', subscription };
    }
    return await this.#engine.transaction(async (session) => {
      await this.#insert(session, { id: accountId, name: accountId }, actor);
      const before = await this.#current(session, accountId, now);
      const after: Subscription = { ...withPlan(before, plan, 'now', now), provider: 'marketplace' };
      await writeSubscription(session, accountId, after);
      if (before?.plan !== plan) {
        await this.#note(session, accountId, actor, 'subscription.plan', { from: before?.plan ?? null, to: plan });
      }
      const row = await first<{ state: string }>(session, 'select state from accounts where id = ?', [accountId]);
      return { accountId, suspended: row?.state === 'suspended', subscription: after };
    });
  }

  async #insert(session: Session, { id, name }: NewAccount, actor: Actor): Promise<void> {
    const created = await session.run(
      'insert into accounts (id, name, created_at) values (?, ?, ?) on conflict (id) do nothing',
      [id, name, this.#clock().toISOString()],
    );
    if (created === 1) await this.#note(session, id, actor, 'account.created', { name });
  }

  async #current(session: Session, accountId: string, now: Date): Promise<Subscription | undefined> {
    const account = await first(session, 'select id from accounts where id = ?', [accountId]);
    if (account === undefined) throw new AppError('not_found', `There is no account "${accountId}".`);
    const subscription = await readSubscription(session, accountId);
    return subscription && (await makeTurn(session, accountId, subscription, now));
  }

  async #summary(row: AccountRow): Promise<AccountSummary> {
    const now = this.#clock();
    let subscription = toSubscription(row);
    if (subscription && turnOf(subscription, now).kind !== 'none') {
      const due = subscription;
      subscription = await this.#engine.transaction(async (session) => await makeTurn(session, row.id, due, now));
    }
    const state = stateOf({ suspended: row.state === 'suspended', subscription });
    return { id: row.id, name: row.name, state, subscription, createdAt: row.createdAt };
  }

  async #note(
    session: Session,
    accountId: string,
    actor: Actor,
    action: string,
    details: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    await note(session, this.#clock().toISOString(), { actor, action, accountId, subject: accountId, details });
  }
}

function withPlan(
  before: Subscription | undefined,
  plan: string,
  when: 'now' | 'next period',
  now: Date,
): Subscription {
  if (before === undefined || now >= before.period.endsAt) {
    const fresh = { plan, nextPlan: null, status: 'active', renews: true, provider: 'manual', anchorAt: now } as const;
    return { ...fresh, period: periodHolding(now, now) };
  }
  const going = { ...before, status: 'active', renews: true } as const;
  return when === 'now' || before.plan === plan || before.status === 'inactive'
    ? { ...going, plan, nextPlan: null }
    : { ...going, nextPlan: plan };
}

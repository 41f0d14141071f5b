// The operator's view of the whole service, and credits that an operator adds.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { KEY_MODES } from '../../account/api-key.ts';
import { must } from '../../../shared/must.ts';
import { type Actor, type Clock, recordAudit } from '../audit.ts';
import { type Engine, first } from '../engine.ts';
import { date, integer, oneOf, text } from '../rows.ts';
import { addPeriod } from '../ledger/holds.ts';
import { EVERY_ROW, type SqlCondition, rangesOf } from '../bounded/steps.ts';
import { type UsageDay, daysOf } from '../ledger/usage-details.ts';
import { bringUpToDate, lockAccount } from './subscriptions.ts';

export interface SignUpDay {
  readonly day: string;
  readonly accounts: number;
}

export interface PlanCount {
  readonly plan: string;
  readonly provider: 'manual' | 'stripe' | 'marketplace';
  readonly accounts: number;
}

export interface FailingWebhooks {
  readonly endpoints: number;
  /** The account whose endpoint fails longest; undefined if none does. */
  readonly accountId: string | undefined;
}

/** The action of a view in the audit log. A view changes nothing. */
export const ACCOUNT_VIEWED = 'account.viewed';

/** Pages that an operator opens within this time count as one view. */
const VIEW_MS = 3_600_000;

export class OperatorData {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  /** Returns the renders of all accounts per day. */
  async days(from: string, to: string): Promise<UsageDay[]> {
    const days: UsageDay[] = [];
    for (const day of daysOf(from, to)) days.push(...(await this.#day(day)));
    return days;
  }

  async #day(day: string): Promise<UsageDay[]> {
    const sums = new Map<string, UsageDay>();
    const within: SqlCondition = ['day = :day', { day }];
    for await (const { after, to } of rangesOf(this.#engine, { table: 'usage_days', column: 'account_id', within })) {
      const rows = await this.#engine.all(
        `select mode, outcome, sum(renders) as renders, sum(credits) as credits from usage_days
         where day = :day and account_id > :after and account_id <= :to group by mode, outcome`,
        { day, after, to },
      );
      for (const row of rows) {
        const [mode, outcome] = [oneOf(row, 'mode', KEY_MODES), text(row, 'outcome')];
        const sum = sums.get(`${mode} ${outcome}`);
        const renders = integer(row, 'renders') + (sum?.renders ?? 0);
        const credits = integer(row, 'credits') + (sum?.credits ?? 0);
        sums.set(`${mode} ${outcome}`, { day, mode, outcome, renders, credits });
      }
    }
    return [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum);
  }

  /** Returns the sign-ups per day. Days without sign-ups are left out. */
  async signUps(from: string, to: string): Promise<SignUpDay[]> {
    const days: SignUpDay[] = [];
    for (const day of daysOf(from, to)) {
      // The upper bound is the character after the T of a timestamp, which ends the day.
      const within: SqlCondition = ['created_at >= :start and created_at < :end', { start: `${day}T`, end: `${day}U` }];
      const row = await first(this.#engine, `select count(*) as accounts from accounts where ${within[0]}`, within[1]);
      const accounts = integer(must(row, 'a count'), 'accounts');
      if (accounts > 0) days.push({ day, accounts });
      await yieldToEventLoop();
    }
    return days;
  }

  /** Counts the accounts that await approval. */
  async pendingAccounts(): Promise<number> {
    const sql = "select count(*) as accounts from accounts where awaits_approval = 1 and state <> 'suspended'";
    return integer(must(await first(this.#engine, sql), 'the number of accounts'), 'accounts');
  }

  /** When the first account was created, which is when the service was set up. */
  async begunAt(): Promise<Date | undefined> {
    const row = await first(this.#engine, 'select created_at from accounts order by created_at, id limit 1');
    return row && date(row, 'created_at');
  }

  /** Counts the webhook endpoints that accept nothing at the moment, and finds the account of the one that fails longest. */
  async failingWebhooks(): Promise<FailingWebhooks> {
    const failing = 'from webhook_endpoints where failing_since is not null';
    const row = must(await first(this.#engine, `select count(*) as endpoints ${failing}`), 'the number of endpoints');
    const longest = await first(this.#engine, `select account_id ${failing} order by failing_since limit 1`);
    return { endpoints: integer(row, 'endpoints'), accountId: longest && text(longest, 'account_id') };
  }

  /** Counts the accounts with an active plan, per plan. */
  async plans(): Promise<PlanCount[]> {
    const counts = new Map<string, PlanCount>();
    for await (const { after, to } of rangesOf(this.#engine, {
      table: 'subscriptions',
      column: 'account_id',
      within: EVERY_ROW,
    })) {
      const rows = await this.#engine.all(
        `select plan, provider, count(*) as accounts from subscriptions
         where account_id > :after and account_id <= :to and status = 'active' group by plan, provider`,
        { after, to },
      );
      for (const row of rows) {
        const [plan, provider] = [text(row, 'plan'), oneOf(row, 'provider', ['manual', 'stripe', 'marketplace'])];
        const accounts = integer(row, 'accounts') + (counts.get(`${plan} ${provider}`)?.accounts ?? 0);
        counts.set(`${plan} ${provider}`, { plan, provider, accounts });
      }
    }
    return [...counts].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, count]) => count);
  }

  /**
   * Adds credits to the current period of the account; the reason is part of the audit log. Returns all credits that were
   * added to the period, or undefined when the account has no active plan.
   */
  async grantCredits(accountId: string, credits: number, reason: string, actor: Actor): Promise<number | undefined> {
    const now = this.#clock();
    return await this.#engine.transaction(async (session) => {
      await lockAccount(session, accountId);
      const subscription = await bringUpToDate(session, accountId, now);
      if (subscription?.status !== 'active') return undefined;
      const { period } = subscription;
      await addPeriod(session, { accountId, period });
      const row = await first(
        session,
        'update periods set granted = granted + :credits where account_id = :accountId and starts_at = :startsAt returning granted',
        { credits, accountId, startsAt: period.startsAt },
      );
      const granted = integer(must(row, 'the period'), 'granted');
      const details = { credits, granted, reason, periodStartsAt: period.startsAt };
      const entry = { actor, action: 'credits.granted', accountId, subject: accountId, details };
      await recordAudit(session, now.toISOString(), entry);
      return granted;
    });
  }

  /** Records in the audit log that an operator looks at the account's pages, at most once an hour per operator. */
  async recordView(accountId: string, actor: Actor): Promise<void> {
    const now = this.#clock();
    const hourAgo = new Date(now.getTime() - VIEW_MS).toISOString();
    await this.#engine.transaction(async (session) => {
      const known = await first(
        session,
        'select 1 as one from audit where account_id = :accountId and actor = :actor and action = :action and at > :hourAgo limit 1',
        { accountId, actor, action: ACCOUNT_VIEWED, hourAgo },
      );
      if (known !== undefined) return;
      await recordAudit(session, now.toISOString(), { actor, action: ACCOUNT_VIEWED, accountId, subject: accountId });
    });
  }
}

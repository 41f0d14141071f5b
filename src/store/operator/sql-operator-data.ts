import { KEY_MODES } from '../../account/api-key.ts';
import { must } from '../../primitives/must.ts';
import type { Actor } from '../actor.ts';
import { type Engine, first } from '../engine.ts';
import { integer, oneOf, text } from '../rows.ts';
import { type Clock, recordAudit } from '../sql-audit.ts';
import { addPeriod } from '../sql-ledger.ts';
import type { UsageDay } from '../store.ts';
import { bringUpToDate, lockAccount } from '../subscription-rows.ts';
import { ACCOUNT_VIEWED, type OperatorData, type PlanCount, type SignUpDay } from './operator-data.ts';

/** The pages that an operator opens within this time are one view. */
const VIEW_MS = 3_600_000;

export class SqlOperatorData implements OperatorData {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  async days(from: string, to: string): Promise<UsageDay[]> {
    const rows = await this.#engine.all(
      `select day, mode, outcome, sum(renders) as renders, sum(credits) as credits from usage_days
       where day >= ? and day <= ? group by day, mode, outcome order by day, mode, outcome`,
      [from, to],
    );
    return rows.map((row) => ({
      day: text(row, 'day'),
      mode: oneOf(row, 'mode', KEY_MODES),
      outcome: text(row, 'outcome'),
      renders: integer(row, 'renders'),
      credits: integer(row, 'credits'),
    }));
  }

  async signUps(from: string, to: string): Promise<SignUpDay[]> {
    const rows = await this.#engine.all(
      `select substr(created_at, 1, 10) as day, count(*) as accounts from accounts
       where created_at >= ? and created_at < ? group by substr(created_at, 1, 10) order by day`,
      // The next character after the T of a timestamp, so that the last day is included.
      [from, `${to}U`],
    );
    return rows.map((row) => ({ day: text(row, 'day'), accounts: integer(row, 'accounts') }));
  }

  async plans(): Promise<PlanCount[]> {
    const rows = await this.#engine.all(
      `select plan, provider, count(*) as accounts from subscriptions where status = 'active'
       group by plan, provider order by plan, provider`,
    );
    return rows.map((row) => ({
      plan: text(row, 'plan'),
      provider: oneOf(row, 'provider', ['manual', 'stripe', 'marketplace']),
      accounts: integer(row, 'accounts'),
    }));
  }

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
        'update periods set granted = granted + ? where account_id = ? and starts_at = ? returning granted',
        [credits, accountId, period.startsAt.toISOString()],
      );
      const granted = integer(must(row, 'the period'), 'granted');
      const details = { credits, granted, reason, periodStartsAt: period.startsAt.toISOString() };
      const entry = { actor, action: 'credits.granted', accountId, subject: accountId, details };
      await recordAudit(session, now.toISOString(), entry);
      return granted;
    });
  }

  async recordView(accountId: string, actor: Actor): Promise<void> {
    const now = this.#clock();
    const hourAgo = new Date(now.getTime() - VIEW_MS).toISOString();
    await this.#engine.transaction(async (session) => {
      const known = await first(
        session,
        'select 1 as one from audit where account_id = ? and actor = ? and action = ? and at > ? limit 1',
        [accountId, actor, ACCOUNT_VIEWED, hourAgo],
      );
      if (known !== undefined) return;
      await recordAudit(session, now.toISOString(), { actor, action: ACCOUNT_VIEWED, accountId, subject: accountId });
    });
  }
}

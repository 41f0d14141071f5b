// Records which users have been told by email that most or all credits of their billing period are used.

import type { Engine } from '../engine.ts';
import { integer, type SqlParameters, text } from '../rows.ts';
import type { Clock } from '../audit.ts';
import { type SqlCondition, rangesOf } from '../bounded/steps.ts';

/** A user to notify, and the level that was reached. */
export interface CreditNotice {
  readonly userId: string;
  readonly email: string;
  readonly accountId: string;
  readonly periodStartsAt: string;
  readonly periodEndsAt: string;
  readonly percent: number;
  readonly used: number;
  /** Credits of the period, including those that an operator has added. */
  readonly credits: number;
}

export interface CreditLevel {
  readonly percent: number;
  /** Plans with their credits per period, to which an operator may have added some. */
  readonly plans: readonly { readonly name: string; readonly credits: number }[];
}

/** Longer than an attempt to send an email can take. */
const CLAIM_MS = 10 * 60_000;
/** How many periods one statement looks at. */
const PERIODS = 500;

export class CreditNotices {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  /**
   * Returns owners and billing members of accounts that have reached the level in the current period, and weren't told
   * about this or a higher level since the period has had its current number of credits.
   */
  async due({ plans, percent }: CreditLevel, count: number): Promise<CreditNotice[]> {
    if (plans.length === 0) return [];
    // Granted credits only raise the level, so this bound lets the index skip most periods.
    const lowest = Math.ceil((Math.min(...plans.map(({ credits }) => credits)) * percent) / 100);
    const now = this.#now();
    const current: SqlCondition = ['ends_at > :now', { now }];
    const notices: CreditNotice[] = [];
    const ranges = rangesOf(this.#engine, { table: 'periods', column: 'ends_at', within: current, rows: PERIODS });
    for await (const { after, to } of ranges) {
      const left = count - notices.length;
      notices.push(...(await this.#dueIn({ plans, percent }, { after: after < now ? now : after, to, lowest }, left)));
      if (notices.length >= count) break;
    }
    return notices;
  }

  async #dueIn(
    { plans, percent }: CreditLevel,
    { after, to, lowest }: { after: string; to: string; lowest: number },
    count: number,
  ): Promise<CreditNotice[]> {
    const rows = await this.#engine.all(
      `select u.id, u.email, p.account_id, p.starts_at, p.ends_at, p.used, p.credits
       from (
         select p.account_id, p.starts_at, p.ends_at, p.used,
           case s.plan ${plans.map((_, index) => `when :plan${index} then p.granted + :credits${index}`).join(' ')} end as credits
         from periods p
         join subscriptions s on s.account_id = p.account_id and s.period_starts_at = p.starts_at
         where p.ends_at > :after and p.ends_at <= :to and p.used >= :lowest and s.status = 'active') p
       join users u on u.account_id = p.account_id
       where p.used * 100 >= p.credits * :percent
         and u.unconfirmed_email is null and u.account_role in ('owner', 'billing')
         and not exists (
           select 1 from credit_notices n
           where n.user_id = u.id and n.period_starts_at = p.starts_at and n.percent >= :percent
             and (n.credits is null or n.credits >= p.credits) and (n.sent_at is not null or n.claimed_at > :staleBefore))
       order by p.ends_at, u.id limit :count`,
      {
        ...Object.fromEntries(
          plans.flatMap(({ name, credits }, index) => [
            [`plan${index}`, name],
            [`credits${index}`, credits],
          ]),
        ),
        after,
        to,
        lowest,
        percent,
        staleBefore: this.#staleBefore(),
        count,
      },
    );
    return rows.map((row) => ({
      userId: text(row, 'id'),
      email: text(row, 'email'),
      accountId: text(row, 'account_id'),
      periodStartsAt: text(row, 'starts_at'),
      periodEndsAt: text(row, 'ends_at'),
      percent,
      used: integer(row, 'used'),
      credits: integer(row, 'credits'),
    }));
  }

  /**
   * Returns true for one caller only, which then sends the email. A claim that isn't marked as sent can be claimed
   * again after a while, because its server may have crashed.
   */
  async claim(notice: CreditNotice): Promise<boolean> {
    const changed = await this.#engine.run(
      `insert into credit_notices (user_id, period_starts_at, percent, credits, claimed_at)
       values (:userId, :periodStartsAt, :percent, :credits, :now)
       on conflict (user_id, period_starts_at, percent) do update
       set claimed_at = excluded.claimed_at, sent_at = null, credits = excluded.credits
       where (credit_notices.sent_at is null and credit_notices.claimed_at <= :staleBefore)
         or credit_notices.credits < excluded.credits`,
      { ...keyOf(notice), now: this.#now(), staleBefore: this.#staleBefore() },
    );
    return changed === 1;
  }

  async markSent(notice: CreditNotice): Promise<void> {
    await this.#engine.run(
      `update credit_notices set sent_at = :now
       where user_id = :userId and period_starts_at = :periodStartsAt and percent = :percent and credits = :credits`,
      { ...keyOf(notice), now: this.#now() },
    );
  }

  #now(): string {
    return this.#clock().toISOString();
  }

  #staleBefore(): string {
    return new Date(this.#clock().getTime() - CLAIM_MS).toISOString();
  }
}

function keyOf({ userId, periodStartsAt, percent, credits }: CreditNotice): SqlParameters {
  return { userId, periodStartsAt, percent, credits };
}

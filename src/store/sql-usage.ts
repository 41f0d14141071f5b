import { setImmediate as breathe } from 'node:timers/promises';
import type { Engine, SqlSession } from './engine.ts';
import type { Clock } from './sql-audit.ts';
import type { AccountUsage, RenderSummary, Usage, UsageDay } from './store.ts';

const BATCH = 500;

/** Adds to the sums of a day. */
export async function addUsage(
  session: SqlSession,
  usage: { accountId: string; day: string; mode: string; outcome: string; renders: number; credits: number },
): Promise<void> {
  const { accountId, day, mode, outcome, renders, credits } = usage;
  await session.run(
    `insert into usage_days (account_id, day, mode, outcome, renders, credits) values (?, ?, ?, ?, ?, ?)
     on conflict (account_id, day, mode, outcome) do update set
       renders = usage_days.renders + excluded.renders, credits = usage_days.credits + excluded.credits`,
    [accountId, day, mode, outcome, renders, credits],
  );
}

export class SqlUsage implements Usage {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  async days(accountId: string, from: string, to: string): Promise<UsageDay[]> {
    return await this.#engine.all<UsageDay>(
      `select day, mode, outcome, renders, credits from usage_days
       where account_id = ? and day >= ? and day <= ? order by day, mode, outcome`,
      [accountId, from, to],
    );
  }

  async totals(from: string, to: string): Promise<AccountUsage[]> {
    return await this.#engine.all<AccountUsage>(
      `select account_id as "accountId", mode, sum(renders) as renders,
              sum(case outcome when 'delivered' then renders else 0 end) as delivered, sum(credits) as credits
       from usage_days where day >= ? and day <= ? group by account_id, mode
       order by sum(credits) desc, sum(renders) desc, account_id, mode`,
      [from, to],
    );
  }

  async latest(accountId: string, count: number): Promise<RenderSummary[]> {
    return await this.#engine.all<RenderSummary>(
      `select id, kind, mode, state, outcome, credits, created_at as "createdAt", duration_ms as "durationMs"
       from renders where account_id = ? order by created_at desc, id limit ?`,
      [accountId, count],
    );
  }

  async addRefusals(refusals: Parameters<Usage['addRefusals']>[0]): Promise<void> {
    if (refusals.length === 0) return;
    const day = this.#clock().toISOString().slice(0, 10);
    // In one order everywhere: two servers that add to the same rows must not wait for each other in a circle.
    const ordered = refusals.toSorted((a, b) =>
      `${a.accountId}${a.mode}${a.outcome}` < `${b.accountId}${b.mode}${b.outcome}` ? -1 : 1,
    );
    await this.#engine.transaction(async (session) => {
      for (const { count, ...refusal } of ordered)
        await addUsage(session, { ...refusal, day, renders: count, credits: 0 });
    });
  }

  async forgetBefore(at: Date): Promise<number> {
    let forgotten = 0;
    for (let removed = BATCH; removed === BATCH; await breathe()) {
      removed = await this.#engine.run(
        `delete from renders
         where id in (select id from renders where state <> 'reserved' and finished_at < ? limit ?)`,
        [at.toISOString(), BATCH],
      );
      forgotten += removed;
    }
    return forgotten;
  }
}

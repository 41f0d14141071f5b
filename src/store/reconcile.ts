// Do the sums still follow from the rows? Each question is one statement, so that a server may go on meanwhile.

import type { Engine } from './engine.ts';

export interface Difference {
  readonly what: 'reserved' | 'used' | 'usage';
  readonly accountId: string;
  /** The period it is about; null for all of the account's. */
  readonly periodStartsAt: string | null;
  /** What the sum says, and what the rows add up to. */
  readonly sum: number;
  readonly rows: number;
}

/** Single renders are forgotten after a while, so of what was used there may be less in rows, never more. */
const QUESTIONS: Readonly<Record<Difference['what'], string>> = {
  reserved: `
    select account_id as "accountId", starts_at as "periodStartsAt", sum(kept) as sum, sum(held) as rows
    from (select account_id, starts_at, reserved as kept, 0 as held from periods
          union all select account_id, period_starts_at, 0, credits from renders where state = 'reserved') as both_sides
    group by account_id, starts_at having sum(kept) <> sum(held) order by 1, 2`,
  used: `
    select account_id as "accountId", starts_at as "periodStartsAt", sum(kept) as sum, sum(charged) as rows
    from (select account_id, starts_at, used as kept, 0 as charged from periods
          union all select account_id, period_starts_at, 0, credits from renders where state = 'settled') as both_sides
    group by account_id, starts_at having sum(kept) < sum(charged) order by 1, 2`,
  usage: `
    select account_id as "accountId", null as "periodStartsAt", sum(kept) as sum, sum(charged) as rows
    from (select account_id, used as kept, 0 as charged from periods
          union all select account_id, 0, credits from usage_days) as both_sides
    group by account_id having sum(kept) <> sum(charged) order by 1`,
};

export async function reconcile(engine: Engine): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const what of ['reserved', 'used', 'usage'] as const) {
    const found = await engine.all<Omit<Difference, 'what'>>(QUESTIONS[what]);
    differences.push(...found.map((difference) => ({ what, ...difference })));
  }
  return differences;
}

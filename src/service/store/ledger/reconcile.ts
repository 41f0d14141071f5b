// Checks that the stored sums still match the rows. Each check is one statement, so servers can run meanwhile.

import type { Engine } from '../engine.ts';
import { integer, text, textOrNull } from '../rows.ts';

export interface Difference {
  readonly what: 'reserved' | 'used' | 'usage';
  readonly accountId: string;
  /** Null when the difference concerns all periods of the account. */
  readonly periodStartsAt: string | null;
  /** The stored sum, and the sum of the rows. */
  readonly sum: number;
  readonly rows: number;
}

/** Single renders are deleted after a while, so the rows of `used` may add up to less than the sum, but never to more. */
const CHECKS: Readonly<Record<Difference['what'], string>> = {
  reserved: `
    select account_id, starts_at, sum(kept) as stored, sum(held) as counted
    from (select account_id, starts_at, reserved as kept, 0 as held from periods
          union all select account_id, period_starts_at, 0, credits from holds where state = 'reserved') as both_sides
    group by account_id, starts_at having sum(kept) <> sum(held) order by 1, 2`,
  used: `
    select account_id, starts_at, sum(kept) as stored, sum(charged) as counted
    from (select account_id, starts_at, used as kept, 0 as charged from periods
          union all select account_id, period_starts_at, 0, credits from holds where state = 'settled') as both_sides
    group by account_id, starts_at having sum(kept) < sum(charged) order by 1, 2`,
  usage: `
    select account_id, null as starts_at, sum(kept) as stored, sum(charged) as counted
    from (select account_id, used as kept, 0 as charged from periods
          union all select account_id, 0, credits from usage_days) as both_sides
    group by account_id having sum(kept) <> sum(charged) order by 1`,
};

export async function reconcile(engine: Engine): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const what of ['reserved', 'used', 'usage'] as const) {
    for (const row of await engine.all(CHECKS[what])) {
      differences.push({
        what,
        accountId: text(row, 'account_id'),
        periodStartsAt: textOrNull(row, 'starts_at'),
        sum: integer(row, 'stored'),
        rows: integer(row, 'counted'),
      });
    }
  }
  return differences;
}

// The renders that an account has made with test keys on the current day, in one row per account. A render counts from
// its acceptance or reservation until it fails.

import { must } from '../../../shared/must.ts';
import { first, type SqlSession } from '../engine.ts';
import { integer } from '../rows.ts';

export interface TestRenders {
  readonly accountId: string;
  readonly renders: number;
  /** The maximum per UTC day. */
  readonly limit: number;
}

/** Counts all of the renders or none. Returns how many there would be if that exceeds the limit. */
export async function countTestRenders(
  session: SqlSession,
  { accountId, renders, limit }: TestRenders,
  at: string,
): Promise<number | undefined> {
  const day = dayOf(at);
  if (renders <= limit) {
    // The clocks of two servers may differ around midnight, so a day never gives way to an earlier one.
    const counted = await session.run(
      `insert into test_renders (account_id, day, renders) values (:accountId, :day, :renders) on conflict (account_id) do update set
         renders = excluded.renders + case when test_renders.day < excluded.day then 0 else test_renders.renders end,
         day = case when test_renders.day < excluded.day then excluded.day else test_renders.day end
       where test_renders.day < excluded.day or test_renders.renders + excluded.renders <= :limit`,
      { accountId, day, renders, limit },
    );
    if (counted === 1) return undefined;
  }
  const sql = 'select coalesce(sum(renders), 0) as n from test_renders where account_id = :accountId and day >= :day';
  return renders + integer(must(await first(session, sql, { accountId, day }), 'a sum'), 'n');
}

/** Uncounts a failed render that was counted at `at`. Renders of earlier days no longer count anyway. */
export async function uncountTestRender(session: SqlSession, accountId: string, at: string): Promise<void> {
  const update =
    'update test_renders set renders = renders - 1 where account_id = :accountId and day = :at and renders > 0';
  await session.run(update, { accountId, at: dayOf(at) });
}

function dayOf(at: string): string {
  return at.slice(0, 10);
}

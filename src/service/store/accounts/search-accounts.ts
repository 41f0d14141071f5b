// The operator's search for accounts, newest first.

import type { Engine } from '../engine.ts';
import { text } from '../rows.ts';
import { type SqlCondition, listInSteps } from '../bounded/steps.ts';
import type { AccountState } from '../../account/access.ts';

export interface AccountSearch {
  /** Only accounts on this plan. */
  readonly plan?: string | undefined;
  readonly state?: AccountState | undefined;
  readonly after?: string | undefined;
  readonly count: number;
}

export async function searchAccounts(
  engine: Engine,
  query: string,
  { plan, state, after, count }: AccountSearch,
): Promise<string[]> {
  const pattern = `%${query
    .trim()
    .toLowerCase()
    .replaceAll(/[\\%_]/gu, String.raw`\$&`)}%`;
  const isActive = "exists (select 1 from subscriptions s where s.account_id = a.id and s.status = 'active')";
  const states = {
    suspended: "a.state = 'suspended'",
    pending: "a.state <> 'suspended' and a.awaits_approval = 1",
    active: `a.state <> 'suspended' and a.awaits_approval = 0 and ${isActive}`,
    inactive: `a.state <> 'suspended' and a.awaits_approval = 0 and not ${isActive}`,
  };
  const onPlan =
    "exists (select 1 from subscriptions s where s.account_id = a.id and s.status = 'active' and s.plan = :plan)";
  const filter: SqlCondition[] = [];
  if (query.trim() !== '') {
    const matches = `(a.id = :id or lower(a.name) like :pattern escape '\\' or exists (
      select 1 from users u where u.account_id = a.id
      and (u.email like :pattern escape '\\' or u.unconfirmed_email like :pattern escape '\\')))`;
    filter.push([matches, { id: query.trim(), pattern }]);
  }
  if (state !== undefined) filter.push([states[state], {}]);
  if (plan !== undefined) filter.push([onPlan, { plan }]);
  const older = '(a.created_at, a.id) < (select created_at, id from accounts where id = :after)';
  const before: SqlCondition | undefined = after === undefined ? undefined : [older, { after }];
  const order = ['a.created_at', 'a.id'];
  const columns = 'a.id, a.created_at';
  const rows = await listInSteps(engine, { columns, table: 'accounts a', order, within: [], before, filter, count });
  return rows.map((row) => text(row, 'id'));
}

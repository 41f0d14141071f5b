// Fills an empty PostgreSQL database with many requests and renders by statements that make their rows in the database, because
// sending thirty million rows would take hours. Indexes are built afterwards for the same reason.

import pg from 'pg';
import { must } from '../../../src/shared/must.ts';

export interface GrowthSizes {
  readonly accounts: number;
  readonly requests: number;
  readonly holds: number;
}

const DAYS = 31;
const HOLD_DAYS = 91;
const TABLES = ['requests', 'holds'];

/** The id of an account or a key. The account with the number 0 has the most rows. */
export function growthId(kind: 'account' | 'key', number: number | string): string {
  return `${kind === 'account' ? 'a' : 'b'}0000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
}

/** The same id in SQL. */
function idSql(kind: 'account' | 'key', number: string): string {
  return `'${growthId(kind, '').slice(0, -12)}' || lpad((${number})::text, 12, '0')`;
}

/** A time as the store writes it. Rows are in the order of their times, as in a table that only grows. */
function timeSql(days: number, rows: number, number = 'i'): string {
  const time = `now() at time zone 'utc' - interval '${days} days' * (1 - ${number}::float8 / ${rows})`;
  return `to_char(${time}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

export async function seedGrowth(url: string, sizes: GrowthSizes): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("set synchronous_commit = off; set maintenance_work_mem = '512MB'");
    await client.query(accounts(sizes.accounts));
    const indexes = await dropIndexes(client);
    await client.query(requests(sizes));
    await client.query(holds(sizes));
    for (const sql of indexes) await client.query(sql);
    await client.query(sums());
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

/** Returns the statements that create the indexes again. */
async function dropIndexes(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ create: string; drop: string }>(
    `select indexdef as create, format('drop index %I', indexname) as drop from pg_indexes
     where tablename = any($1) and indexname not in (select conname from pg_constraint)
     union all
     select format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)),
       format('alter table %s drop constraint %I', conrelid::regclass, conname)
     from pg_constraint where conrelid::regclass::text = any($1) and contype in ('p', 'f')`,
    [TABLES],
  );
  for (const { drop } of rows) await client.query(drop);
  return rows.map(({ create }) => must(create, 'the definition of an index'));
}

function accounts(count: number): string {
  const now = timeSql(40, count);
  return `
insert into accounts (id, name, created_at) select ${idSql('account', 'i - 1')}, 'Account ' || i, ${now} from generate_series(1, ${count}) i;
insert into subscriptions (account_id, plan, status, renews, provider, anchor_at, period_starts_at, period_ends_at)
  select id, 'business', 'active', 1, 'manual', ${timeSql(20, 1, '0')}, ${timeSql(20, 1, '0')}, ${timeSql(-10, 1, '0')} from accounts;
insert into periods (account_id, starts_at, ends_at, used, reserved)
  select account_id, period_starts_at, period_ends_at, 0, 0 from subscriptions`;
}

/** Few accounts have many requests: the largest of 20,000 has a twenty-seventh of all. */
function numbers(accountCount: number, rows: number): string {
  return `(select i, floor(${accountCount} * power(random(), 3))::bigint as n, random() as r from generate_series(1, ${rows}) i) numbered`;
}

function requests(sizes: GrowthSizes): string {
  return `
insert into requests (id, account_id, at, key_id, path, status, code, duration_ms, credits, bytes_in, bytes_out, faults)
select gen_random_uuid()::text, ${idSql('account', 'n')}, ${timeSql(DAYS, sizes.requests)}, ${idSql('key', 'n')},
  case when r < 0.9 then 'POST /v1/overlay' when r < 0.95 then 'GET /v1/renders/{id}' else 'POST /v1/layout' end,
  case when r < 0.02 then 422 when r < 0.03 then 429 else 200 end,
  case when r < 0.02 then 'asset_undecodable' when r < 0.03 then 'rate_limited' end,
  (40 + r * 400)::int, case when r < 0.03 then 0 else 1 end, (r * 4000000)::int, (r * 3000000)::int,
  case when r < 0.02 then '[{"pointer":"/asset","code":"undecodable"}]' else '[]' end
from ${numbers(sizes.accounts, sizes.requests)}`;
}

function holds(sizes: GrowthSizes): string {
  const time = timeSql(HOLD_DAYS, sizes.holds);
  return `
insert into holds (id, account_id, key_id, mode, kind, credits, period_starts_at, state, outcome, created_at, finished_at, duration_ms)
select gen_random_uuid()::text, ${idSql('account', 'n')}, ${idSql('key', 'n')}, 'live', case when r < 0.8 then 'image' else 'video' end, 1,
  ${timeSql(20, 1, '0')}, case when r < 0.02 then 'released' else 'settled' end,
  case when r < 0.02 then 'asset_undecodable' else 'delivered' end, ${time}, ${time}, (40 + r * 400)::int
from ${numbers(sizes.accounts, sizes.holds)}`;
}

/** The sums of each day, as the ledger would have written them. */
function sums(): string {
  return `
insert into usage_days (account_id, day, mode, outcome, renders, credits)
select account_id, left(finished_at, 10), mode, outcome, count(*), sum(case state when 'settled' then credits else 0 end)
from holds group by 1, 2, 3, 4`;
}

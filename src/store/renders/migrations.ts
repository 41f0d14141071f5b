// The schema of renders that outlive their request, step by step. They were originally called render jobs.

import type { Migration } from '../migration.ts';

/**
 * Adds renders that outlive their request. The row of `renders` with the same id is the hold of its credits. `due_at`
 * is when a server may claim the render: at once, after a pause, or when the lease of the server that renders it has
 * run out.
 */
export const RENDER_TABLES: Migration = {
  common: `
  create table render_batches (
    id text primary key,
    account_id text not null references accounts (id),
    key_id text,
    mode text not null check (mode in ('live', 'test')),
    created_at text not null
  ) strict;
  create table render_jobs (
    id text primary key,
    account_id text not null references accounts (id),
    key_id text,
    mode text not null check (mode in ('live', 'test')),
    batch_id text references render_batches (id),
    idempotency_key text,
    status text not null check (status in ('queued', 'rendering', 'succeeded', 'failed', 'canceled')),
    lane text not null check (lane in ('image', 'video', 'fetch')),
    request text not null,
    plan text not null,
    period_starts_at text not null,
    period_ends_at text not null,
    renews integer not null check (renews in (0, 1)),
    max_running integer not null,
    asset text,
    asset_format text,
    asset_bytes integer not null default 0,
    asset_sha256 text,
    has_asset integer not null default 0 check (has_asset in (0, 1)),
    owner text,
    due_at text not null,
    attempts integer not null default 0,
    progress integer not null default 0,
    source_type text,
    credits integer,
    result text,
    error text,
    output text,
    output_bytes integer not null default 0,
    has_output integer not null default 0 check (has_output in (0, 1)),
    token text unique,
    expires_at text,
    created_at text not null,
    started_at text,
    finished_at text
  ) strict;
  create index render_jobs_due on render_jobs (lane, due_at) where status in ('queued', 'rendering');
  create index render_jobs_active on render_jobs (account_id, status) where status in ('queued', 'rendering');
  create index render_jobs_by_account on render_jobs (account_id, created_at, id);
  create index render_jobs_by_start on render_jobs (account_id, started_at);
  create index render_jobs_by_batch on render_jobs (batch_id);
  create index render_jobs_by_end on render_jobs (finished_at);
  create index render_jobs_assets on render_jobs (account_id) where has_asset = 1;
  create index render_jobs_outputs on render_jobs (expires_at) where has_output = 1;
  create table render_events (
    id text primary key,
    account_id text not null references accounts (id),
    render_id text not null,
    type text not null,
    created_at text not null,
    handled_at text
  ) strict;
  create index render_events_pending on render_events (created_at, id) where handled_at is null;
  create index render_events_by_age on render_events (created_at);
  `,
  isCompatible: true,
};

/** Finds the stored render that repeats a request with the same idempotency key. */
export const RENDERS_BY_KEY: Migration = {
  common: `create index render_jobs_by_key on render_jobs (account_id, idempotency_key, created_at)
    where idempotency_key is not null;
`,
  isCompatible: true,
};

// Adds the bytes that the uploads and results of stored renders take up, per account and in total. The database itself
// maintains the sums whenever a row of `render_jobs` changes, so they are right for every statement and also for older
// programs.

const bytesOf = (row: 'old' | 'new'): string =>
  `${row}.has_asset * ${row}.asset_bytes + ${row}.has_output * ${row}.output_bytes`;

/** The total has a row for each first character of account ids, so that accounts rarely wait for each other. */
const shardOf = (account: string): string => `substr(${account}, 1, 1)`;

export const addToSums = (account: string, bytes: string): string =>
  `insert into stored_bytes (account_id, bytes) values (${account}, ${bytes})
      on conflict (account_id) do update set bytes = stored_bytes.bytes + excluded.bytes;
    insert into stored_bytes_total (shard, bytes) values (${shardOf(account)}, ${bytes})
      on conflict (shard) do update set bytes = stored_bytes_total.bytes + excluded.bytes;`;

const COLUMNS = 'has_asset, asset_bytes, has_output, output_bytes';
/** An account without stored bytes has no row, so nothing is left of a deleted account. */
export const REMOVE_EMPTY = 'delete from stored_bytes where account_id = old.account_id and bytes = 0;';

/** SQLite needs three triggers. PostgreSQL has one function for all three. */
const sqliteTriggers = (table: string): string => `
create trigger ${table}_stored_insert after insert on ${table} when ${bytesOf('new')} <> 0
  begin
    ${addToSums('new.account_id', bytesOf('new'))}
  end;
create trigger ${table}_stored_update after update of ${COLUMNS} on ${table}
  when ${bytesOf('new')} <> ${bytesOf('old')}
  begin
    ${addToSums('new.account_id', `${bytesOf('new')} - (${bytesOf('old')})`)}
    ${REMOVE_EMPTY}
  end;
create trigger ${table}_stored_delete after delete on ${table} when ${bytesOf('old')} <> 0
  begin
    ${addToSums('old.account_id', `-(${bytesOf('old')})`)}
    ${REMOVE_EMPTY}
  end;
`;

export const STORED_BYTES: Migration = {
  common: `
create table stored_bytes (
  account_id text primary key,
  bytes integer not null
) strict;
create table stored_bytes_total (
  shard text primary key,
  bytes integer not null
) strict;
insert into stored_bytes (account_id, bytes)
  select account_id, sum(has_asset * asset_bytes + has_output * output_bytes)
  from render_jobs where has_asset = 1 or has_output = 1 group by account_id;
insert into stored_bytes_total (shard, bytes)
  select ${shardOf('account_id')}, sum(bytes) from stored_bytes group by 1;
`,
  sqlite: sqliteTriggers('render_jobs'),
  postgres: `
create function add_stored_bytes(account text, more bigint) returns void language plpgsql as $body$
  begin
    ${addToSums('account', 'more')}
    delete from stored_bytes where account_id = account and bytes = 0;
  end
$body$;
create function render_jobs_stored() returns trigger language plpgsql as $body$
  begin
    if tg_op = 'INSERT' then perform add_stored_bytes(new.account_id, ${bytesOf('new')});
    elsif tg_op = 'DELETE' then perform add_stored_bytes(old.account_id, -(${bytesOf('old')}));
    else perform add_stored_bytes(new.account_id, ${bytesOf('new')} - (${bytesOf('old')}));
    end if;
    return null;
  end
$body$;
create trigger render_jobs_stored_insert after insert on render_jobs
  for each row when (${bytesOf('new')} <> 0) execute function render_jobs_stored();
create trigger render_jobs_stored_update after update of ${COLUMNS} on render_jobs
  for each row when (${bytesOf('new')} <> ${bytesOf('old')}) execute function render_jobs_stored();
create trigger render_jobs_stored_delete after delete on render_jobs
  for each row when (${bytesOf('old')} <> 0) execute function render_jobs_stored();
`,
  isCompatible: true,
};

/**
 * Adds renders that outlive their request. `is_due` means that a render may be claimed whatever the clock says. Sums of
 * bytes and test renders have tables of their own, so three indexes are gone.
 */
export const RENDERS: Migration = {
  common: `
alter table render_jobs rename to renders;
alter table renders add column is_due integer not null default 0 check (is_due in (0, 1));
update renders set is_due = 1, due_at = created_at where due_at = '';
alter table renders add column claimed_at text;
update renders set claimed_at = started_at;
drop index render_jobs_by_account;
drop index render_jobs_by_start;
drop index render_jobs_outputs;
drop index render_jobs_queue;
drop index render_jobs_rendering;
drop index render_jobs_of_batch;
drop index render_jobs_old;
drop index render_jobs_asset_bytes;
drop index render_jobs_output_bytes;
drop index render_jobs_ended_assets;
drop index render_jobs_tests;
drop index render_jobs_by_key;
create index renders_by_account on renders (account_id, created_at, id);
create index renders_by_claim on renders (account_id, claimed_at);
create index renders_outputs on renders (expires_at) where has_output = 1;
create index renders_queue on renders (lane, account_id, is_due, due_at, created_at, id)
  where status in ('queued', 'rendering');
create index renders_claimed on renders (account_id, due_at) where owner is not null;
create index renders_of_batch on renders (batch_id, account_id, created_at, id);
create index renders_old on renders (finished_at) where has_asset = 0 and has_output = 0;
create index renders_ended_assets on renders (id) where has_asset = 1 and status in ('succeeded', 'failed', 'canceled');
create index renders_by_key on renders (account_id, idempotency_key, created_at) where idempotency_key is not null;
`,
  sqlite: `
drop trigger render_jobs_stored_insert;
drop trigger render_jobs_stored_update;
drop trigger render_jobs_stored_delete;
${sqliteTriggers('renders')}
`,
  postgres: `
alter index render_jobs_pkey rename to renders_pkey;
alter index render_jobs_token_key rename to renders_token_key;
alter function render_jobs_stored() rename to renders_stored;
alter trigger render_jobs_stored_insert on renders rename to renders_stored_insert;
alter trigger render_jobs_stored_update on renders rename to renders_stored_update;
alter trigger render_jobs_stored_delete on renders rename to renders_stored_delete;
`,
};

/**
 * Adds renders whose file is sent to a URL of the caller: the object that has the URL, and the lane of files to send. An older
 * program never claims that lane.
 */
export const PUT_TARGETS: Migration = {
  common: `
alter table renders add column target text;
alter table renders add column has_target integer not null default 0 check (has_target in (0, 1));
create index renders_ended_targets on renders (id) where has_target = 1 and status in ('succeeded', 'failed', 'canceled');
`,
  // SQLite can't change the condition of a column.
  sqlite: `
drop index renders_queue;
drop index renders_waiting_since;
alter table renders add column new_lane text not null default 'image' check (new_lane in ('image', 'video', 'fetch', 'put'));
update renders set new_lane = lane where lane <> 'image';
alter table renders drop column lane;
alter table renders rename column new_lane to lane;
create index renders_queue on renders (lane, account_id, is_due, due_at, created_at, id)
  where status in ('queued', 'rendering');
create index renders_waiting_since on renders (lane, created_at) where status in ('queued', 'rendering');
`,
  postgres: `
alter table renders drop constraint render_jobs_lane_check;
alter table renders add constraint renders_lane_check check (lane in ('image', 'video', 'fetch', 'put'));
`,
  isCompatible: true,
};

/**
 * Adds the receiver that a file is sent to, as the account and the origin of its URL. Renders from before count as if they had one
 * per account, and those that an older program still adds share one.
 */
export const PUT_RECEIVERS: Migration = {
  common: `
alter table renders add column receiver text not null default '-';
update renders set receiver = account_id where target is not null and status in ('queued', 'rendering');
create index renders_to_send on renders (receiver, is_due, due_at, created_at, id)
  where lane = 'put' and status in ('queued', 'rendering');
`,
  isCompatible: true,
};

// The tables of renders that outlive their request.

import { type FormerTables, type Migration, unchanged } from '../migration.ts';

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

/**
 * The row of `holds` with the same id is the hold of a render's credits. `due_at` is when a server may claim the render: after a
 * pause, or when the lease of the server that renders it has run out. `is_due` means that it may be claimed whatever the
 * clock says. `target` is the object with the URL of the caller that the file is sent to, and `receiver` the account and the
 * origin of that URL.
 *
 * `stored_bytes` are the bytes that uploads and results take up, per account and in total. The database itself maintains the
 * sums whenever a row changes. SQLite needs three triggers for that. PostgreSQL has one function for all three.
 */
export const RENDERS: Migration = {
  common: `
create table render_batches (
  id text primary key,
  account_id text not null references accounts (id),
  key_id text,
  mode text not null check (mode in ('live', 'test')),
  created_at text not null
) strict;
create index render_batches_by_account on render_batches (account_id, created_at, id);
create index render_batches_by_age on render_batches (created_at);
create table renders (
  id text primary key,
  account_id text not null references accounts (id),
  key_id text,
  mode text not null check (mode in ('live', 'test')),
  batch_id text references render_batches (id),
  idempotency_key text,
  status text not null check (status in ('queued', 'rendering', 'succeeded', 'failed', 'canceled')),
  lane text not null check (lane in ('image', 'video', 'fetch', 'put')),
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
  finished_at text,
  is_due integer not null default 0 check (is_due in (0, 1)),
  claimed_at text,
  target text,
  has_target integer not null default 0 check (has_target in (0, 1)),
  receiver text,
  check ((target is null) = (receiver is null))
) strict;
create index renders_by_account on renders (account_id, created_at, id);
create index renders_by_claim on renders (account_id, claimed_at);
create index renders_outputs on renders (expires_at) where has_output = 1;
create index renders_queue on renders (lane, account_id, is_due, due_at, created_at, id)
  where status in ('queued', 'rendering');
create index renders_to_send on renders (receiver, is_due, due_at, created_at, id)
  where lane = 'put' and status in ('queued', 'rendering');
create index renders_waiting_since on renders (lane, created_at) where status in ('queued', 'rendering');
create index renders_claimed on renders (account_id, due_at) where owner is not null;
create index renders_of_batch on renders (batch_id, account_id, created_at, id);
create index renders_old on renders (finished_at) where has_asset = 0 and has_output = 0;
create index renders_ended_assets on renders (id) where has_asset = 1 and status in ('succeeded', 'failed', 'canceled');
create index renders_ended_targets on renders (id) where has_target = 1 and status in ('succeeded', 'failed', 'canceled');
create index renders_by_key on renders (account_id, idempotency_key, created_at) where idempotency_key is not null;
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
create index render_events_by_account on render_events (account_id);
create table stored_bytes (
  account_id text primary key,
  bytes integer not null
) strict;
create table stored_bytes_total (
  shard text primary key,
  bytes integer not null
) strict;
`,
  sqlite: `
create trigger renders_stored_insert after insert on renders when ${bytesOf('new')} <> 0
  begin
    ${addToSums('new.account_id', bytesOf('new'))}
  end;
create trigger renders_stored_update after update of ${COLUMNS} on renders
  when ${bytesOf('new')} <> ${bytesOf('old')}
  begin
    ${addToSums('new.account_id', `${bytesOf('new')} - (${bytesOf('old')})`)}
    ${REMOVE_EMPTY}
  end;
create trigger renders_stored_delete after delete on renders when ${bytesOf('old')} <> 0
  begin
    ${addToSums('old.account_id', `-(${bytesOf('old')})`)}
    ${REMOVE_EMPTY}
  end;
`,
  postgres: `
create function add_stored_bytes(account text, more bigint) returns void language plpgsql as $body$
  begin
    ${addToSums('account', 'more')}
    delete from stored_bytes where account_id = account and bytes = 0;
  end
$body$;
create function renders_stored() returns trigger language plpgsql as $body$
  begin
    if tg_op = 'INSERT' then perform add_stored_bytes(new.account_id, ${bytesOf('new')});
    elsif tg_op = 'DELETE' then perform add_stored_bytes(old.account_id, -(${bytesOf('old')}));
    else perform add_stored_bytes(new.account_id, ${bytesOf('new')} - (${bytesOf('old')}));
    end if;
    return null;
  end
$body$;
create trigger renders_stored_insert after insert on renders
  for each row when (${bytesOf('new')} <> 0) execute function renders_stored();
create trigger renders_stored_update after update of ${COLUMNS} on renders
  for each row when (${bytesOf('new')} <> ${bytesOf('old')}) execute function renders_stored();
create trigger renders_stored_delete after delete on renders
  for each row when (${bytesOf('old')} <> 0) execute function renders_stored();
`,
};

/** Renders were called render jobs. An empty `due_at` stood for `is_due`. */
export const FORMER_RENDERS: FormerTables = {
  ...unchanged('render_batches'),
  render_jobs: `
insert into renders
  select *, case due_at when '' then 1 else 0 end, started_at, null, 0, null from old_render_jobs;
update renders set due_at = created_at where due_at = '';
insert into stored_bytes (account_id, bytes)
  select account_id, sum(has_asset * asset_bytes + has_output * output_bytes)
  from renders where has_asset = 1 or has_output = 1 group by account_id;
insert into stored_bytes_total (shard, bytes)
  select ${shardOf('account_id')}, sum(bytes) from stored_bytes group by 1;
`,
  ...unchanged('render_events'),
};

// How many bytes the uploads and results of stored renders take up, per account and in all. The database keeps the sums itself
// whenever a row of `render_jobs` changes, so they are right for every statement and also for older programs.

import type { Migration } from '../migrations.ts';

const bytesOf = (row: 'old' | 'new'): string =>
  `${row}.has_asset * ${row}.asset_bytes + ${row}.has_output * ${row}.output_bytes`;

/** The sum of all accounts has a row for each first character of their ids, so that they rarely wait for each other. */
const shardOf = (account: string): string => `substr(${account}, 1, 1)`;

const addToSums = (account: string, bytes: string): string =>
  `insert into stored_bytes (account_id, bytes) values (${account}, ${bytes})
      on conflict (account_id) do update set bytes = stored_bytes.bytes + excluded.bytes;
    insert into stored_bytes_total (shard, bytes) values (${shardOf(account)}, ${bytes})
      on conflict (shard) do update set bytes = stored_bytes_total.bytes + excluded.bytes;`;

const COLUMNS = 'has_asset, asset_bytes, has_output, output_bytes';
/** An account without stored bytes has no row, so nothing is left of a deleted account. */
const REMOVE_EMPTY = 'delete from stored_bytes where account_id = old.account_id and bytes = 0;';

/** PostgreSQL has a function for all three. */
export const sqliteTriggers = (table: string): string => `
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

// Tables are called what they hold, and a column without a value is null. Programs without these migrations can't use the
// database: the tables they name are gone, or have other columns, so their statements fail and change nothing.

import type { Migration } from '../migrations.ts';
import { sqliteTriggers } from './stored-bytes.ts';

/** Allows null in a text column, and replaces the text that stood for it. */
function allowNull(table: string, column: string, sentinel: string): Required<Pick<Migration, 'sqlite' | 'postgres'>> {
  return {
    // SQLite can't change a column.
    sqlite: `
alter table ${table} add column nullable_${column} text;
update ${table} set nullable_${column} = ${column} where ${column} <> '${sentinel}';
alter table ${table} drop column ${column};
alter table ${table} rename column nullable_${column} to ${column};
`,
    postgres: `
alter table ${table} alter column ${column} drop not null;
update ${table} set ${column} = null where ${column} = '${sentinel}';
`,
  };
}

const HOLD_OWNER = allowNull('holds', 'owner', 'renders');

/** The holds of credits. Those of asynchronous renders belong to no server. */
export const HOLDS: Migration = {
  common: `
alter table renders rename to holds;
drop index renders_by_account;
drop index renders_by_end;
drop index renders_by_account_end;
drop index renders_reserved;
create index holds_by_account on holds (account_id, created_at);
create index holds_by_end on holds (finished_at);
create index holds_by_account_end on holds (account_id, finished_at);
delete from owners where id = 'renders';
`,
  sqlite: `${HOLD_OWNER.sqlite} create index holds_reserved on holds (owner) where state = 'reserved';`,
  postgres: `${HOLD_OWNER.postgres} create index holds_reserved on holds (owner) where state = 'reserved';
alter index renders_pkey rename to holds_pkey;
`,
};

const KEY_OWNER = allowNull('idempotency', 'owner', 'renders');
const CODE = allowNull('requests', 'code', '');

export const REQUESTS_WITH_NULLS: Migration = {
  common: 'drop index idempotency_running;',
  sqlite: `${KEY_OWNER.sqlite} ${CODE.sqlite}
create index idempotency_running on idempotency (owner) where state = 'running';
`,
  postgres: `${KEY_OWNER.postgres} ${CODE.postgres}
create index idempotency_running on idempotency (owner) where state = 'running';
`,
};

/**
 * Renders that outlive their request. `is_due` says that a render may be claimed whatever the clock says. Sums of bytes and
 * test renders have tables of their own, so three indexes are gone.
 */
export const RENDERS: Migration = {
  common: `
alter table render_jobs rename to renders;
alter table renders add column is_due integer not null default 0 check (is_due in (0, 1));
update renders set is_due = 1, due_at = created_at where due_at = '';
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
create index renders_by_start on renders (account_id, started_at);
create index renders_outputs on renders (expires_at) where has_output = 1;
create index renders_queue on renders (lane, account_id, is_due, due_at, created_at, id)
  where status in ('queued', 'rendering');
create index renders_rendering on renders (account_id, due_at) where status = 'rendering';
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

/** As for renders. `due_at` began with a 0 instead. */
export const DUE_DELIVERIES: Migration = {
  common: `
alter table webhook_deliveries add column is_due integer not null default 0 check (is_due in (0, 1));
update webhook_deliveries set is_due = 1, due_at = substr(due_at, 2) where due_at < '1';
drop index webhook_deliveries_due;
create index webhook_deliveries_due on webhook_deliveries (lane, is_due, due_at) where status = 'pending';
`,
};

const USER_AGENT = allowNull('sessions', 'user_agent', '');

/**
 * A user has no email until the address is confirmed, and no password until one is chosen. Tokens are signed with a key of their
 * own, which changes with the password. Until now that was the hash of the password.
 */
export const USERS_WITH_NULLS: Migration = {
  common: '',
  sqlite: `${USER_AGENT.sqlite}
create table new_users (
  id text primary key,
  account_id text not null references accounts (id),
  email text unique,
  unconfirmed_email text,
  role text not null check (role in ('member', 'operator')),
  account_role text not null default 'owner' check (account_role in ('owner', 'member', 'billing')),
  password_hash text,
  token_key text not null,
  created_at text not null,
  check (email is not null or unconfirmed_email is not null)
) strict;
insert into new_users (id, account_id, email, unconfirmed_email, role, account_role, password_hash, token_key, created_at)
  select id, account_id, case when unconfirmed_email is null then email end, unconfirmed_email, role, account_role,
    case has_password when 1 then password_hash end, password_hash, created_at
  from users;
drop table users;
alter table new_users rename to users;
create index users_by_account on users (account_id);
create index users_unconfirmed on users (account_id) where unconfirmed_email is not null;
`,
  postgres: `${USER_AGENT.postgres}
alter table users alter column email drop not null, alter column password_hash drop not null, add column token_key text;
update users set token_key = password_hash,
  email = case when unconfirmed_email is null then email end,
  password_hash = case has_password when 1 then password_hash end;
alter table users alter column token_key set not null, drop column has_password,
  add check (email is not null or unconfirmed_email is not null);
`,
};

// The tables of the request log and of idempotency keys.

import type { FormerTables, Migration } from '../migration.ts';

/** The key of an asynchronous render belongs to no server, so its owner is null. */
export const REQUESTS: Migration = {
  common: `
create table idempotency (
  account_id text not null references accounts (id),
  key text not null,
  fingerprint text not null,
  render_id text not null,
  owner text,
  state text not null check (state in ('running', 'done')),
  facts text,
  expires_at text not null,
  primary key (account_id, key)
) strict;
create index idempotency_by_expiry on idempotency (expires_at);
create index idempotency_running on idempotency (owner) where state = 'running';
create table requests (
  id text primary key,
  account_id text not null references accounts (id),
  at text not null,
  key_id text,
  path text not null,
  status integer not null,
  code text,
  duration_ms integer not null,
  credits integer not null,
  bytes_in integer not null,
  bytes_out integer not null,
  faults text not null
) strict;
create index requests_by_account on requests (account_id, at, id);
create index requests_by_time on requests (at);
`,
  // Deleted requests slow down statements that pass them. By default, PostgreSQL removes them when they are a fifth of the table.
  postgres: 'alter table requests set (autovacuum_vacuum_scale_factor = 0.02);',
};

export const FORMER_REQUESTS: FormerTables = {
  idempotency: `
update old_idempotency set owner = null where owner = 'renders';
insert into idempotency select * from old_idempotency;
`,
  requests: `
update old_requests set code = null where code = '';
insert into requests select * from old_requests;
`,
};

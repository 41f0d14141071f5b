// The tables of credits and usage.

import { type FormerTables, type Migration, unchanged } from '../migration.ts';

/**
 * The deliveries of a period are those of renders that cost credits, and `granted` are credits that an operator has added.
 * `trusted_time` has one row with the time that the servers agree on. A hold of an asynchronous render belongs to no server, so its
 * owner is null. `test_renders` counts those of an account on one day. `usage_details` has usage per key and type as JSON, one
 * row per account and day that is over. A row of `credit_notices` is an email about used credits, and its `sent_at` is null while a
 * server sends it.
 */
export const LEDGER: Migration = {
  common: `
create table periods (
  account_id text not null references accounts (id),
  starts_at text not null,
  ends_at text not null,
  used integer not null default 0 check (used >= 0),
  reserved integer not null default 0 check (reserved >= 0),
  delivered integer not null default 0,
  broken_free integer not null default 0,
  broken_charged integer not null default 0,
  granted integer not null default 0,
  primary key (account_id, starts_at)
) strict;
create index periods_by_end on periods (ends_at, used, account_id, starts_at);
create table owners (
  id text primary key,
  alive_until text not null
) strict;
create table trusted_time (
  id integer primary key check (id = 1),
  trusted_at text not null,
  jumped_at text
) strict;
create table holds (
  id text primary key,
  account_id text not null references accounts (id),
  key_id text,
  mode text not null check (mode in ('live', 'test')),
  kind text not null check (kind in ('image', 'video', 'overlay')),
  credits integer not null check (credits >= 0),
  period_starts_at text not null,
  state text not null check (state in ('reserved', 'settled', 'released')),
  outcome text not null,
  owner text,
  created_at text not null,
  finished_at text,
  duration_ms integer,
  is_counted_test integer not null default 0 check (is_counted_test in (0, 1))
) strict;
create index holds_by_account on holds (account_id, created_at);
create index holds_by_end on holds (finished_at);
create index holds_by_account_end on holds (account_id, finished_at);
create index holds_reserved on holds (owner) where state = 'reserved';
create table test_renders (
  account_id text primary key references accounts (id),
  day text not null,
  renders integer not null check (renders >= 0)
) strict;
create table usage_days (
  account_id text not null references accounts (id),
  day text not null,
  mode text not null,
  outcome text not null,
  renders integer not null,
  credits integer not null,
  primary key (account_id, day, mode, outcome)
) strict;
create index usage_days_of_service on usage_days (day, account_id, mode, outcome, renders, credits);
create table usage_details (
  account_id text not null references accounts (id),
  day text not null,
  details text not null,
  primary key (account_id, day)
) strict;
create table credit_notices (
  user_id text not null references users (id),
  period_starts_at text not null,
  percent integer not null,
  claimed_at text not null,
  sent_at text,
  credits integer,
  primary key (user_id, period_starts_at, percent)
) strict;
`,
};

/** Holds were called renders, and those of asynchronous renders had an owner of this name. */
export const FORMER_LEDGER: FormerTables = {
  owners: "insert into owners select * from old_owners where id <> 'renders';",
  renders: `
update old_renders set owner = null where owner = 'renders';
insert into holds select *, 0 from old_renders;
`,
  ...unchanged('periods', 'trusted_time', 'usage_days', 'usage_details', 'credit_notices'),
};

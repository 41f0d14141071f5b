// The schema of credits and usage, step by step. Holds were originally called renders.

import { allowNull, type Migration } from '../migration.ts';

export const LEDGER: Migration = {
  common: `  create table periods (
    account_id text not null references accounts (id),
    starts_at text not null,
    ends_at text not null,
    used integer not null default 0 check (used >= 0),
    reserved integer not null default 0 check (reserved >= 0),
    primary key (account_id, starts_at)
  ) strict;

  create table owners (
    id text primary key,
    alive_until text not null
  ) strict;

  create table renders (
    id text primary key,
    account_id text not null references accounts (id),
    key_id text,
    mode text not null check (mode in ('live', 'test')),
    kind text not null check (kind in ('image', 'video', 'overlay')),
    credits integer not null check (credits >= 0),
    period_starts_at text not null,
    state text not null check (state in ('reserved', 'settled', 'released')),
    outcome text not null,
    owner text not null,
    created_at text not null,
    finished_at text,
    duration_ms integer
  ) strict;
  create index renders_by_account on renders (account_id, created_at);
  create index renders_by_end on renders (finished_at);
  create index renders_reserved on renders (owner) where state = 'reserved';

  create table usage_days (
    account_id text not null references accounts (id),
    day text not null,
    mode text not null,
    outcome text not null,
    renders integer not null,
    credits integer not null,
    primary key (account_id, day, mode, outcome)
  ) strict;

`,
};

/**
 * Adds the deliveries of a period for renders that cost credits (a period that has started counts from here on), and
 * one row with the time that the servers agree on.
 */
export const DELIVERY_COUNTS: Migration = {
  common: `
  alter table periods add column delivered integer not null default 0;
  alter table periods add column broken_free integer not null default 0;
  alter table periods add column broken_charged integer not null default 0;
  create table trusted_time (
    id integer primary key check (id = 1),
    trusted_at text not null,
    jumped_at text
  ) strict;
  `,
};

/** Speeds up the usage per key. */
export const USAGE_BY_KEY: Migration = {
  common: `create index renders_by_account_end on renders (account_id, finished_at);`,
  isCompatible: true,
};

/** Usage per key and type, one row per account and day that is over; `details` is JSON. */
export const USAGE_DETAILS: Migration = {
  common: `
create table usage_details (
  account_id text not null references accounts (id),
  day text not null,
  details text not null,
  primary key (account_id, day)
) strict;
`,
  isCompatible: true,
};

/** The credits of the period when an email about used credits was sent. Null in rows of programs without this column. */
export const CREDIT_NOTICE_LIMITS: Migration = {
  common: 'alter table credit_notices add column credits integer;',
  isCompatible: true,
};

/** The test renders of each account on one day, and which holds were counted there. Programs without this migration count nothing. */
export const TEST_RENDERS: Migration = {
  common: `
  create table test_renders (
    account_id text primary key references accounts (id),
    day text not null,
    renders integer not null check (renders >= 0)
  ) strict;
  alter table renders add column is_counted_test integer not null default 0 check (is_counted_test in (0, 1));
  `,
  isCompatible: true,
};

const HOLD_OWNER = allowNull('holds', 'owner', 'renders');

/** Adds the table of credit holds. Those of asynchronous renders belong to no server. */
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

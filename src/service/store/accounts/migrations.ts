// The tables of accounts, keys and subscriptions.

import { type FormerTables, type Migration, unchanged } from '../migration.ts';

/**
 * `awaits_approval` marks accounts whose live keys work only after the operator approves them. `created_by` is the user who
 * created a key; null for one of the command line.
 */
export const ACCOUNTS: Migration = {
  common: `
create table accounts (
  id text primary key,
  name text not null,
  state text not null default 'active' check (state in ('active', 'suspended')),
  created_at text not null,
  deleted_at text,
  awaits_approval integer not null default 0 check (awaits_approval in (0, 1))
) strict;
create index accounts_by_age on accounts (created_at, id);
create index accounts_deleted on accounts (deleted_at) where deleted_at is not null;
create index accounts_awaiting_approval on accounts (created_at, id) where awaits_approval = 1;
create table api_keys (
  id text primary key,
  account_id text not null references accounts (id),
  name text not null,
  mode text not null check (mode in ('live', 'test')),
  state text not null default 'active' check (state in ('active', 'suspended', 'revoked')),
  hash text not null unique,
  prefix text not null,
  last_four text not null,
  created_at text not null,
  last_used_at text,
  expires_at text,
  allowed_origins text,
  created_by text
) strict;
create index api_keys_by_account on api_keys (account_id);
create table subscriptions (
  account_id text primary key references accounts (id),
  plan text not null,
  next_plan text,
  status text not null check (status in ('active', 'inactive')),
  renews integer not null check (renews in (0, 1)),
  provider text not null check (provider in ('manual', 'stripe', 'marketplace')),
  provider_subscription text,
  anchor_at text not null,
  period_starts_at text not null,
  period_ends_at text not null
) strict;
create table customers (
  account_id text primary key references accounts (id),
  customer text not null unique,
  revision integer not null default 0
) strict;
create table payment_events (
  id text primary key,
  type text not null,
  received_at text not null
) strict;
create index payment_events_by_age on payment_events (received_at);
`,
};

/** The creators of earlier keys are known from the audit log. */
export const FORMER_ACCOUNTS: FormerTables = {
  accounts: 'insert into accounts select *, 0 from old_accounts;',
  api_keys: `
insert into api_keys select k.*, substr(e.actor, 6) from old_api_keys k left join old_audit e
  on e.account_id = k.account_id and e.subject = k.id and e.action = 'key.created' and e.actor like 'user:%';
`,
  ...unchanged('subscriptions', 'customers', 'payment_events'),
};

// The schema of accounts, keys and subscriptions, step by step.

import type { Migration } from '../migration.ts';

export const ACCOUNTS: Migration = {
  common: `
  create table accounts (
    id text primary key,
    name text not null,
    plan text not null,
    state text not null default 'active' check (state in ('active', 'inactive', 'suspended')),
    created_at text not null
  ) strict;
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
    last_used_at text
  ) strict;
  create index api_keys_by_account on api_keys (account_id);
  `,
};

export const SUBSCRIPTIONS: Migration = {
  common: `
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
    customer text not null unique
  ) strict;
  insert into subscriptions (account_id, plan, status, renews, provider, anchor_at, period_starts_at, period_ends_at)
    select id, plan, case state when 'inactive' then 'inactive' else 'active' end, 1, 'manual',
           created_at, created_at, created_at
    from accounts;
  alter table accounts drop column plan;
  create index accounts_by_age on accounts (created_at, id);
  update accounts set state = 'active' where state = 'inactive';

  alter table api_keys add column expires_at text;
  alter table api_keys add column allowed_origins text;

  create table payment_events (
    id text primary key,
    type text not null,
    received_at text not null
  ) strict;

`,
};

export const CUSTOMER_REVISIONS: Migration = {
  common: `alter table customers add column revision integer not null default 0;`,
};

/**
 * Adds accounts whose live keys work only after the operator approves them (existing accounts need no approval), the
 * user who created a key (known from the audit log for existing keys), and a mark for links that were emailed to their
 * address, unlike those that an operator hands over.
 */
export const APPROVAL_AND_KEY_CREATORS: Migration = {
  common: `
alter table accounts add column awaits_approval integer not null default 0 check (awaits_approval in (0, 1));
create index accounts_awaiting_approval on accounts (created_at, id) where awaits_approval = 1;
alter table api_keys add column created_by text;
update api_keys set created_by = (
  select substr(e.actor, 6) from audit e
  where e.account_id = api_keys.account_id and e.action = 'key.created' and e.subject = api_keys.id
    and e.actor like 'user:%'
);
alter table password_links add column is_mailed integer not null default 0 check (is_mailed in (0, 1));
`,
  isCompatible: true,
};

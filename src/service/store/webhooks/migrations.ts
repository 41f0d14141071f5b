// The tables of webhooks.

import { type FormerTables, type Migration, unchanged } from '../migration.ts';

/**
 * Webhook endpoints, messages, and every attempt to deliver them. `lane` is the endpoint, or one of the account's
 * lanes for a `webhook_url`; deliveries of one lane wait for each other. `due_at` is when a server may claim the
 * delivery: after a pause, or when the lease of the server that sends it has run out. `is_due` means that it may be claimed
 * whatever the clock says.
 */
export const WEBHOOKS: Migration = {
  common: `
create table webhook_endpoints (
  id text primary key,
  account_id text not null references accounts (id),
  url text not null,
  events text not null,
  state text not null check (state in ('enabled', 'disabled')),
  disabled_reason text check (disabled_reason in ('user', 'gone', 'failing')),
  disabled_at text,
  failing_since text,
  notice_due_at text,
  created_at text not null
) strict;
create index webhook_endpoints_by_account on webhook_endpoints (account_id, created_at, id);
create index webhook_endpoints_notices on webhook_endpoints (notice_due_at) where notice_due_at is not null;
create index webhook_endpoints_failing on webhook_endpoints (failing_since) where failing_since is not null;
create table webhook_secrets (
  id text primary key,
  account_id text not null references accounts (id),
  lane text not null,
  secret text not null,
  created_at text not null,
  expires_at text
) strict;
create index webhook_secrets_by_lane on webhook_secrets (lane, created_at);
create index webhook_secrets_by_account on webhook_secrets (account_id);
create table webhook_messages (
  id text primary key,
  account_id text not null references accounts (id),
  type text not null,
  body text not null,
  created_at text not null
) strict;
create index webhook_messages_by_age on webhook_messages (created_at);
create index webhook_messages_by_account on webhook_messages (account_id);
create table webhook_deliveries (
  id text primary key,
  account_id text not null references accounts (id),
  message_id text not null references webhook_messages (id),
  endpoint_id text,
  lane text not null,
  url text not null,
  status text not null check (status in ('pending', 'succeeded', 'failed')),
  due_at text not null,
  owner text,
  claims integer not null default 0,
  attempts integer not null default 0,
  last_status integer,
  last_error text,
  created_at text not null,
  finished_at text,
  is_due integer not null default 0 check (is_due in (0, 1))
) strict;
create index webhook_deliveries_due on webhook_deliveries (lane, is_due, due_at) where status = 'pending';
create index webhook_deliveries_waiting_since on webhook_deliveries (due_at) where status = 'pending';
create index webhook_deliveries_sending on webhook_deliveries (account_id, lane) where owner is not null;
create index webhook_deliveries_by_account on webhook_deliveries (account_id, created_at, id);
create index webhook_deliveries_by_endpoint on webhook_deliveries (endpoint_id, created_at, id);
create index webhook_deliveries_by_message on webhook_deliveries (message_id);
create table webhook_attempts (
  delivery_id text not null references webhook_deliveries (id),
  number integer not null,
  at text not null,
  duration_ms integer not null,
  request_headers text not null,
  status integer,
  content_type text,
  response text not null,
  error text,
  primary key (delivery_id, number)
) strict;
`,
};

/** A `due_at` that began with 0 stood for `is_due`. */
export const FORMER_WEBHOOKS: FormerTables = {
  ...unchanged('webhook_endpoints', 'webhook_secrets', 'webhook_messages'),
  webhook_deliveries: `
insert into webhook_deliveries
  select *, case when due_at < '1' then 1 else 0 end from old_webhook_deliveries;
update webhook_deliveries set due_at = substr(due_at, 2) where due_at < '1';
`,
  ...unchanged('webhook_attempts'),
};

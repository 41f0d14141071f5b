// The schema, and which programs can use which database. Every database stores the version of its schema and the oldest
// version whose programs still work with it, so that two versions of the program can run side by side during a rollout.

import { APPROVAL_AND_KEY_CREATORS } from './schema/approval-and-key-creators.ts';
import { CREDIT_NOTICE_LIMITS } from './schema/credit-notice-limits.ts';
import { LINKED_IDENTITIES } from './schema/linked-identities.ts';
import { PASSKEYS } from './schema/passkeys.ts';
import { PEOPLE_AND_CREDITS } from './schema/people-and-credits.ts';
import { BOUNDED_STATEMENTS } from './schema/bounded-statements.ts';
import { DUE_DELIVERIES, HOLDS, RENDERS, REQUESTS_WITH_NULLS, USERS_WITH_NULLS } from './schema/names-and-nulls.ts';
import { RENDERS_BY_KEY } from './schema/renders-by-key.ts';
import { STORED_BYTES } from './schema/stored-bytes.ts';
import { TEST_RENDERS } from './schema/test-renders.ts';
import { USAGE_DETAILS } from './schema/usage-details.ts';
import { WEBHOOK_TABLES } from './webhooks/webhook-tables.ts';

/** Times are ISO 8601 in UTC with milliseconds: text that sorts by time in both databases and is easy to read. */
export interface Migration {
  readonly common: string;
  /** Statements for one of the databases only. */
  readonly sqlite?: string;
  readonly postgres?: string;
  /**
   * Programs without this migration still work with the database, so both versions can run side by side. True for one that
   * only adds tables, indexes, or columns with a default, and keeps the meaning of everything else.
   */
  readonly isCompatible?: true;
}

/** Applied in order, each once, and never edited after a release. The index + 1 is the schema version. */
export const MIGRATIONS: readonly Migration[] = [
  {
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
  },
  {
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

  create table periods (
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

  create table idempotency (
    account_id text not null references accounts (id),
    key text not null,
    fingerprint text not null,
    render_id text not null,
    owner text not null,
    state text not null check (state in ('running', 'done')),
    facts text,
    expires_at text not null,
    primary key (account_id, key)
  ) strict;
  create index idempotency_by_expiry on idempotency (expires_at);
  create index idempotency_running on idempotency (owner) where state = 'running';

  create table payment_events (
    id text primary key,
    type text not null,
    received_at text not null
  ) strict;

  create table audit (
    seq integer primary key autoincrement,
    at text not null,
    actor text not null,
    action text not null,
    account_id text,
    subject text not null,
    details text not null
  ) strict;
  create index audit_by_account on audit (account_id, seq);
  `,
    sqlite: `
  create trigger audit_no_update before update on audit begin select raise(abort, 'the audit log only grows'); end;
  create trigger audit_no_delete before delete on audit begin select raise(abort, 'the audit log only grows'); end;
  create trigger audit_no_replace before insert on audit when exists (select 1 from audit where seq = new.seq)
    begin select raise(abort, 'the audit log only grows'); end;
  `,
    postgres: `
  create function audit_only_grows() returns trigger language plpgsql as $body$
    begin raise exception 'the audit log only grows'; end
  $body$;
  create trigger audit_no_change before update or delete or truncate on audit
    for each statement execute function audit_only_grows();
  `,
  },
  {
    // Shared by several servers from one second to the next. A crash of the database may lose it, hence `unlogged`.
    common: '',
    postgres: `
  create unlogged table rates (name text primary key, full_at double precision not null);
  create unlogged table places (
    account_id text not null,
    owner text not null,
    running bigint not null,
    primary key (account_id, owner)
  );
  `,
  },
  { common: 'alter table customers add column revision integer not null default 0;' },
  {
    common: `
  create table users (
    id text primary key,
    account_id text not null references accounts (id),
    email text not null unique,
    role text not null check (role in ('member', 'operator')),
    password_hash text not null,
    created_at text not null
  ) strict;
  create index users_by_account on users (account_id);
  create table sessions (
    hash text primary key,
    user_id text not null references users (id),
    created_at text not null,
    idle_until text not null,
    ends_at text not null
  ) strict;
  create index sessions_by_user on sessions (user_id);
  create table password_links (
    hash text primary key,
    email text not null,
    role text not null check (role in ('member', 'operator')),
    account_id text references accounts (id),
    created_at text not null,
    expires_at text not null
  ) strict;
  create index password_links_by_email on password_links (email);
  `,
  },
  {
    // Deliveries of the period, of renders that cost credits: a period that has started counts from here on. And the time
    // that the servers agree on, in one row.
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
  },
  // For the usage per key.
  { common: 'create index renders_by_account_end on renders (account_id, finished_at);', isCompatible: true },
  {
    // Renders that outlive their request; the row of `renders` with the same id is the hold of its credits. `due_at` is when a
    // server may claim the render: at once, after a pause, or when the lease of the server that renders it has run out.
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
  },
  {
    // Users who sign up before they confirm their address, the devices of sessions, and the log of API requests.
    common: `
  alter table users add column unconfirmed_email text;
  alter table password_links add column user_id text references users (id);
  alter table sessions add column user_agent text not null default '';
  create table requests (
    id text primary key,
    account_id text not null references accounts (id),
    at text not null,
    key_id text,
    path text not null,
    status integer not null,
    code text not null,
    duration_ms integer not null,
    credits integer not null,
    bytes_in integer not null,
    bytes_out integer not null,
    faults text not null
  ) strict;
  create index requests_by_account on requests (account_id, at, id);
  create index requests_by_time on requests (at);
  `,
    isCompatible: true,
  },
  WEBHOOK_TABLES,
  PEOPLE_AND_CREDITS,
  PASSKEYS,
  USAGE_DETAILS,
  CREDIT_NOTICE_LIMITS,
  LINKED_IDENTITIES,
  BOUNDED_STATEMENTS,
  STORED_BYTES,
  RENDERS_BY_KEY,
  APPROVAL_AND_KEY_CREATORS,
  TEST_RENDERS,
  HOLDS,
  RENDERS,
  DUE_DELIVERIES,
  USERS_WITH_NULLS,
  REQUESTS_WITH_NULLS,
];

export interface SchemaState {
  /** 0 for an empty database. */
  readonly version: number;
  /** Undefined if the program that migrated the database didn't store it. */
  readonly compatibleFrom: number | undefined;
}

/** The schema of this program. */
export const SCHEMA: Readonly<Required<SchemaState>> & { readonly compatibleFrom: number } = {
  version: MIGRATIONS.length,
  compatibleFrom: compatibleFrom(MIGRATIONS),
};

/** The version of the last migration that programs without it can't cope with. */
export function compatibleFrom(migrations: readonly Migration[]): number {
  return migrations.findLastIndex(({ isCompatible }) => isCompatible !== true) + 1;
}

/** The statements for one of the databases. Those in `common` are written for SQLite; PostgreSQL has other words for three things. */
export function statementsOf(
  { common, sqlite = '', postgres = '' }: Migration,
  dialect: 'sqlite' | 'postgres',
): string {
  if (dialect === 'sqlite') return common + sqlite;
  const translated = common
    .replaceAll(/\) strict;/gu, ');')
    .replaceAll('integer primary key autoincrement', 'bigint generated by default as identity primary key')
    .replaceAll(/\binteger\b/gu, 'bigint');
  return translated + postgres;
}

/** What has to be applied. Nothing if the database is newer but still works with this program, an error if it doesn't. */
export function pendingMigrations({ version, compatibleFrom: oldest = version }: SchemaState): readonly Migration[] {
  if (oldest <= SCHEMA.version) return MIGRATIONS.slice(version);
  throw new Error(
    `the database has schema ${version}, which needs a program with schema ${oldest} or newer; this one has schema ` +
      `${SCHEMA.version}. Install a newer version, or restore the backup from before the migration`,
  );
}

// The schema, and which programs can use which database. Every database stores the version of its schema and the oldest
// version whose programs still work with it, so that two versions of the program can run side by side during a rollout.

import { ACCOUNTS, APPROVAL_AND_KEY_CREATORS, CUSTOMER_REVISIONS, SUBSCRIPTIONS } from './accounts/migrations.ts';
import { BRAND_FILES, SAVED_STYLES } from './brand/migrations.ts';
import {
  LINKED_IDENTITIES,
  PASSKEYS,
  PEOPLE_AND_CREDITS,
  UNCONFIRMED_USERS,
  USERS,
  USERS_WITH_NULLS,
} from './people/migrations.ts';
import {
  CREDIT_NOTICE_LIMITS,
  DELIVERY_COUNTS,
  HOLDS,
  LEDGER,
  TEST_RENDERS,
  USAGE_BY_KEY,
  USAGE_DETAILS,
} from './ledger/migrations.ts';
import { INCIDENTS } from './incidents/migrations.ts';
import {
  PUT_RECEIVERS,
  PUT_TARGETS,
  RENDER_TABLES,
  RENDERS,
  RENDERS_BY_KEY,
  STORED_BYTES,
} from './renders/migrations.ts';
import { IDEMPOTENCY_KEYS, REQUESTS_WITH_NULLS, REQUEST_LOG, VACUUMED_REQUESTS } from './requests/migrations.ts';
import { DUE_DELIVERIES, WEBHOOK_TABLES } from './webhooks/migrations.ts';
import { type Migration, together } from './migration.ts';

const AUDIT_LOG: Migration = {
  common: `  create table audit (
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
};

/**
 * Limits that several servers share from one second to the next. A crash of the database may lose them, hence
 * `unlogged`.
 */
const SHARED_LIMITS: Migration = {
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
};

/**
 * Adds indexes for everything that is looked up while a server runs. SQLite uses a partial index only for statements
 * with exactly its condition. It also scans a whole table when a row is deleted that others may reference without an
 * index.
 */
const BOUNDED_STATEMENTS: Migration = {
  common: `
create index render_jobs_queue on render_jobs (lane, account_id, due_at, created_at, id)
  where status in ('queued', 'rendering');
create index render_jobs_rendering on render_jobs (account_id, due_at) where status = 'rendering';
create index render_jobs_of_batch on render_jobs (batch_id, account_id, created_at, id);
create index render_jobs_old on render_jobs (finished_at) where has_asset = 0 and has_output = 0;
create index render_jobs_asset_bytes on render_jobs (account_id, asset_bytes) where has_asset = 1;
create index render_jobs_output_bytes on render_jobs (account_id, output_bytes) where has_output = 1;
create index render_jobs_ended_assets on render_jobs (id)
  where has_asset = 1 and status in ('succeeded', 'failed', 'canceled');
create index render_jobs_tests on render_jobs (account_id, created_at) where mode = 'test';
drop index render_jobs_due;
drop index render_jobs_active;
drop index render_jobs_by_batch;
drop index render_jobs_by_end;
drop index render_jobs_assets;
create index render_batches_by_account on render_batches (account_id, created_at, id);
create index render_batches_by_age on render_batches (created_at);
create index render_events_by_account on render_events (account_id);
create index webhook_messages_by_account on webhook_messages (account_id);
create index webhook_secrets_by_account on webhook_secrets (account_id);
create index password_links_by_account on password_links (account_id);
create index password_links_by_user on password_links (user_id);
create index password_links_by_expiry on password_links (expires_at);
create index sessions_by_idle_end on sessions (idle_until);
create index sessions_by_end on sessions (ends_at);
create index invitations_by_expiry on invitations (expires_at);
create index passkey_challenges_by_expiry on passkey_challenges (expires_at);
create index payment_events_by_age on payment_events (received_at);
create index users_unconfirmed on users (account_id) where unconfirmed_email is not null;
create index usage_days_of_service on usage_days (day, account_id, mode, outcome, renders, credits);
drop index usage_days_by_day;
create index audit_by_actor on audit (account_id, actor, at);
`,
  sqlite: `
drop trigger audit_no_delete;
create trigger audit_no_delete before delete on audit
  when old.account_id is null or exists (select 1 from accounts where id = old.account_id and deleted_at is null)
  begin select raise(abort, 'the audit log only grows'); end;
`,
  postgres: `
create or replace function audit_keeps_accounts() returns trigger language plpgsql as $body$
  begin
    if old.account_id is null
       or exists (select 1 from accounts where id = old.account_id and deleted_at is null) then
      raise exception 'the audit log only grows';
    end if;
    return old;
  end
$body$;
`,
  isCompatible: true,
};

/** For the age of the oldest accepted render and of the latest webhook. */
const WAITING_SINCE: Migration = {
  common: `
create index renders_waiting_since on renders (lane, created_at) where status in ('queued', 'rendering');
create index webhook_deliveries_waiting_since on webhook_deliveries (due_at) where status = 'pending';
`,
  isCompatible: true,
};

/** The periodic tasks that one server does for all, one row each. */
const SHARED_TASKS: Migration = {
  common: `
create table shared_tasks (
  name text primary key,
  owner text,
  leased_until text,
  done_at text
) strict;
`,
  isCompatible: true,
};

/** Applied in order, each once, and never edited after a release. The index + 1 is the schema version. */
export const MIGRATIONS: readonly Migration[] = [
  ACCOUNTS,
  together(SUBSCRIPTIONS, LEDGER, IDEMPOTENCY_KEYS, AUDIT_LOG),
  SHARED_LIMITS,
  CUSTOMER_REVISIONS,
  USERS,
  DELIVERY_COUNTS,
  USAGE_BY_KEY,
  RENDER_TABLES,
  together(UNCONFIRMED_USERS, REQUEST_LOG),
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
  WAITING_SINCE,
  SHARED_TASKS,
  SAVED_STYLES,
  INCIDENTS,
  PUT_TARGETS,
  BRAND_FILES,
  VACUUMED_REQUESTS,
  PUT_RECEIVERS,
];

export interface SchemaState {
  /** 0 for an empty database. */
  readonly version: number;
  /** Undefined if the program that migrated the database didn't store it. */
  readonly compatibleFrom: number | undefined;
}

/** The schema that this program needs. */
export const SCHEMA: Readonly<Required<SchemaState>> & { readonly compatibleFrom: number } = {
  version: MIGRATIONS.length,
  compatibleFrom: compatibleFrom(MIGRATIONS),
};

/** Returns the version of the last migration that older programs can't cope with. */
export function compatibleFrom(migrations: readonly Migration[]): number {
  return migrations.findLastIndex(({ isCompatible }) => isCompatible !== true) + 1;
}

/**
 * Returns the migrations to apply: none if the database is newer but still works with this program. Throws if it
 * doesn't.
 */
export function pendingMigrations({ version, compatibleFrom: oldest = version }: SchemaState): readonly Migration[] {
  if (oldest <= SCHEMA.version) return MIGRATIONS.slice(version);
  throw new Error(
    `the database has schema ${version}, which needs a program with schema ${oldest} or newer; this one has schema ` +
      `${SCHEMA.version}. Install a newer version, or restore the backup from before the migration`,
  );
}

// Indexes for everything that is looked up while a server runs. SQLite uses a partial index only for statements with exactly its
// condition, and looks through a whole table when a row is deleted that others may reference without an index.

import type { Migration } from '../migrations.ts';

export const BOUNDED_STATEMENTS: Migration = {
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

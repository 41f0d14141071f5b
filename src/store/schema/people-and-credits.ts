// Emails about used-up credits, one row per user, period and percentage; `sent_at` is null while a server sends it.
// Accounts that their users deleted: once such an account is gone, its entries in the audit log can be deleted as well.
// Authenticator apps, with the last time step whose code was used. What users may do in their account, and invitations to
// it. Credits that an operator has added to a period.

import type { Migration } from '../migrations.ts';

export const PEOPLE_AND_CREDITS: Migration = {
  common: `
create table credit_notices (
  user_id text not null references users (id),
  period_starts_at text not null,
  percent integer not null,
  claimed_at text not null,
  sent_at text,
  primary key (user_id, period_starts_at, percent)
) strict;
create index periods_by_end on periods (ends_at, used, account_id, starts_at);
alter table accounts add column deleted_at text;
create index accounts_deleted on accounts (deleted_at) where deleted_at is not null;
create table authenticators (
  user_id text primary key references users (id),
  secret text not null,
  last_step integer not null,
  created_at text not null
) strict;
create table recovery_codes (
  user_id text not null references users (id),
  hash text not null,
  primary key (user_id, hash)
) strict;
alter table users add column account_role text not null default 'owner'
  check (account_role in ('owner', 'member', 'billing'));
create table invitations (
  hash text primary key,
  account_id text not null references accounts (id),
  email text not null,
  account_role text not null check (account_role in ('owner', 'member', 'billing')),
  created_at text not null,
  expires_at text not null
) strict;
create index invitations_by_account on invitations (account_id);
alter table periods add column granted integer not null default 0;
create index usage_days_by_day on usage_days (day, mode, outcome, renders, credits);
`,
  sqlite: `
drop trigger audit_no_delete;
create trigger audit_no_delete before delete on audit
  when old.account_id is null or exists (select 1 from accounts where id = old.account_id)
  begin select raise(abort, 'the audit log only grows'); end;
`,
  postgres: `
create function audit_keeps_accounts() returns trigger language plpgsql as $body$
  begin
    if old.account_id is null or exists (select 1 from accounts where id = old.account_id) then
      raise exception 'the audit log only grows';
    end if;
    return old;
  end
$body$;
drop trigger audit_no_change on audit;
create trigger audit_no_change before update or truncate on audit
  for each statement execute function audit_only_grows();
create trigger audit_no_delete before delete on audit for each row execute function audit_keeps_accounts();
`,
  isCompatible: true,
};

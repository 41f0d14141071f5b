// The schema of users, their sessions and ways to sign in, step by step.

import { allowNull, type Migration } from '../migration.ts';

export const USERS: Migration = {
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
};

/** Adds users who sign up before they confirm their address, and the devices of sessions. */
export const UNCONFIRMED_USERS: Migration = {
  common: `
  alter table users add column unconfirmed_email text;
  alter table password_links add column user_id text references users (id);
  alter table sessions add column user_agent text not null default '';
  `,
  isCompatible: true,
};

/**
 * Adds emails about used credits (one row per user, period and percentage, with a null `sent_at` while a server sends
 * it), accounts that their users deleted (whose audit entries can be deleted as well), authenticator apps with the last
 * time step whose code was used, roles in an account and invitations to it, and credits that an operator has added to a
 * period.
 */
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

/** Adds passkeys and open challenges, each for one visitor. */
export const PASSKEYS: Migration = {
  common: `
create table passkeys (
  id text primary key,
  user_id text not null references users (id),
  name text not null,
  public_key text not null,
  counter integer not null,
  transports text not null,
  created_at text not null,
  last_used_at text
) strict;
create index passkeys_by_user on passkeys (user_id);
create table passkey_challenges (
  hash text primary key,
  visitor text not null,
  expires_at text not null
) strict;
`,
  isCompatible: true,
};

/**
 * Adds identities at sign-in providers. A user who signed up with a provider has no password, although `password_hash`
 * isn't empty: it is the hash of a random text that signs tokens.
 */
export const LINKED_IDENTITIES: Migration = {
  common: `
alter table users add column has_password integer not null default 1 check (has_password in (0, 1));
create table linked_identities (
  provider text not null,
  subject text not null,
  user_id text not null references users (id) on delete cascade,
  email text not null,
  created_at text not null,
  last_used_at text not null,
  primary key (provider, subject),
  unique (user_id, provider)
) strict;
`,
  isCompatible: true,
};

const USER_AGENT = allowNull('sessions', 'user_agent', '');

/**
 * Makes email null until the address is confirmed, and the password null until one is chosen. Tokens are signed with a
 * key of their own, which changes with the password. Before, that key was the hash of the password.
 */
export const USERS_WITH_NULLS: Migration = {
  common: '',
  sqlite: `${USER_AGENT.sqlite}
create table new_users (
  id text primary key,
  account_id text not null references accounts (id),
  email text unique,
  unconfirmed_email text,
  role text not null check (role in ('member', 'operator')),
  account_role text not null default 'owner' check (account_role in ('owner', 'member', 'billing')),
  password_hash text,
  token_key text not null,
  created_at text not null,
  check (email is not null or unconfirmed_email is not null)
) strict;
insert into new_users (id, account_id, email, unconfirmed_email, role, account_role, password_hash, token_key, created_at)
  select id, account_id, case when unconfirmed_email is null then email end, unconfirmed_email, role, account_role,
    case has_password when 1 then password_hash end, password_hash, created_at
  from users;
drop table users;
alter table new_users rename to users;
create index users_by_account on users (account_id);
create index users_unconfirmed on users (account_id) where unconfirmed_email is not null;
`,
  postgres: `${USER_AGENT.postgres}
alter table users alter column email drop not null, alter column password_hash drop not null, add column token_key text;
update users set token_key = password_hash,
  email = case when unconfirmed_email is null then email end,
  password_hash = case has_password when 1 then password_hash end;
alter table users alter column token_key set not null, drop column has_password,
  add check (email is not null or unconfirmed_email is not null);
`,
};

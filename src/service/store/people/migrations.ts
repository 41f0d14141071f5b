// The tables of users, their sessions and ways to sign in.

import { type FormerTables, type Migration, unchanged } from '../migration.ts';

/**
 * A user's email is null until the address is confirmed, and the password until one is chosen. Tokens are signed with
 * `token_key`, which changes with the password. `is_mailed` marks links that were emailed to their address, unlike those that an
 * operator hands over. `last_step` is the last time step of an authenticator app whose code was used. Each challenge of a
 * passkey is for one visitor.
 */
export const PEOPLE: Migration = {
  common: `
create table users (
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
create index users_by_account on users (account_id);
create index users_unconfirmed on users (account_id) where unconfirmed_email is not null;
create table sessions (
  hash text primary key,
  user_id text not null references users (id),
  created_at text not null,
  idle_until text not null,
  ends_at text not null,
  user_agent text
) strict;
create index sessions_by_user on sessions (user_id);
create index sessions_by_idle_end on sessions (idle_until);
create index sessions_by_end on sessions (ends_at);
create table password_links (
  hash text primary key,
  email text not null,
  role text not null check (role in ('member', 'operator')),
  account_id text references accounts (id),
  created_at text not null,
  expires_at text not null,
  user_id text references users (id),
  is_mailed integer not null default 0 check (is_mailed in (0, 1))
) strict;
create index password_links_by_email on password_links (email);
create index password_links_by_account on password_links (account_id);
create index password_links_by_user on password_links (user_id);
create index password_links_by_expiry on password_links (expires_at);
create table invitations (
  hash text primary key,
  account_id text not null references accounts (id),
  email text not null,
  account_role text not null check (account_role in ('owner', 'member', 'billing')),
  created_at text not null,
  expires_at text not null
) strict;
create index invitations_by_account on invitations (account_id);
create index invitations_by_expiry on invitations (expires_at);
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
create index passkey_challenges_by_expiry on passkey_challenges (expires_at);
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
};

/** The key of tokens was the hash of the password, and a user without a password had the hash of a random text. */
export const FORMER_PEOPLE: FormerTables = {
  users: `
insert into users
  select id, account_id, case when unconfirmed_email is null then email end, unconfirmed_email, role, account_role,
    case has_password when 1 then password_hash end, password_hash, created_at
  from old_users;
`,
  sessions: `
update old_sessions set user_agent = null where user_agent = '';
insert into sessions select * from old_sessions;
`,
  password_links: 'insert into password_links select *, 0 from old_password_links;',
  ...unchanged(
    'invitations',
    'authenticators',
    'recovery_codes',
    'passkeys',
    'passkey_challenges',
    'linked_identities',
  ),
};

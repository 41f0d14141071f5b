// Identities at sign-in providers. A user who signed up with a provider has no password, although `password_hash` isn't empty:
// it is the hash of a random text, which tokens are signed with.

import type { Migration } from '../migrations.ts';

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

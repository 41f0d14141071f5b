// Identities at sign-in providers. A user who signed up with a provider has no password, although `password_hash` isn't empty:
// it is the hash of a random text, which tokens are signed with. `email_proven` says that the user has shown to own the address,
// by a link in an email or through a provider. Without email, users can sign up with any address.

import type { Migration } from '../migrations.ts';

export const LINKED_IDENTITIES: Migration = {
  common: `
alter table users add column has_password integer not null default 1 check (has_password in (0, 1));
alter table users add column email_proven integer not null default 0 check (email_proven in (0, 1));
update users set email_proven = 1
  where unconfirmed_email is null and id in (select subject from audit where action = 'user.confirmed');
create table linked_identities (
  provider text not null,
  subject text not null,
  user_id text not null references users (id),
  email text not null,
  created_at text not null,
  last_used_at text not null,
  primary key (provider, subject),
  unique (user_id, provider)
) strict;
`,
  isCompatible: true,
};

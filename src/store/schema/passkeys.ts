// Passkeys, and open challenges, each for one visitor.

import type { Migration } from '../migrations.ts';

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

/** Applied in order, each once, never edited after release. The index + 1 is the schema version. */
export const MIGRATIONS: readonly string[] = [
  `
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
];

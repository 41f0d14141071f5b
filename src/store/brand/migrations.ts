// The schema of what accounts save for their renders, step by step.

import type { Migration } from '../migration.ts';

/**
 * Adds styles and their versions. A deleted style keeps its row without versions, because the numbers of versions go on when
 * it is saved again.
 */
export const SAVED_STYLES: Migration = {
  common: `
create table styles (
  account_id text not null references accounts (id),
  name text not null,
  version integer not null,
  updated_at text not null,
  deleted_at text,
  primary key (account_id, name)
) strict;
create table style_versions (
  account_id text not null references accounts (id),
  name text not null,
  version integer not null,
  style text not null,
  created_at text not null,
  used_at text not null,
  primary key (account_id, name, version)
) strict;
`,
  isCompatible: true,
};

// The test renders of each account on one day, and which holds were counted there. Programs without this migration count
// nothing.

import type { Migration } from '../migrations.ts';

export const TEST_RENDERS: Migration = {
  common: `
  create table test_renders (
    account_id text primary key references accounts (id),
    day text not null,
    renders integer not null check (renders >= 0)
  ) strict;
  alter table renders add column is_counted_test integer not null default 0 check (is_counted_test in (0, 1));
  `,
  isCompatible: true,
};

// Usage per key and type, one row per account and day that is over; `details` is JSON.

import type { Migration } from '../migrations.ts';

export const USAGE_DETAILS: Migration = {
  common: `
create table usage_details (
  account_id text not null references accounts (id),
  day text not null,
  details text not null,
  primary key (account_id, day)
) strict;
`,
  isCompatible: true,
};

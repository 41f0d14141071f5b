// Finds the stored render that repeats a request with the same idempotency key.

import type { Migration } from '../migrations.ts';

export const RENDERS_BY_KEY: Migration = {
  common: `create index render_jobs_by_key on render_jobs (account_id, idempotency_key, created_at)
    where idempotency_key is not null;
`,
  isCompatible: true,
};

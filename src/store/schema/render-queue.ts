// What claims and limits of stored renders look up. SQLite uses a partial index only for statements with exactly its condition.

import type { Migration } from '../migrations.ts';

export const RENDER_QUEUE: Migration = {
  common: `
create index render_jobs_queue on render_jobs (lane, account_id, due_at, created_at, id)
  where status in ('queued', 'rendering');
create index render_jobs_rendering on render_jobs (account_id, due_at) where status = 'rendering';
drop index render_jobs_due;
`,
  isCompatible: true,
};

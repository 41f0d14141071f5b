// The schema of the request log and of idempotency keys, step by step.

import { allowNull, type Migration } from '../migration.ts';

export const IDEMPOTENCY_KEYS: Migration = {
  common: `  create table idempotency (
    account_id text not null references accounts (id),
    key text not null,
    fingerprint text not null,
    render_id text not null,
    owner text not null,
    state text not null check (state in ('running', 'done')),
    facts text,
    expires_at text not null,
    primary key (account_id, key)
  ) strict;
  create index idempotency_by_expiry on idempotency (expires_at);
  create index idempotency_running on idempotency (owner) where state = 'running';

`,
};

/** The log of API requests. */
export const REQUEST_LOG: Migration = {
  common: `
  create table requests (
    id text primary key,
    account_id text not null references accounts (id),
    at text not null,
    key_id text,
    path text not null,
    status integer not null,
    code text not null,
    duration_ms integer not null,
    credits integer not null,
    bytes_in integer not null,
    bytes_out integer not null,
    faults text not null
  ) strict;
  create index requests_by_account on requests (account_id, at, id);
  create index requests_by_time on requests (at);
  `,
  isCompatible: true,
};

const KEY_OWNER = allowNull('idempotency', 'owner', 'renders');
const CODE = allowNull('requests', 'code', '');

export const REQUESTS_WITH_NULLS: Migration = {
  common: 'drop index idempotency_running;',
  sqlite: `${KEY_OWNER.sqlite} ${CODE.sqlite}
create index idempotency_running on idempotency (owner) where state = 'running';
`,
  postgres: `${KEY_OWNER.postgres} ${CODE.postgres}
create index idempotency_running on idempotency (owner) where state = 'running';
`,
};

/** Deleted requests slow down statements that pass them. By default, PostgreSQL removes them when they are a fifth of the table. */
export const VACUUMED_REQUESTS: Migration = {
  common: '',
  postgres: 'alter table requests set (autovacuum_vacuum_scale_factor = 0.02);',
  isCompatible: true,
};

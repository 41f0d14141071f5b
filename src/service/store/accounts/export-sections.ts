// The sections of an account's data export.

export const OF_USERS = 'user_id in (select id from users where account_id = :accountId)';

export interface ExportSection {
  readonly name: string;
  /** The `from` clause, with the parameter `:accountId`. */
  readonly from: string;
  readonly columns: string;
  /** Columns that are unique within the account, in the order of an index. */
  readonly order: readonly string[];
}

/** Columns are listed one by one, so that a new column with a secret isn't exported by accident. */
export const EXPORT_SECTIONS: readonly ExportSection[] = [
  { name: 'account', from: 'accounts where id = :accountId', columns: 'id, name, state, created_at', order: ['id'] },
  {
    name: 'users',
    from: 'users where account_id = :accountId',
    columns: 'id, email, unconfirmed_email, role, account_role, created_at',
    order: ['created_at', 'id'],
  },
  {
    name: 'invitations',
    from: 'invitations where account_id = :accountId',
    columns: 'email, account_role, created_at, expires_at',
    order: ['created_at', 'email'],
  },
  // The hashes of links are secret. Rows that are equal in everything else may be left out.
  {
    name: 'sessions',
    from: `sessions where ${OF_USERS}`,
    columns: 'user_id, created_at, idle_until, ends_at, user_agent',
    order: ['user_id', 'created_at', 'idle_until', 'ends_at', 'user_agent'],
  },
  {
    name: 'passkeys',
    from: `passkeys where ${OF_USERS}`,
    columns: 'id, user_id, name, created_at, last_used_at',
    order: ['created_at', 'id'],
  },
  {
    name: 'linked_identities',
    from: `linked_identities where ${OF_USERS}`,
    columns: 'provider, subject, user_id, email, created_at, last_used_at',
    order: ['user_id', 'provider'],
  },
  // Users with an authenticator app.
  {
    name: 'two_factor',
    from: `authenticators where ${OF_USERS}`,
    columns: 'user_id, created_at',
    order: ['user_id'],
  },
  {
    name: 'credit_emails',
    from: `credit_notices where ${OF_USERS}`,
    columns: 'user_id, period_starts_at, percent, credits, sent_at',
    order: ['user_id', 'period_starts_at', 'percent'],
  },
  {
    name: 'subscription',
    from: 'subscriptions where account_id = :accountId',
    columns: 'account_id, plan, next_plan, status, renews, provider, anchor_at, period_starts_at, period_ends_at',
    order: ['account_id'],
  },
  {
    name: 'keys',
    from: 'api_keys where account_id = :accountId',
    columns: 'id, name, mode, state, prefix, last_four, allowed_origins, created_at, last_used_at, expires_at',
    order: ['created_at', 'id'],
  },
  {
    name: 'periods',
    from: 'periods where account_id = :accountId',
    columns: 'starts_at, ends_at, used, reserved, delivered, broken_free, broken_charged, granted',
    order: ['starts_at'],
  },
  {
    name: 'usage_days',
    from: 'usage_days where account_id = :accountId',
    columns: 'day, mode, outcome, renders, credits',
    order: ['day', 'mode', 'outcome'],
  },
  {
    name: 'usage_details',
    from: 'usage_details where account_id = :accountId',
    columns: 'day, details',
    order: ['day'],
  },
  {
    name: 'renders',
    from: 'holds where account_id = :accountId',
    columns: 'id, key_id, mode, kind, credits, state, outcome, created_at, finished_at, duration_ms',
    order: ['created_at', 'id'],
  },
  {
    name: 'batches',
    from: 'render_batches where account_id = :accountId',
    columns: 'id, key_id, mode, created_at',
    order: ['created_at', 'id'],
  },
  {
    name: 'asynchronous_renders',
    from: 'renders where account_id = :accountId',
    columns:
      'id, key_id, mode, batch_id, status, request, plan, source_type, credits, error, output_bytes, created_at, ' +
      'started_at, finished_at, expires_at',
    order: ['created_at', 'id'],
  },
  {
    name: 'requests',
    from: 'requests where account_id = :accountId',
    columns: 'id, at, key_id, path, status, code, duration_ms, credits, bytes_in, bytes_out, faults',
    order: ['at', 'id'],
  },
  {
    name: 'styles',
    from: 'style_versions where account_id = :accountId',
    columns: 'name, version, style, created_at, used_at',
    order: ['name', 'version'],
  },
  {
    name: 'brand_files',
    from: 'brand_files where account_id = :accountId',
    columns: 'id, kind, bytes, sha256, facts, created_at, deleted_at',
    order: ['kind', 'created_at', 'id'],
  },
  {
    name: 'webhook_endpoints',
    from: 'webhook_endpoints where account_id = :accountId',
    columns: 'id, url, events, state, disabled_reason, disabled_at, failing_since, created_at',
    order: ['created_at', 'id'],
  },
  {
    name: 'webhook_deliveries',
    from: 'webhook_deliveries where account_id = :accountId',
    columns: 'id, message_id, endpoint_id, url, status, attempts, last_status, last_error, created_at, finished_at',
    order: ['created_at', 'id'],
  },
  {
    name: 'audit_log',
    from: 'audit where account_id = :accountId',
    columns: 'seq, at, actor, action, subject, details',
    order: ['seq'],
  },
];

/** Columns that are stored as JSON text. */
export const JSON_COLUMNS = new Set([
  'allowed_origins',
  'request',
  'error',
  'faults',
  'details',
  'events',
  'style',
  'facts',
]);

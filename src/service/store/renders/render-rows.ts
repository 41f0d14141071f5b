// Converts rows of `renders` to values.

import { date, integer, integerOrNull, oneOf, type SqlRow, text, textOrNull } from '../rows.ts';
import type { SqlCondition } from '../bounded/steps.ts';
import { RENDER_STATUSES, type RenderRecord, type RenderScope, type StoredAsset, type StoredOutput } from './render.ts';

export function toRender(row: SqlRow): RenderRecord {
  return {
    id: text(row, 'id'),
    accountId: text(row, 'account_id'),
    keyId: optionalText(row, 'key_id'),
    mode: oneOf(row, 'mode', ['live', 'test']),
    batchId: optionalText(row, 'batch_id'),
    request: text(row, 'request'),
    plan: text(row, 'plan'),
    period: { startsAt: date(row, 'period_starts_at'), endsAt: date(row, 'period_ends_at') },
    renews: integer(row, 'renews') === 1,
    target: optionalText(row, 'target'),
    status: oneOf(row, 'status', RENDER_STATUSES),
    progress: integer(row, 'progress') / 1_000,
    asset: toAsset(row),
    output: toOutput(row),
    result: optionalText(row, 'result'),
    error: optionalText(row, 'error'),
    sourceType: optionalText(row, 'source_type'),
    credits: integerOrNull(row, 'credits') ?? undefined,
    createdAt: date(row, 'created_at'),
    startedAt: optionalDate(row, 'started_at'),
    finishedAt: optionalDate(row, 'finished_at'),
  };
}

function toAsset(row: SqlRow): StoredAsset | undefined {
  const name = textOrNull(row, 'asset');
  if (name === null) return undefined;
  return {
    name,
    format: text(row, 'asset_format'),
    bytes: integer(row, 'asset_bytes'),
    sha256: optionalText(row, 'asset_sha256'),
  };
}

function toOutput(row: SqlRow): StoredOutput | undefined {
  const name = textOrNull(row, 'output');
  if (name === null) return undefined;
  return {
    name,
    bytes: integer(row, 'output_bytes'),
    token: text(row, 'token'),
    expiresAt: date(row, 'expires_at'),
  };
}

/** Returns the condition for the rows that a caller may see. */
export function inScope({ accountId, mode, keyId }: RenderScope): SqlCondition {
  const ofMode = mode === undefined ? '' : ' and mode = :mode';
  const ofKey = keyId === undefined ? '' : ' and key_id = :keyId';
  return [
    `account_id = :accountId${ofMode}${ofKey}`,
    { accountId, ...(mode !== undefined && { mode }), ...(keyId !== undefined && { keyId }) },
  ];
}

function optionalText(row: SqlRow, column: string): string | undefined {
  return textOrNull(row, column) ?? undefined;
}

function optionalDate(row: SqlRow, column: string): Date | undefined {
  return row[column] === null ? undefined : date(row, column);
}

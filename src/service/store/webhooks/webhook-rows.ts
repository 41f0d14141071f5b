// Converts rows of the webhook tables to values.

import { integer, integerOrNull, jsonObject, oneOf, type SqlRow, text, textList, textOrNull } from '../rows.ts';
import {
  DELIVERY_STATUSES,
  DISABLED_REASONS,
  WEBHOOK_EVENTS,
  type WebhookAttempt,
  type WebhookDelivery,
  type WebhookEndpoint,
  type WebhookSecret,
} from './webhook.ts';

export function toEndpoint(row: SqlRow): WebhookEndpoint {
  const events = textList(row, 'events');
  return {
    id: text(row, 'id'),
    accountId: text(row, 'account_id'),
    url: text(row, 'url'),
    events: WEBHOOK_EVENTS.filter((event) => events.includes(event)),
    isEnabled: text(row, 'state') === 'enabled',
    disabledReason: row['disabled_reason'] === null ? undefined : oneOf(row, 'disabled_reason', DISABLED_REASONS),
    disabledAt: textOrNull(row, 'disabled_at') ?? undefined,
    failingSince: textOrNull(row, 'failing_since') ?? undefined,
    createdAt: text(row, 'created_at'),
  };
}

export function toSecret(row: SqlRow): WebhookSecret {
  return {
    secret: text(row, 'secret'),
    createdAt: text(row, 'created_at'),
    expiresAt: textOrNull(row, 'expires_at') ?? undefined,
  };
}

/** A row of `webhook_deliveries` with the `type` of its message. */
export function toDelivery(row: SqlRow): WebhookDelivery {
  return {
    id: text(row, 'id'),
    accountId: text(row, 'account_id'),
    messageId: text(row, 'message_id'),
    type: text(row, 'type'),
    endpointId: textOrNull(row, 'endpoint_id') ?? undefined,
    url: text(row, 'url'),
    status: oneOf(row, 'status', DELIVERY_STATUSES),
    dueAt: text(row, 'due_at'),
    attempts: integer(row, 'attempts'),
    lastStatus: integerOrNull(row, 'last_status') ?? undefined,
    lastError: textOrNull(row, 'last_error') ?? undefined,
    createdAt: text(row, 'created_at'),
    finishedAt: textOrNull(row, 'finished_at') ?? undefined,
  };
}

export function toAttempt(row: SqlRow): WebhookAttempt {
  return {
    at: text(row, 'at'),
    durationMs: integer(row, 'duration_ms'),
    requestHeaders: headersOf(row),
    status: integerOrNull(row, 'status') ?? undefined,
    contentType: textOrNull(row, 'content_type') ?? undefined,
    response: text(row, 'response'),
    error: textOrNull(row, 'error') ?? undefined,
  };
}

/** This uses no schema, because loading its library would take a quarter of a command's startup time. */
function headersOf(row: SqlRow): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(jsonObject(row, 'request_headers')).map(([name, value]) => [name, String(value)]),
  );
}

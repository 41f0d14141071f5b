// Webhook endpoints and deliveries as the API shows them.

import type { ResponseOf } from '../api/response-schemas.ts';
import type { DeliveryDetails, WebhookAttempt, WebhookDelivery, WebhookEndpoint } from '../store/webhooks/webhook.ts';

export const ENDPOINTS_PATH = '/v1/webhook-endpoints';
export const DELIVERIES_PATH = '/v1/webhook-deliveries';
export const SECRET_PATH = '/v1/webhook-secret';

export function endpointToJson(endpoint: WebhookEndpoint): ResponseOf<'WebhookEndpoint'> {
  const { id, url, events, isEnabled, disabledReason, disabledAt, failingSince, createdAt } = endpoint;
  return {
    id,
    url,
    events,
    status: isEnabled ? 'enabled' : 'disabled',
    disabled_reason: disabledReason ?? null,
    disabled_at: disabledAt ?? null,
    failing_since: failingSince ?? null,
    created_at: createdAt,
  };
}

export function deliveryToJson(delivery: WebhookDelivery): ResponseOf<'WebhookDelivery'> {
  const { id, endpointId, url, messageId, type, status, attempts, dueAt, createdAt, finishedAt } = delivery;
  return {
    id,
    endpoint_id: endpointId ?? null,
    url,
    webhook_id: messageId,
    type,
    status,
    attempt_count: attempts,
    next_attempt_at: status === 'pending' ? dueAt : null,
    last_status: delivery.lastStatus ?? null,
    last_error: delivery.lastError ?? null,
    created_at: createdAt,
    finished_at: finishedAt ?? null,
  };
}

export function detailsToJson({ delivery, body, attempts }: DeliveryDetails): ResponseOf<'WebhookDeliveryDetails'> {
  return { ...deliveryToJson(delivery), body: JSON.parse(body) as object, attempts: attempts.map(attemptToJson) };
}

function attemptToJson({
  at,
  durationMs,
  requestHeaders,
  status,
  contentType,
  response,
  error,
}: WebhookAttempt): ResponseOf<'WebhookAttempt'> {
  return {
    at,
    duration_ms: durationMs,
    request_headers: requestHeaders,
    status: status ?? null,
    content_type: contentType ?? null,
    response,
    error: error ?? null,
  };
}

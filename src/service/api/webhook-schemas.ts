// Webhook endpoints and deliveries as the API returns them, and the bodies of webhooks.

import { DELIVERY_STATUSES, DISABLED_REASONS, WEBHOOK_EVENTS } from '../store/webhooks/webhook.ts';
import {
  complete,
  ID,
  ID_OR_NULL,
  INTEGER,
  INTEGER_OR_NULL,
  listOf,
  NEXT_CURSOR,
  ref,
  STRING,
  STRING_OR_NULL,
  TIME,
  TIME_OR_NULL,
  URL,
} from './schema-parts.ts';

/** An event that users send by hand, to see whether an endpoint works. */
export const TEST_EVENT = 'webhook.test';

/** Every type of webhook. */
export const SENT_EVENTS = [...WEBHOOK_EVENTS, TEST_EVENT] as const;

const SECRET = { type: 'string', description: 'Signs webhooks. Begins with `whsec_`.' } as const;

export const EVENTS = {
  ...listOf({ type: 'string', enum: WEBHOOK_EVENTS }),
  description: 'Events to send. Empty: all of them, including future ones.',
} as const;

const ENDPOINT = {
  id: ID,
  url: URL,
  events: EVENTS,
  status: { type: 'string', enum: ['enabled', 'disabled'] },
  disabled_reason: {
    type: ['string', 'null'],
    enum: [...DISABLED_REASONS, null],
    description: '`user`, `gone` (it responded with 410) or `failing` (for five days).',
  },
  disabled_at: TIME_OR_NULL,
  failing_since: { ...TIME_OR_NULL, description: 'First failure since the last success.' },
  created_at: TIME,
} as const;

const DELIVERY = {
  id: ID,
  endpoint_id: { ...ID_OR_NULL, description: 'Null for the `webhook_url` of a request.' },
  url: URL,
  webhook_id: { type: 'string', description: 'As in the `webhook-id` header.' },
  type: STRING,
  status: { type: 'string', enum: DELIVERY_STATUSES },
  attempt_count: INTEGER,
  next_attempt_at: TIME_OR_NULL,
  last_status: { ...INTEGER_OR_NULL, description: 'Status of the last response.' },
  last_error: STRING_OR_NULL,
  created_at: TIME,
  finished_at: TIME_OR_NULL,
} as const;

export const WEBHOOK_SCHEMAS = {
  WebhookEndpoint: complete(ENDPOINT),
  WebhookEndpointWithSecret: complete({ ...ENDPOINT, secret: SECRET }),
  WebhookEndpointList: complete({ endpoints: listOf(ref('WebhookEndpoint')) }),
  WebhookSecret: complete({ secret: SECRET }),
  WebhookDelivery: complete(DELIVERY),
  WebhookDeliveryList: complete({ deliveries: listOf(ref('WebhookDelivery')), next_cursor: NEXT_CURSOR }),
  WebhookDeliveryDetails: complete({
    ...DELIVERY,
    body: { type: 'object', description: 'What was sent.' },
    attempts: { ...listOf(ref('WebhookAttempt')), description: 'Newest first.' },
  }),
  WebhookAttempt: complete({
    at: TIME,
    duration_ms: INTEGER,
    request_headers: { type: 'object', additionalProperties: STRING },
    status: { ...INTEGER_OR_NULL, description: 'Null when there was no response.' },
    content_type: STRING_OR_NULL,
    response: { type: 'string', description: 'The first 2,048 bytes of the response.' },
    error: { ...STRING_OR_NULL, description: 'Why the attempt failed.' },
  }),
  RenderEvent: event(
    WEBHOOK_EVENTS.filter((name) => name !== 'batch.completed'),
    ref('Render'),
  ),
  BatchEvent: event(['batch.completed'], ref('Batch')),
  TestEvent: event([TEST_EVENT], complete({ endpoint_id: ID, text: STRING })),
} as const;

function event<const Type extends string, const Data extends Readonly<Record<string, unknown>>>(
  types: readonly Type[],
  data: Data,
) {
  return {
    type: 'object',
    required: ['type', 'timestamp', 'data'],
    properties: {
      type: { type: 'string', enum: types },
      timestamp: { ...TIME, description: 'When it happened.' },
      data,
    },
  } as const;
}

// Webhooks in the OpenAPI document: what the service sends, and how to manage it.

import type { Json } from '../../primitives/json-schema.ts';
import { WEBHOOK_EVENTS } from '../../store/webhooks/webhooks.ts';
import { MAX_OVERLAP_SECONDS } from '../webhooks/rotation-field.ts';
import { MAX_ENDPOINTS } from '../webhooks/webhook-changes.ts';
import { renderErrorResponses } from './openapi-problem.ts';

const STRING: Json = { type: 'string' };
const INTEGER: Json = { type: 'integer' };
const ID: Json = { type: 'string', format: 'uuid' };
const TIME: Json = { type: 'string', format: 'date-time' };
const TIME_OR_NULL: Json = { type: ['string', 'null'], format: 'date-time' };
const TEXT_OR_NULL: Json = { type: ['string', 'null'] };
const SECRET: Json = { type: 'string', description: 'Signs webhooks. Begins with `whsec_`.' };
const EVENTS: Json = {
  type: 'array',
  items: { type: 'string', enum: [...WEBHOOK_EVENTS] },
  description: 'Events to send. Empty or left out: all of them, including future ones.',
};
const TAGS: Json = ['Webhooks'];
const FAILURES = ['400', '401', '403', '404', '409', '413', '415', '429', '503'] as const;

const ENDPOINT: Readonly<Record<string, Json>> = {
  id: ID,
  url: { type: 'string', format: 'uri' },
  events: EVENTS,
  status: { type: 'string', enum: ['enabled', 'disabled'] },
  disabled_reason: {
    ...nullable(),
    description: '`user`, `gone` (it responded with 410) or `failing` (for five days).',
  },
  disabled_at: TIME_OR_NULL,
  failing_since: { ...nullable(), format: 'date-time', description: 'First failure since the last success.' },
  created_at: TIME,
};

const DELIVERY: Readonly<Record<string, Json>> = {
  id: ID,
  endpoint_id: { ...nullable(), format: 'uuid', description: 'Null for the `webhook_url` of a request.' },
  url: { type: 'string', format: 'uri' },
  webhook_id: { type: 'string', description: 'As in the `webhook-id` header.' },
  type: STRING,
  status: { type: 'string', enum: ['pending', 'succeeded', 'failed'] },
  attempt_count: INTEGER,
  next_attempt_at: TIME_OR_NULL,
  last_status: { type: ['integer', 'null'], description: 'Status of the last response.' },
  last_error: TEXT_OR_NULL,
  created_at: TIME,
  finished_at: TIME_OR_NULL,
};

export const WEBHOOK_SCHEMAS: Readonly<Record<string, Json>> = {
  WebhookEndpoint: complete(ENDPOINT),
  WebhookEndpointWithSecret: complete({ ...ENDPOINT, secret: SECRET }),
  WebhookEndpointList: complete({ endpoints: listOf('WebhookEndpoint') }),
  WebhookEndpointRequest: {
    type: 'object',
    required: ['url'],
    properties: {
      url: { type: 'string', format: 'uri', maxLength: 2_048, description: 'Public `http` or `https` URL.' },
      events: EVENTS,
    },
    additionalProperties: false,
  },
  WebhookSecret: complete({ secret: SECRET }),
  SecretRotation: {
    type: 'object',
    properties: {
      overlap_seconds: {
        type: 'integer',
        minimum: 0,
        maximum: MAX_OVERLAP_SECONDS,
        default: 86_400,
        description: 'How long webhooks are signed with the old secret too.',
      },
    },
    additionalProperties: false,
  },
  WebhookDelivery: complete(DELIVERY),
  WebhookDeliveryList: complete({
    deliveries: listOf('WebhookDelivery'),
    next_cursor: { ...nullable(), description: 'The `cursor` of the next page; null on the last one.' },
  }),
  WebhookDeliveryDetails: complete({
    ...DELIVERY,
    body: { type: 'object', description: 'What was sent.' },
    attempts: { ...listOf('WebhookAttempt'), description: 'Newest first.' },
  }),
  WebhookAttempt: complete({
    at: TIME,
    duration_ms: INTEGER,
    request_headers: { type: 'object', additionalProperties: STRING },
    status: { type: ['integer', 'null'], description: 'Null when there was no response.' },
    content_type: TEXT_OR_NULL,
    response: { type: 'string', description: 'The first 2,048 bytes of the response.' },
    error: { ...nullable(), description: 'Why the attempt failed.' },
  }),
  RenderEvent: eventSchema(
    WEBHOOK_EVENTS.filter((event) => event !== 'batch.completed'),
    'Render',
  ),
  BatchEvent: eventSchema(['batch.completed'], 'Batch'),
};

/** The errors of these operations, written once, because there are many operations. */
export function webhookResponses(): Record<string, Json> {
  const all = renderErrorResponses(FAILURES);
  return Object.fromEntries(FAILURES.map((status) => [`Error${status}`, all[status] ?? {}]));
}

function failures(statuses: readonly (typeof FAILURES)[number][]): Record<string, Json> {
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/Error${status}` }]));
}

export function webhookPaths(): Record<string, Json> {
  const endpoint = '/v1/webhook-endpoints/{id}';
  return {
    '/v1/webhook-endpoints': {
      get: operation('listWebhookEndpoints', 'List webhook endpoints', ok('All endpoints.', 'WebhookEndpointList')),
      post: {
        ...operation('createWebhookEndpoint', 'Add a webhook endpoint', {
          '201': json('Added. Keep `secret` to verify webhooks.', 'WebhookEndpointWithSecret'),
          ...failures(['409', '413', '415']),
        }),
        description: `An account can have up to ${MAX_ENDPOINTS} endpoints. Needs a live key without allowed origins.`,
        requestBody: body('WebhookEndpointRequest', true),
      },
    },
    [endpoint]: {
      get: withId('getWebhookEndpoint', 'Get a webhook endpoint', ok('The endpoint.', 'WebhookEndpoint')),
      delete: withId('deleteWebhookEndpoint', 'Delete a webhook endpoint', { '204': { description: 'Deleted.' } }),
    },
    [`${endpoint}/enable`]: {
      post: withId('enableWebhookEndpoint', 'Enable a webhook endpoint', ok('Enabled.', 'WebhookEndpoint')),
    },
    [`${endpoint}/disable`]: {
      post: withId('disableWebhookEndpoint', 'Disable a webhook endpoint', ok('Disabled.', 'WebhookEndpoint')),
    },
    [`${endpoint}/rotate-secret`]: {
      post: {
        ...withId('rotateWebhookSecret', 'Give a webhook endpoint a new secret', rotated('WebhookEndpointWithSecret')),
        requestBody: body('SecretRotation', false),
      },
    },
    [`${endpoint}/test`]: {
      post: withId('testWebhookEndpoint', 'Send a test event to a webhook endpoint', sent()),
    },
    ...deliveryPaths(),
  };
}

function deliveryPaths(): Record<string, Json> {
  return {
    '/v1/webhook-deliveries': {
      get: {
        ...operation('listWebhookDeliveries', 'List webhook deliveries, newest first', {
          ...ok('A page of deliveries.', 'WebhookDeliveryList'),
        }),
        parameters: [
          query('endpoint_id', 'Only deliveries to this endpoint.', ID),
          query('limit', 'Deliveries per page.', { type: 'integer', minimum: 1, maximum: 100, default: 20 }),
          query('cursor', '`next_cursor` of the page before.', STRING),
        ],
      },
    },
    '/v1/webhook-deliveries/{id}': {
      get: withId('getWebhookDelivery', 'Get a webhook delivery with its attempts', {
        ...ok('The delivery.', 'WebhookDeliveryDetails'),
      }),
    },
    '/v1/webhook-deliveries/{id}/resend': {
      post: withId('resendWebhookDelivery', 'Send a webhook again', sent()),
    },
    '/v1/webhook-secret': {
      get: operation('getWebhookSecret', 'Get the secret that signs webhooks to `webhook_url`', {
        ...ok('The secret.', 'WebhookSecret'),
      }),
    },
    '/v1/webhook-secret/rotate': {
      post: {
        ...operation('rotateAccountWebhookSecret', 'Get a new secret for webhooks to `webhook_url`', {
          ...rotated('WebhookSecret'),
        }),
        requestBody: body('SecretRotation', false),
      },
    },
  };
}

/** What receivers get. */
export function webhooksSection(): Record<string, Json> {
  return Object.fromEntries(WEBHOOK_EVENTS.map((event) => [event, { post: eventOperation(event) }]));
}

const MEANINGS: Readonly<Record<(typeof WEBHOOK_EVENTS)[number], string>> = {
  'render.succeeded': 'A stored render succeeded',
  'render.failed': 'A stored render failed',
  'render.canceled': 'A stored render was canceled',
  'batch.completed': 'All renders of a batch have ended',
};

function eventOperation(event: (typeof WEBHOOK_EVENTS)[number]): Json {
  const schema = event === 'batch.completed' ? 'BatchEvent' : 'RenderEvent';
  const header = (name: string, description: string): Json => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: STRING,
  });
  return {
    operationId: event.replaceAll(/\.(?<letter>[a-z])/gu, (_match, letter: string) => letter.toUpperCase()),
    summary: MEANINGS[event],
    description: `${MEANINGS[event]}. Signed as https://www.standardwebhooks.com describes. Can arrive more than once.`,
    tags: TAGS,
    security: [],
    parameters: [
      header('webhook-id', 'The same for every attempt. Use it to recognize repeated webhooks.'),
      header('webhook-timestamp', 'When this attempt was sent, in seconds since 1970.'),
      header('webhook-signature', 'One signature per secret, separated by spaces, such as `v1,...`.'),
    ],
    requestBody: body(schema, true),
    responses: {
      '2XX': { description: 'Received. Respond within 15 seconds.' },
      '410': { description: 'Wants no more webhooks. The endpoint is disabled.' },
      default: { description: 'Not received. The webhook is sent again later.' },
    },
  };
}

function eventSchema(types: readonly string[], data: string): Json {
  return complete({
    type: { type: 'string', enum: [...types] },
    timestamp: { type: 'string', format: 'date-time', description: 'When it happened.' },
    data: { $ref: `#/components/schemas/${data}` },
  });
}

function operation(operationId: string, summary: string, responses: Readonly<Record<string, Json>>) {
  const description = `${summary}. Needs a live key without allowed origins.`;
  const errors = failures(['400', '401', '403', '429', '503']);
  return { operationId, summary, description, tags: TAGS, responses: { ...responses, ...errors } };
}

function withId(operationId: string, summary: string, responses: Readonly<Record<string, Json>>) {
  const id = { name: 'id', in: 'path', required: true, description: 'The id in the list.', schema: ID };
  return {
    ...operation(operationId, summary, { ...responses, ...failures(['404']) }),
    parameters: [id],
  };
}

function ok(description: string, schema: string): Record<string, Json> {
  return { '200': json(description, schema) };
}

function rotated(schema: string): Record<string, Json> {
  return { ...ok('The new secret.', schema), ...failures(['413', '415']) };
}

function sent(): Record<string, Json> {
  return {
    '202': json('The delivery. It is sent within a second or two.', 'WebhookDelivery'),
    ...failures(['409']),
  };
}

function body(schema: string, required: boolean): Json {
  return { required, content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } } };
}

function json(description: string, schema: string): Json {
  return { description, content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } } };
}

function query(name: string, description: string, schema: Json): Json {
  return { name, in: 'query', description, schema };
}

function listOf(schema: string) {
  return { type: 'array', items: { $ref: `#/components/schemas/${schema}` } };
}

function nullable() {
  return { type: ['string', 'null'] };
}

function complete(properties: Readonly<Record<string, Json>>): Json {
  return { type: 'object', required: Object.keys(properties), properties };
}

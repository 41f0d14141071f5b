// Webhooks in the OpenAPI document: the messages that the service sends, and the operations to manage them.

import { ID, STRING } from '../../api/schema-parts.ts';
import { EVENTS, SENT_EVENTS, TEST_EVENT } from '../../api/webhook-schemas.ts';
import { MAX_URL_LENGTH } from '../../caption/asset-url.ts';
import type { ErrorCode } from '../../error-table.ts';
import type { Json } from '../../primitives/json-schema.ts';
import { DELIVERY_STATUSES, type WebhookEventType } from '../../store/webhooks/webhook.ts';
import { PAGE_LIMIT } from '../renders/render-routes.ts';
import { DEFAULT_OVERLAP_SECONDS, MAX_OVERLAP_SECONDS } from '../../webhooks/rotation-field.ts';
import { MAX_ENDPOINTS } from '../../webhooks/webhook-changes.ts';
import {
  BODY_ERRORS,
  json,
  jsonBody,
  noContent,
  type Operation,
  operation,
  type Paths,
  query,
} from './openapi-parts.ts';

const TAG = 'Webhooks';
const NOT_FOUND = ['webhook_not_found', 'not_found'] as const satisfies readonly ErrorCode[];
const ID_PARAMETER: Json = { name: 'id', in: 'path', required: true, description: 'The id in the list.', schema: ID };

const ENDPOINT_URL: Json = {
  type: 'string',
  format: 'uri',
  maxLength: MAX_URL_LENGTH,
  description: 'Public `http` or `https` URL.',
};

export const WEBHOOK_REQUESTS: Readonly<Record<string, Json>> = {
  WebhookEndpointRequest: {
    type: 'object',
    required: ['url'],
    properties: {
      url: ENDPOINT_URL,
      events: { ...EVENTS, description: 'Events to send. Empty or left out: all of them, including future ones.' },
    },
    additionalProperties: false,
  },
  WebhookEndpointChange: {
    type: 'object',
    description: 'What is left out stays as it is.',
    properties: { url: ENDPOINT_URL, events: EVENTS },
    additionalProperties: false,
  },
  SecretRotation: {
    type: 'object',
    properties: {
      overlap_seconds: {
        type: 'integer',
        minimum: 0,
        maximum: MAX_OVERLAP_SECONDS,
        default: DEFAULT_OVERLAP_SECONDS,
        description: 'How long webhooks are signed with the old secret too.',
      },
    },
    additionalProperties: false,
  },
};

export function webhookPaths(): Paths {
  const endpoint = '/v1/webhook-endpoints/{id}';
  return {
    '/v1/webhook-endpoints': {
      get: read('listWebhookEndpoints', 'List webhook endpoints', json('All endpoints.', 'WebhookEndpointList')),
      post: write('createWebhookEndpoint', 'Add a webhook endpoint', {
        description: `An account can have up to ${MAX_ENDPOINTS} endpoints. Needs a live key without allowed origins.`,
        body: jsonBody('WebhookEndpointRequest', true),
        success: {
          '201': json('Added. Keep `secret` to verify webhooks.', 'WebhookEndpointWithSecret', ['location']),
        },
        errors: [...BODY_ERRORS, 'too_many_webhooks', 'too_many_failures'],
      }),
    },
    [endpoint]: {
      get: readOne('getWebhookEndpoint', 'Get a webhook endpoint', json('The endpoint.', 'WebhookEndpoint')),
      patch: write('updateWebhookEndpoint', 'Change the URL or the events of a webhook endpoint', {
        description:
          'What is left out stays as it is. Waiting webhooks go to the new URL, and the secret stays the same. Needs a live key ' +
          'without allowed origins.',
        parameters: [ID_PARAMETER],
        body: jsonBody('WebhookEndpointChange', true),
        success: { '200': json('The changed endpoint.', 'WebhookEndpoint') },
        errors: [...BODY_ERRORS, ...NOT_FOUND],
      }),
      delete: change('deleteWebhookEndpoint', 'Delete a webhook endpoint', { '204': noContent('Deleted.') }),
    },
    [`${endpoint}/enable`]: {
      post: change('enableWebhookEndpoint', 'Enable a webhook endpoint', {
        '200': json('Enabled.', 'WebhookEndpoint'),
      }),
    },
    [`${endpoint}/disable`]: {
      post: change('disableWebhookEndpoint', 'Disable a webhook endpoint', {
        '200': json('Disabled.', 'WebhookEndpoint'),
      }),
    },
    [`${endpoint}/rotate-secret`]: {
      post: write('rotateWebhookSecret', 'Give a webhook endpoint a new secret', {
        parameters: [ID_PARAMETER],
        body: jsonBody('SecretRotation', false),
        success: { '200': json('The new secret.', 'WebhookEndpointWithSecret') },
        errors: [...BODY_ERRORS, ...NOT_FOUND],
      }),
    },
    [`${endpoint}/test`]: { post: send('testWebhookEndpoint', 'Send a test event to a webhook endpoint') },
    ...deliveryPaths(),
  };
}

function deliveryPaths(): Paths {
  return {
    '/v1/webhook-deliveries': {
      get: write('listWebhookDeliveries', 'List webhook deliveries, newest first', {
        parameters: [
          query('endpoint_id', 'Only deliveries to this endpoint.', ID),
          query('type', 'Only deliveries of this event.', { type: 'string', enum: SENT_EVENTS }),
          query('status', 'Only deliveries with this status.', { type: 'string', enum: DELIVERY_STATUSES }),
          query('limit', 'Deliveries per page.', PAGE_LIMIT),
          query('cursor', '`next_cursor` of the page before.', STRING),
        ],
        success: { '200': json('A page of deliveries.', 'WebhookDeliveryList') },
        errors: ['invalid_fields'],
        isPage: true,
      }),
    },
    '/v1/webhook-deliveries/{id}': {
      get: readOne(
        'getWebhookDelivery',
        'Get a webhook delivery with its attempts',
        json('The delivery.', 'WebhookDeliveryDetails'),
      ),
    },
    '/v1/webhook-deliveries/{id}/resend': { post: send('resendWebhookDelivery', 'Send a webhook again') },
    '/v1/webhook-secret': {
      get: read(
        'getWebhookSecret',
        'Get the secret that signs webhooks to `webhook_url`',
        json('The secret.', 'WebhookSecret'),
      ),
    },
    '/v1/webhook-secret/rotate': {
      post: write('rotateAccountWebhookSecret', 'Get a new secret for webhooks to `webhook_url`', {
        body: jsonBody('SecretRotation', false),
        success: { '200': json('The new secret.', 'WebhookSecret') },
        errors: BODY_ERRORS,
      }),
    },
  };
}

/** Describes the messages that receivers get. */
export function webhooksSection(): Readonly<Record<string, Json>> {
  return Object.fromEntries(SENT_EVENTS.map((event): [string, Json] => [event, { post: eventOperation(event) }]));
}

type SentEvent = WebhookEventType | typeof TEST_EVENT;

const MEANINGS: Readonly<Record<SentEvent, string>> = {
  'render.succeeded': 'A stored render succeeded',
  'render.failed': 'A stored render failed',
  'render.canceled': 'A stored render was canceled',
  'batch.completed': 'All renders of a batch have ended',
  [TEST_EVENT]: 'A test, which you asked for',
};

const SCHEMAS: Partial<Record<SentEvent, string>> = { 'batch.completed': 'BatchEvent', [TEST_EVENT]: 'TestEvent' };

function eventOperation(event: SentEvent): Operation {
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
    tags: [TAG],
    security: [],
    parameters: [
      header('webhook-id', 'The same for every attempt. Use it to recognize repeated webhooks.'),
      header('webhook-timestamp', 'When this attempt was sent, in seconds since 1970.'),
      header('webhook-signature', 'One signature per secret, separated by spaces, such as `v1,...`.'),
    ],
    requestBody: jsonBody(SCHEMAS[event] ?? 'RenderEvent', true),
    responses: {
      '2XX': { description: 'Received. Respond within 15 seconds.' },
      '410': { description: 'Wants no more webhooks. The endpoint is disabled.' },
      default: { description: 'Not received. The webhook is sent again later.' },
    },
  };
}

type Parts = Omit<Parameters<typeof operation>[0], 'id' | 'summary' | 'tag' | 'description'> & {
  readonly description?: string;
};

function write(
  id: string,
  summary: string,
  { description = `${summary}. Needs a live key without allowed origins.`, errors, ...parts }: Parts,
): Operation {
  return operation({ id, summary, description, tag: TAG, ...parts, errors: ['server_key_required', ...errors] });
}

function read(id: string, summary: string, found: Json): Operation {
  return write(id, summary, { success: { '200': found }, errors: [], isPage: true });
}

function readOne(id: string, summary: string, found: Json): Operation {
  const parameters = [ID_PARAMETER];
  return write(id, summary, { parameters, success: { '200': found }, errors: NOT_FOUND, isPage: true });
}

/** Describes a request without a body. */
function change(id: string, summary: string, success: Readonly<Record<string, Json>>): Operation {
  return write(id, summary, {
    parameters: [ID_PARAMETER],
    success,
    errors: [...NOT_FOUND, 'unsupported_content_type'],
  });
}

function send(id: string, summary: string): Operation {
  return write(id, summary, {
    parameters: [ID_PARAMETER],
    success: {
      '202': json('The delivery. It is sent within a second or two.', 'WebhookDelivery', ['location', 'retry-after']),
    },
    errors: [...NOT_FOUND, 'webhook_disabled', 'too_many_failures', 'unsupported_content_type'],
  });
}

// Webhooks in the OpenAPI document: the messages that the service sends, and the bodies of requests about them.

import { STRING } from '../../api/schema-parts.ts';
import { EVENTS, SENT_EVENTS, TEST_EVENT } from '../../api/webhook-schemas.ts';
import { MAX_URL_LENGTH } from '../../../engine/caption/asset-url.ts';
import type { Json } from '../../../shared/json-schema.ts';
import type { WebhookEventType } from '../../store/webhooks/webhook.ts';
import { DEFAULT_OVERLAP_SECONDS, MAX_OVERLAP_SECONDS } from '../../webhooks/rotation-field.ts';
import { jsonBody } from '../operation.ts';

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

function eventOperation(event: SentEvent): Json {
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
    tags: ['Webhooks'],
    security: [],
    parameters: [
      header('webhook-id', 'The same for every attempt. Use it to recognize repeated webhooks.'),
      header('webhook-timestamp', 'When this attempt was sent, in seconds since 1970.'),
      header('webhook-signature', 'One signature per secret, separated by spaces, such as `v1,...`.'),
    ],
    requestBody: jsonBody(SCHEMAS[event] ?? 'RenderEvent'),
    responses: {
      '2XX': { description: 'Received. Respond within 15 seconds.' },
      '410': { description: 'Wants no more webhooks. The endpoint is disabled.' },
      default: { description: 'Not received. The webhook is sent again later.' },
    },
  };
}

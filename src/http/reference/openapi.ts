// The API as an OpenAPI 3.1 document, built from the tables that the server itself uses. `GET /openapi.json` returns it, and
// `npm run generate` writes it to docs/openapi.json.

import { FAULTS } from './faults.ts';
import { type Json, FORM_ENCODING, FORM_SCHEMA, OVERLAY_SCHEMA } from './openapi-form.ts';
import { RESPONSE_HEADERS } from './response-headers.ts';
import { PROBLEMS, type ProblemKind } from './statuses.ts';

const IDEMPOTENCY_KEY: Json = {
  name: 'idempotency-key',
  in: 'header',
  required: false,
  description:
    'A unique value of your choice, such as a UUID. Retries with the same key within 24 hours are rendered and charged once.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
};

export function openApiDocument(version: string): Json {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Storybar',
      version,
      summary: 'Story-style captions for photos and videos.',
      description: 'There is one endpoint: `POST /v1/overlay`. The response body is the finished file.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    paths: {
      '/v1/overlay': { post: overlayOperation() },
      '/ping': { get: plainOperation('ping', 'Liveness check', 'text/plain', { type: 'string', const: 'pong\n' }) },
      '/health': {
        get: plainOperation('health', 'Version, workers, queues and codecs', 'application/json', { type: 'object' }),
      },
    },
    components: {
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'Your API key. Live keys start with `sb_live_`, test keys with `sb_test_`.',
        },
      },
      schemas: { Overlay: OVERLAY_SCHEMA, Problem: problemSchema(), FieldFault: faultSchema() },
      headers: Object.fromEntries(
        Object.entries(RESPONSE_HEADERS).map(([name, { description, schema }]) => [name, { description, schema }]),
      ),
    },
  };
}

function overlayOperation(): Json {
  return {
    operationId: 'renderOverlay',
    summary: 'Add captions to an image or video, or render them as a transparent PNG',
    parameters: [IDEMPOTENCY_KEY],
    requestBody: {
      required: true,
      content: { 'multipart/form-data': { schema: FORM_SCHEMA, encoding: FORM_ENCODING } },
    },
    responses: { '200': success(), ...errorResponses() },
  };
}

function success(): Json {
  const file = { schema: { contentMediaType: 'application/octet-stream' } };
  const names = Object.keys(RESPONSE_HEADERS).filter((name) => name !== 'content-type');
  return {
    description: 'The finished file: an MP4 for videos, otherwise a PNG.',
    headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: { 'image/png': file, 'video/mp4': file },
  };
}

/** One response for each error status a client can receive, with the codes that use it. */
function errorResponses(): Record<string, Json> {
  const kinds = Object.entries(PROBLEMS).filter(([code]) => code !== 'client_closed');
  const statuses = [...new Set(kinds.map(([, { status }]) => status))].toSorted((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = kinds.filter(([, kind]) => kind.status === status);
      return [String(status), errorResponse(ofStatus)];
    }),
  );
}

function errorResponse(kinds: readonly (readonly [string, ProblemKind])[]): Json {
  const codes = kinds.map(([code]) => code);
  return {
    description: kinds.map(([code, { advice }]) => `\`${code}\`: ${advice}`).join('\n\n'),
    headers: { 'x-render-id': { $ref: '#/components/headers/x-render-id' } },
    content: {
      'application/problem+json': {
        schema: { allOf: [{ $ref: '#/components/schemas/Problem' }, { properties: { code: { enum: codes } } }] },
      },
    },
  };
}

function plainOperation(operationId: string, summary: string, type: string, schema: Json): Json {
  return {
    operationId,
    summary,
    security: [],
    responses: { '200': { description: summary, content: { [type]: { schema } } } },
  };
}

function problemSchema(): Json {
  return {
    type: 'object',
    description: 'RFC 9457 problem details.',
    required: ['type', 'title', 'status', 'detail', 'instance', 'code'],
    properties: {
      type: { type: 'string', format: 'uri', description: 'Link to the documentation of this code.' },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: {
        type: 'string',
        description: 'What is wrong with this request and how to fix it. The wording may change.',
      },
      instance: { type: 'string', format: 'uuid', description: 'The render id, also sent as `x-render-id`.' },
      code: {
        type: 'string',
        enum: Object.keys(PROBLEMS).filter((code) => code !== 'client_closed'),
        description: 'Stable error code. New codes may be added; handle unknown ones by `status`.',
      },
      errors: {
        type: 'array',
        items: { $ref: '#/components/schemas/FieldFault' },
        description: 'Only with `invalid_fields`: every invalid field.',
      },
      limit: { type: 'number', description: 'Only with 413 and `quota_exceeded`: the limit.' },
      actual: { type: 'number', description: 'Only with 413 and `quota_exceeded`: the actual value.' },
      renewsAt: {
        type: 'string',
        format: 'date-time',
        description: 'Only with `quota_exceeded`: when credits reset.',
      },
    },
  };
}

function faultSchema(): Json {
  return {
    type: 'object',
    required: ['pointer', 'code', 'detail'],
    properties: {
      pointer: { type: 'string', description: 'JSON pointer to the field, such as `#/overlays/1/position`.' },
      code: { type: 'string', enum: Object.keys(FAULTS) },
      detail: { type: 'string' },
    },
  };
}

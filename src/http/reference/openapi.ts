// The API as an OpenAPI 3.1 document, put together from the tables the server itself works with. docs/openapi.json is
// written from it, and `GET /openapi.json` answers it.

import { FAULTS } from './faults.ts';
import { type Json, FORM_ENCODING, FORM_SCHEMA, OVERLAY_SCHEMA } from './openapi-form.ts';
import { RESPONSE_HEADERS } from './response-headers.ts';
import { PROBLEMS, type ProblemKind } from './statuses.ts';

const IDEMPOTENCY_KEY: Json = {
  name: 'idempotency-key',
  in: 'header',
  required: false,
  description: 'Any name for this request. Sent again within 24 hours, the same request is rendered and charged once.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
};

export function openApiDocument(version: string): Json {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Storybar',
      version,
      summary: 'Story-style caption bars on photos and videos.',
      description: 'One call, `POST /v1/overlay`. The finished file is the body of the answer.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    paths: {
      '/v1/overlay': { post: overlayOperation() },
      '/ping': { get: plainOperation('ping', 'Is anybody there?', 'text/plain', { type: 'string', const: 'pong\n' }) },
      '/health': {
        get: plainOperation('health', 'Version, workers, queues and codecs.', 'application/json', { type: 'object' }),
      },
    },
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'Your key, `sb_live_...`.' },
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
    summary: 'Put caption bars on an image or a video, or make a transparent PNG with the bars alone.',
    parameters: [IDEMPOTENCY_KEY],
    requestBody: {
      required: true,
      content: { 'multipart/form-data': { schema: FORM_SCHEMA, encoding: FORM_ENCODING } },
    },
    responses: { '200': success(), ...refusals() },
  };
}

function success(): Json {
  const file = { schema: { contentMediaType: 'application/octet-stream' } };
  const names = Object.keys(RESPONSE_HEADERS).filter((name) => name !== 'content-type');
  return {
    description: 'The finished file: a PNG for an image and for bars alone, an MP4 for a video.',
    headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: { 'image/png': file, 'video/mp4': file },
  };
}

/** One response for each status a caller can see, naming the codes behind it. */
function refusals(): Record<string, Json> {
  const kinds = Object.entries(PROBLEMS).filter(([code]) => code !== 'client_closed');
  const statuses = [...new Set(kinds.map(([, { status }]) => status))].toSorted((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = kinds.filter(([, kind]) => kind.status === status);
      return [String(status), refusal(ofStatus)];
    }),
  );
}

function refusal(kinds: readonly (readonly [string, ProblemKind])[]): Json {
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
      type: { type: 'string', format: 'uri', description: 'A page about the code.' },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string', description: 'What is wrong with this request, for a person.' },
      instance: { type: 'string', format: 'uuid', description: 'The render id, as in `x-render-id`.' },
      code: { type: 'string', enum: Object.keys(PROBLEMS).filter((code) => code !== 'client_closed') },
      errors: {
        type: 'array',
        items: { $ref: '#/components/schemas/FieldFault' },
        description: 'Every fault, with `invalid_fields`.',
      },
      limit: { type: 'number', description: 'With 413: what your plan allows.' },
      actual: { type: 'number', description: 'With 413: what was sent.' },
    },
  };
}

function faultSchema(): Json {
  return {
    type: 'object',
    required: ['pointer', 'code', 'detail'],
    properties: {
      pointer: { type: 'string', description: 'JSON pointer to the field, as in `#/overlays/1/position`.' },
      code: { type: 'string', enum: Object.keys(FAULTS) },
      detail: { type: 'string' },
    },
  };
}

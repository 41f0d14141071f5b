// The API as an OpenAPI 3.1 document, built from the tables that the server itself uses. `GET /openapi.json` returns it, and
// `npm run generate` writes it to docs/openapi.json.

import { must } from '../../primitives/must.ts';
import type { Json } from '../../primitives/json-schema.ts';
import {
  FILE_CONTENT,
  FORM_SCHEMA,
  OVERLAY_SCHEMA,
  REQUEST_CONTENT,
  REQUEST_SCHEMA,
  STYLE_SCHEMA,
} from './openapi-form.ts';
import { layoutOperation, READ_SCHEMAS, usageOperation } from './openapi-reads.ts';
import { errorResponses, faultSchema, problemSchema } from './openapi-problem.ts';
import { ACCEPTED, PREFER, RENDER_SCHEMAS, renderPaths } from './openapi-renders.ts';
import { RESPONSE_HEADERS } from './response-headers.ts';
import { WEBHOOK_SCHEMAS, webhookPaths, webhookResponses, webhooksSection } from './openapi-webhooks.ts';

const IDEMPOTENCY_KEY: Json = {
  name: 'idempotency-key',
  in: 'header',
  required: false,
  description:
    'A unique value of your choice, such as a UUID. Retries with the same key within 24 hours are rendered and charged once.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
};

/** OpenAPI describes the content type apart from the other headers. */
const HEADER_NAMES = Object.keys(RESPONSE_HEADERS).filter((name) => name !== 'content-type');

const SECURITY_SCHEMES: Json = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'Your API key. Live keys start with `sb_live_`, test keys with `sb_test_`.',
  },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'Your API key as a bearer token. It counts only without `x-api-key`.',
  },
};

const DESCRIPTION =
  '`POST /v1/overlay` renders; the response body is the finished file. `POST /v1/layout` shows where captions would go, ' +
  'and `GET /v1/usage` what the account has used. Both are free.';

export function openApiDocument(version: string): Json {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Storybar',
      version,
      summary: 'Story-style captions for photos and videos.',
      description: DESCRIPTION,
      contact: { name: 'The operator of this server' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [
      { name: 'Rendering', description: 'Captions on images and videos.' },
      { name: 'Stored renders', description: 'Asynchronous renders, links to results, and batches.' },
      { name: 'Webhooks', description: 'Signed requests to your server when a stored render ends.' },
      { name: 'Account', description: 'Plan, credits and usage.' },
      { name: 'Service', description: 'Checks for monitoring and load balancers.' },
    ],
    security: [{ apiKey: [] }, { bearer: [] }],
    paths: {
      '/v1/overlay': { post: overlayOperation() },
      '/v1/layout': { post: layoutOperation() },
      '/v1/usage': { get: usageOperation() },
      ...renderPaths(),
      ...webhookPaths(),
      '/ping': { get: plainOperation('ping', 'Liveness check', 'text/plain', { type: 'string', const: 'pong\n' }) },
      '/health': {
        get: plainOperation(
          'health',
          'Whether the server is up. Operators with the metrics token also get details',
          'application/json',
          { type: 'object' },
        ),
      },
    },
    webhooks: webhooksSection(),
    components: {
      securitySchemes: SECURITY_SCHEMES,
      responses: webhookResponses(),
      schemas: {
        OverlayForm: FORM_SCHEMA,
        OverlayRequest: REQUEST_SCHEMA,
        Overlay: OVERLAY_SCHEMA,
        Style: STYLE_SCHEMA,
        ...READ_SCHEMAS,
        ...RENDER_SCHEMAS,
        ...WEBHOOK_SCHEMAS,
        Problem: problemSchema(),
        FieldFault: faultSchema(),
      },
      headers: Object.fromEntries(
        HEADER_NAMES.map((name) => {
          const { description, schema } = must(RESPONSE_HEADERS[name], 'the header');
          return [name, { description, schema }];
        }),
      ),
    },
  };
}

function overlayOperation(): Json {
  return {
    operationId: 'renderOverlay',
    summary: 'Add captions to an image or video, or render them as a transparent image',
    description:
      'Returns the finished file. Nothing is charged unless the whole file was sent. With `deliver=url`, returns the render as ' +
      'JSON with a link to the file; with `prefer: respond-async` or `async`, 202 before the render starts.',
    tags: ['Rendering'],
    parameters: [IDEMPOTENCY_KEY, PREFER],
    requestBody: { required: true, content: REQUEST_CONTENT },
    responses: { '200': success(), '202': ACCEPTED, ...errorResponses() },
  };
}

function success(): Json {
  return {
    description: 'The finished file: an MP4 for videos, otherwise an image in the requested format.',
    headers: Object.fromEntries(HEADER_NAMES.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: {
      ...FILE_CONTENT,
      'application/json': { schema: { $ref: '#/components/schemas/Render' } },
    },
  };
}

function plainOperation(operationId: string, summary: string, type: string, schema: Json): Json {
  return {
    operationId,
    summary,
    description: `${summary}. Needs no key.`,
    tags: ['Service'],
    security: [],
    responses: {
      '200': { description: summary, content: { [type]: { schema } } },
      '400': {
        description: 'The HTTP request is malformed.',
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  };
}

// The API as an OpenAPI 3.1 document, built from the tables that the server itself uses. `GET /openapi.json` returns it, and
// `npm run generate` writes it to docs/openapi.json.

import { RESPONSE_SCHEMAS } from '../../api/response-schemas.ts';
import { ref, STRING } from '../../api/schema-parts.ts';
import { CUE_SCHEMA } from '../../caption/request-fields.ts';
import type { Json } from '../../primitives/json-schema.ts';
import {
  FILE_CONTENT,
  FORM_SCHEMA,
  IDEMPOTENCY_KEY,
  OVERLAY_SCHEMA,
  REQUEST_CONTENT,
  REQUEST_SCHEMA,
  LOGO_FORM,
  SAVED_STYLE_SCHEMA,
  STYLE_SCHEMA,
} from './openapi-form.ts';
import {
  BODY_ERRORS,
  header,
  headersOf,
  IDEMPOTENCY_ERRORS,
  json,
  type Operation,
  openOperation,
  operation,
  type Paths,
  STORED_ERRORS,
  withSharedErrors,
} from './openapi-parts.ts';
import { LAYOUT_REQUEST, layoutOperation, usageOperation } from './openapi-layout-usage.ts';
import { brandPaths } from './openapi-brand.ts';
import { fontPaths } from './openapi-fonts.ts';
import { BATCH_REQUEST, renderPaths } from './openapi-renders.ts';
import { WEBHOOK_REQUESTS, webhookPaths, webhooksSection } from './openapi-webhooks.ts';
import { COMMON_HEADERS, FILE_HEADERS, HEADERS } from './response-headers.ts';

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
  const { paths, responses } = withSharedErrors({
    '/v1/overlay': { post: overlayOperation() },
    '/v1/layout': { post: layoutOperation() },
    '/v1/usage': { get: usageOperation() },
    ...renderPaths(),
    ...brandPaths(),
    ...fontPaths(),
    ...webhookPaths(),
    ...servicePaths(),
  });
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
      { name: 'Brand', description: 'Styles, logos and fonts that your account saved.' },
      { name: 'Webhooks', description: 'Signed requests to your server when a stored render ends.' },
      { name: 'Account', description: 'Plan, credits and usage.' },
      { name: 'Service', description: 'Checks for monitoring and load balancers.' },
    ],
    security: [{ apiKey: [] }, { bearer: [] }],
    paths,
    webhooks: webhooksSection(),
    components: {
      securitySchemes: SECURITY_SCHEMES,
      schemas: {
        OverlayForm: FORM_SCHEMA,
        OverlayRequest: REQUEST_SCHEMA,
        Overlay: OVERLAY_SCHEMA,
        Style: STYLE_SCHEMA,
        LogoForm: LOGO_FORM,
        SavedStyleRequest: SAVED_STYLE_SCHEMA,
        Cue: CUE_SCHEMA,
        LayoutRequest: LAYOUT_REQUEST,
        BatchRequest: BATCH_REQUEST,
        ...WEBHOOK_REQUESTS,
        ...RESPONSE_SCHEMAS,
      },
      responses,
      headers: HEADERS,
    },
  };
}

function overlayOperation(): Operation {
  return operation({
    id: 'renderOverlay',
    summary: 'Add captions to an image or video, or render them as a transparent image',
    description:
      'Returns the finished file. Nothing is charged unless the whole file was sent. With `deliver=url`, returns the render as ' +
      'JSON with a link to the file; with `prefer: respond-async` or `async`, 202 before the render starts.',
    tag: 'Rendering',
    parameters: [
      IDEMPOTENCY_KEY,
      header(
        'prefer',
        '`respond-async` returns 202 at once; the render continues. Files up to the asynchronous limits are accepted.',
      ),
    ],
    body: { required: true, content: REQUEST_CONTENT },
    success: {
      '200': finishedFile(),
      '202': json('Accepted; see `prefer` and `async`. `location` is where to ask for it.', 'Render', [
        'location',
        'preference-applied',
        'retry-after',
        'idempotency-replayed',
        'x-credits-charged',
        'x-render-id',
      ]),
    },
    errors: [
      ...BODY_ERRORS,
      ...IDEMPOTENCY_ERRORS,
      ...STORED_ERRORS,
      'too_many_renders',
      'quota_exceeded',
      'result_expired',
      'asset_too_large',
      'asset_too_many_pixels',
      'asset_dimensions_too_large',
      'asset_too_long',
      'asset_frame_rate_too_high',
      'asset_too_heavy',
      'at_out_of_range',
      'cannot_fit',
      'transcription_disabled',
      'no_sound',
      'no_speech',
      'transcription_failed',
      'unsupported_asset',
      'asset_undecodable',
      'asset_unreachable',
      'strict_warnings',
      'delivery_failed',
      'overloaded',
      'out_of_memory',
      'renderer_unavailable',
      'deadline_exceeded',
    ],
    errorHeaders: ['x-credits-charged', 'x-credits-remaining', 'x-render-id', 'location', 'idempotency-replayed'],
  });
}

/**
 * Generators that know one type per status prefer `application/json` to any other. With a range of types, the JSON of
 * `deliver=url` comes last, and their clients return the file.
 */
function finishedFile(): Json {
  return {
    description:
      'The finished file: an MP4 for videos, otherwise an image in the requested format. With `deliver=url` or `put_url`, the render as ' +
      '`application/json`.',
    headers: headersOf([...FILE_HEADERS, 'location']),
    content: { ...FILE_CONTENT, 'application/*': { schema: ref('Render') } },
  };
}

function servicePaths(): Paths {
  return {
    '/ping': {
      get: serviceOperation('ping', 'Liveness check', 'text/plain', { type: 'string', const: 'pong\n' }),
    },
    '/health': {
      get: serviceOperation(
        'health',
        'Whether the server is up. Operators with the metrics token also get details',
        'application/json',
        { type: 'object', required: ['status'], properties: { status: STRING } },
      ),
    },
  };
}

function serviceOperation(id: string, summary: string, type: string, schema: Json): Operation {
  return openOperation({
    id,
    summary,
    description: `${summary}. Needs no key.`,
    tag: 'Service',
    success: {
      '200': {
        description: summary,
        headers: headersOf([...COMMON_HEADERS, 'cache-control']),
        content: { [type]: { schema } },
      },
    },
    errors: [],
  });
}

// Stored renders, their results and batches in the OpenAPI document.

import type { Json } from '../../primitives/json-schema.ts';
import { FILE_CONTENT } from './openapi-form.ts';
import { readErrorResponses, renderErrorResponses } from './openapi-problem.ts';

const STRING: Json = { type: 'string' };
const INTEGER: Json = { type: 'integer' };
const ID: Json = { type: 'string', format: 'uuid' };
const TIME: Json = { type: ['string', 'null'], format: 'date-time' };
const STATUS: Json = { type: 'string', enum: ['queued', 'rendering', 'succeeded', 'failed', 'canceled'] };
const ID_PARAMETER: Json = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of the render or batch.',
  schema: ID,
};

export const RENDER_SCHEMAS: Readonly<Record<string, Json>> = {
  Render: complete({
    id: ID,
    status: STATUS,
    progress: { type: 'number', minimum: 0, maximum: 1, description: 'How much of a video is encoded.' },
    source_type: { type: ['string', 'null'], description: '`image` or `video`. Null until the file is fetched.' },
    credits: { type: ['integer', 'null'], description: 'What was charged. Null until the render has ended.' },
    test: { type: 'boolean', description: 'Whether it was requested with a test key.' },
    warnings: { type: 'array', items: STRING },
    missing_glyphs: INTEGER,
    source_pixels: { type: ['string', 'null'] },
    batch_id: { type: ['string', 'null'], format: 'uuid' },
    created_at: { type: 'string', format: 'date-time' },
    started_at: TIME,
    finished_at: TIME,
    expires_at: { ...TIME, description: 'Until when the result can be downloaded.' },
    output: { anyOf: [{ $ref: '#/components/schemas/RenderOutput' }, { type: 'null' }] },
    error: { anyOf: [{ $ref: '#/components/schemas/Problem' }, { type: 'null' }] },
  }),
  RenderOutput: complete({
    url: { type: 'string', format: 'uri', description: 'Link to the file. It needs no key, so treat it as a secret.' },
    content_type: STRING,
    bytes: INTEGER,
    width: INTEGER,
    height: INTEGER,
    duration: { type: ['number', 'null'], description: 'Seconds; null for images.' },
  }),
  RenderList: complete({
    renders: { type: 'array', items: { $ref: '#/components/schemas/Render' } },
    next_cursor: { type: ['string', 'null'], description: 'The `cursor` of the next page; null on the last one.' },
  }),
  BatchRequest: {
    type: 'object',
    required: ['requests'],
    properties: {
      requests: { type: 'array', minItems: 1, maxItems: 100, items: { $ref: '#/components/schemas/OverlayRequest' } },
    },
    additionalProperties: false,
  },
  Batch: complete({
    id: ID,
    status: { type: 'string', enum: ['running', 'completed'] },
    queued: INTEGER,
    rendering: INTEGER,
    succeeded: INTEGER,
    failed: INTEGER,
    canceled: INTEGER,
    credits: INTEGER,
    renders: { type: 'array', items: { $ref: '#/components/schemas/Render' } },
  }),
};

/** The response to an asynchronous request. */
export const ACCEPTED: Json = json('Accepted; see `prefer` and `async`. `location` is where to ask for it.', 'Render');

export const PREFER: Json = {
  name: 'prefer',
  in: 'header',
  required: false,
  description:
    '`respond-async` returns 202 at once; the render continues. Files up to the asynchronous limits are accepted.',
  schema: STRING,
};

export function renderPaths(): Record<string, Json> {
  return {
    '/v1/renders': { get: listOperation() },
    '/v1/renders/{id}': { get: getOperation(), delete: deleteOperation('Render') },
    '/v1/results/{name}': { get: resultOperation() },
    '/v1/batches': { post: batchOperation() },
    '/v1/batches/{id}': { get: getBatchOperation(), delete: deleteOperation('Batch') },
  };
}

function listOperation(): Json {
  return {
    operationId: 'listRenders',
    summary: 'List stored renders, newest first',
    description: 'Test keys see test renders. Keys with allowed origins see their own.',
    tags: ['Stored renders'],
    parameters: [
      {
        name: 'limit',
        in: 'query',
        description: 'Renders per page.',
        schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
      },
      { name: 'cursor', in: 'query', description: '`next_cursor` of the page before.', schema: STRING },
    ],
    responses: { '200': json('A page of renders.', 'RenderList'), ...readErrorResponses() },
  };
}

function getOperation(): Json {
  return {
    operationId: 'getRender',
    summary: 'Get a stored render',
    description: 'With `wait`, the response comes when the render ends, or after that many seconds.',
    tags: ['Stored renders'],
    parameters: [
      ID_PARAMETER,
      {
        name: 'wait',
        in: 'query',
        description: 'Seconds to wait.',
        schema: { type: 'integer', minimum: 0, maximum: 60, default: 0 },
      },
    ],
    responses: { '200': json('The render.', 'Render'), ...renderErrorResponses() },
  };
}

function deleteOperation(schema: 'Render' | 'Batch'): Json {
  const noun = schema.toLowerCase();
  return {
    operationId: `delete${schema}`,
    summary: `Cancel or delete a ${noun}`,
    description:
      `Deletes a ${noun} that has ended, with its results. Otherwise cancels what hasn't ended, free of charge; ` +
      'a render that ends at the same moment keeps its result.',
    tags: ['Stored renders'],
    parameters: [ID_PARAMETER],
    responses: {
      '200': json('Canceled, or ended at the same moment.', schema),
      '204': { description: 'Deleted.' },
      ...renderErrorResponses(),
    },
  };
}

function batchOperation(): Json {
  return {
    operationId: 'createBatch',
    summary: 'Render up to 100 requests asynchronously',
    description:
      'All requests are checked first; a fault in any of them refuses the batch. Renders that fail later stay single.',
    tags: ['Stored renders'],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/BatchRequest' } } },
    },
    responses: { '202': json('Accepted.', 'Batch'), ...renderErrorResponses() },
  };
}

function getBatchOperation(): Json {
  return {
    operationId: 'getBatch',
    summary: 'Get a batch and its renders',
    description: 'The renders are in the order of the requests.',
    tags: ['Stored renders'],
    parameters: [ID_PARAMETER],
    responses: { '200': json('The batch.', 'Batch'), ...renderErrorResponses() },
  };
}

function resultOperation(): Json {
  return {
    operationId: 'getResult',
    summary: 'Download a result',
    description: 'The link in `output.url`. Needs no key. Supports `range` and `HEAD`.',
    tags: ['Stored renders'],
    security: [],
    parameters: [{ name: 'name', in: 'path', required: true, description: 'As in the link.', schema: STRING }],
    responses: {
      '200': { description: 'The file.', content: FILE_CONTENT },
      '206': { description: 'The range of the file.', content: FILE_CONTENT },
      ...renderErrorResponses(['400', '404', '410', '416', '503']),
    },
  };
}

function json(description: string, schema: string): Json {
  return { description, content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } } };
}

function complete(properties: Readonly<Record<string, Json>>): Json {
  return { type: 'object', required: Object.keys(properties), properties };
}

// Stored renders, their results and batches in the OpenAPI document.

import { ID, ref, STRING } from '../../api/schema-parts.ts';
import type { ErrorCode } from '../../error-table.ts';
import type { Json } from '../../primitives/json-schema.ts';
import { PAGE_LIMIT, WAIT_SECONDS } from '../renders/render-routes.ts';
import { MAX_BATCH } from '../../renders/render-view.ts';
import { FILE_CONTENT, IDEMPOTENCY_KEY } from './openapi-form.ts';
import {
  BODY_ERRORS,
  header,
  headersOf,
  IDEMPOTENCY_ERRORS,
  json,
  jsonBody,
  noContent,
  type Operation,
  openOperation,
  operation,
  type Paths,
  query,
  STORED_ERRORS,
} from './openapi-parts.ts';
import { COMMON_HEADERS, type HeaderName } from './response-headers.ts';

const TAG = 'Stored renders';
const NOT_FOUND = ['render_not_found', 'not_found'] as const satisfies readonly ErrorCode[];
const ID_PARAMETER: Json = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of the render or batch.',
  schema: ID,
};

/** Headers that let pages of any site read results, and errors about them. */
const SHARED_HEADERS = ['access-control-allow-origin', 'access-control-expose-headers'] as const;
const RESULT_HEADERS = [
  ...COMMON_HEADERS,
  'x-render-id',
  ...SHARED_HEADERS,
  'accept-ranges',
  'cache-control',
  'content-disposition',
  'cross-origin-resource-policy',
  'etag',
  'referrer-policy',
] as const satisfies readonly HeaderName[];

export const BATCH_REQUEST: Json = {
  type: 'object',
  required: ['requests'],
  properties: {
    requests: { type: 'array', minItems: 1, maxItems: MAX_BATCH, items: ref('OverlayRequest') },
  },
  additionalProperties: false,
};

export function renderPaths(): Paths {
  return {
    '/v1/renders': { get: listOperation() },
    '/v1/renders/{id}': { get: getOperation(), delete: deleteOperation('Render') },
    '/v1/results/{name}': { get: resultOperation() },
    '/v1/batches': { post: batchOperation() },
    '/v1/batches/{id}': { get: getBatchOperation(), delete: deleteOperation('Batch') },
  };
}

function listOperation(): Operation {
  return operation({
    id: 'listRenders',
    summary: 'List stored renders, newest first',
    description: 'Test keys see test renders. Keys with allowed origins see their own.',
    tag: TAG,
    parameters: [
      query('limit', 'Renders per page.', PAGE_LIMIT),
      query('cursor', '`next_cursor` of the page before.', STRING),
    ],
    success: { '200': json('A page of renders.', 'RenderList') },
    errors: ['invalid_fields'],
    isPage: true,
  });
}

function getOperation(): Operation {
  return operation({
    id: 'getRender',
    summary: 'Get a stored render',
    description: 'With `wait`, the response comes when the render ends, or after that many seconds.',
    tag: TAG,
    parameters: [ID_PARAMETER, query('wait', 'Seconds to wait.', WAIT_SECONDS)],
    success: { '200': json('The render.', 'Render') },
    errors: ['invalid_fields', ...NOT_FOUND],
    isPage: true,
  });
}

function deleteOperation(schema: 'Render' | 'Batch'): Operation {
  const noun = schema.toLowerCase();
  return operation({
    id: `delete${schema}`,
    summary: `Cancel or delete a ${noun}`,
    description:
      `Deletes a ${noun} that has ended, with its results. Otherwise cancels what hasn't ended, free of charge; ` +
      'a render that ends at the same moment keeps its result.',
    tag: TAG,
    parameters: [ID_PARAMETER],
    success: { '200': json('Canceled, or ended at the same moment.', schema), '204': noContent('Deleted.') },
    errors: [...NOT_FOUND, 'unsupported_content_type'],
  });
}

function batchOperation(): Operation {
  return operation({
    id: 'createBatch',
    summary: 'Render up to 100 requests asynchronously',
    description:
      'All requests are checked first; a fault in any of them refuses the batch. Renders that fail later stay single.',
    tag: TAG,
    parameters: [IDEMPOTENCY_KEY],
    body: jsonBody('BatchRequest', true),
    success: { '202': json('Accepted.', 'Batch', ['location', 'retry-after', 'idempotency-replayed']) },
    errors: [...BODY_ERRORS, ...IDEMPOTENCY_ERRORS, ...STORED_ERRORS],
  });
}

function getBatchOperation(): Operation {
  return operation({
    id: 'getBatch',
    summary: 'Get a batch and its renders',
    description: 'The renders are in the order of the requests.',
    tag: TAG,
    parameters: [ID_PARAMETER],
    success: { '200': json('The batch.', 'Batch') },
    errors: NOT_FOUND,
    isPage: true,
  });
}

function resultOperation(): Operation {
  return openOperation({
    id: 'getResult',
    summary: 'Download a result',
    description: 'The link in `output.url`. Needs no key. Supports `range` and `HEAD`.',
    tag: TAG,
    parameters: [
      { name: 'name', in: 'path', required: true, description: 'As in the link.', schema: STRING },
      header('range', 'The part of the file to send, such as `bytes=0-1023`.'),
      header('if-range', 'The `etag` of the file that the range is of. Another file is sent as a whole.'),
      header('if-none-match', 'The `etag` of the file that you have.'),
    ],
    success: {
      '200': { description: 'The file.', headers: headersOf(RESULT_HEADERS), content: FILE_CONTENT },
      '206': {
        description: 'The range of the file.',
        headers: headersOf([...RESULT_HEADERS, 'content-range']),
        content: FILE_CONTENT,
      },
      '304': { description: 'You have the file: `if-none-match` is its `etag`.', headers: headersOf(RESULT_HEADERS) },
    },
    errors: ['not_found', 'result_expired', 'range_not_satisfiable', 'storage_unavailable'],
    errorHeaders: [...SHARED_HEADERS, 'content-range'],
  });
}

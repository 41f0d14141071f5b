// The error responses of the OpenAPI document.

import type { Json } from '../../primitives/json-schema.ts';
import { FAULTS } from '../../api/faults.ts';
import { PROBLEMS, type ProblemKind } from '../../api/statuses.ts';

/** Responses of requests that render nothing: those errors of a render that they can have. */
export function readErrorResponses(): Record<string, Json> {
  const { '400': invalid, '401': key, '403': inactive, '429': limited, '503': unavailable } = errorResponses();
  return Object.fromEntries(
    Object.entries({ '400': invalid, '401': key, '403': inactive, '429': limited, '503': unavailable }).map(
      ([status, response]) => [status, response ?? {}],
    ),
  );
}

/** Error responses of requests about stored renders. */
export function renderErrorResponses(
  statuses: readonly string[] = ['400', '401', '403', '404', '429', '503'],
): Record<string, Json> {
  const all = errorResponses();
  return Object.fromEntries(statuses.map((status) => [status, all[status] ?? {}]));
}

/** One response for each error status a client can receive, with the codes that use it. */
export function errorResponses(): Record<string, Json> {
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

export function problemSchema(): Json {
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
      warnings: {
        type: 'array',
        items: { type: 'string' },
        description: 'Only with `strict_warnings`: what is wrong with the captions, as in `x-warnings`.',
      },
      upstream_status: {
        type: 'integer',
        description: 'Only with `asset_unreachable`: the status that the server of `asset_url` responded with.',
      },
      renewsAt: {
        type: 'string',
        format: 'date-time',
        description: 'Only with `quota_exceeded`: when credits reset.',
      },
    },
  };
}

export function faultSchema(): Json {
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

// Errors as the API returns them: RFC 9457 problem details.

import type { FaultCode } from '../../shared/errors.ts';
import { FAULTS } from './faults.ts';
import { complete, ID, listOf, ref, STRING, TIME, URL } from './schema-parts.ts';
import { type ErrorCode, ERRORS } from '../../shared/error-table.ts';

const CODES: readonly ErrorCode[] = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => code !== 'client_closed');

const { required, properties } = complete({
  type: { ...URL, description: 'Link to the documentation of this code.' },
  title: STRING,
  status: { type: 'integer' },
  detail: {
    type: 'string',
    description: 'What is wrong with this request and how to fix it. The wording may change.',
  },
  instance: {
    ...ID,
    description:
      'The id of the request, also sent as `x-request-id`. In the error of a stored render, the id of the render.',
  },
  code: {
    type: 'string',
    enum: CODES,
    description: 'Stable error code. New codes may be added; handle unknown ones by `status`.',
  },
});

export const PROBLEM_SCHEMAS = {
  Problem: {
    type: 'object',
    description: 'RFC 9457 problem details.',
    required,
    properties: {
      ...properties,
      errors: { ...listOf(ref('FieldFault')), description: 'Only with `invalid_fields`: every invalid field.' },
      limit: { type: 'number', description: 'Only with limits that are exceeded: the limit.' },
      actual: { type: 'number', description: 'Only with limits that are exceeded: the actual value.' },
      warnings: {
        ...listOf(STRING),
        description: 'Only with `strict_warnings`: what is wrong with the captions, as in `x-warnings`.',
      },
      upstream_status: {
        type: 'integer',
        description:
          'Only with `asset_unreachable` and `delivery_failed`: the status that the server of `asset_url` or `put_url` responded with.',
      },
      renewsAt: { ...TIME, description: 'Only with `quota_exceeded`: when credits reset.' },
    },
  },
  FieldFault: complete({
    pointer: { type: 'string', description: 'JSON pointer to the field, such as `#/overlays/1/position`.' },
    code: { type: 'string', enum: Object.keys(FAULTS) as FaultCode[] },
    detail: STRING,
  }),
} as const;

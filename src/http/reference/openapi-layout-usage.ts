// The free requests in the OpenAPI document: layout and usage.

import { DAY, ref } from '../../api/schema-parts.ts';
import { CAPTION_FIELDS, LAYOUT_FIELDS, LOOK_FIELDS } from '../../caption/request-fields.ts';
import type { Json } from '../../primitives/json-schema.ts';
import { BODY_ERRORS, json, type Operation, operation, query } from './openapi-parts.ts';
import { JSON_FIELDS } from './openapi-form.ts';

const { strict, ...captions } = CAPTION_FIELDS;

export const LAYOUT_REQUEST: Json = {
  type: 'object',
  description: 'Send either `text`, `overlays` or `captions`.',
  required: ['width', 'height'],
  properties: { ...captions, ...LOOK_FIELDS, strict, duration: LAYOUT_FIELDS.duration },
  additionalProperties: false,
};

export function layoutOperation(): Operation {
  return operation({
    id: 'layoutOverlay',
    summary: 'Show where captions would go, without rendering them',
    description: 'Returns the bars of a render with this size and these captions, and its price. Free.',
    tag: 'Rendering',
    body: {
      required: true,
      content: {
        'application/json': { schema: ref('LayoutRequest') },
        'application/x-www-form-urlencoded': { schema: ref('LayoutRequest'), encoding: JSON_FIELDS },
      },
    },
    success: { '200': json('The layout.', 'Layout') },
    errors: [
      ...BODY_ERRORS,
      'strict_warnings',
      'too_many_renders',
      'too_many_failures',
      'overloaded',
      'renderer_unavailable',
      'out_of_memory',
      'deadline_exceeded',
    ],
  });
}

export function usageOperation(): Operation {
  return operation({
    id: 'getUsage',
    summary: 'Plan, credits and usage of the account',
    description: 'Returns the plan, what is left of it, and renders per day and key. Free.',
    tag: 'Account',
    parameters: [
      query('from', 'First day (UTC). Default: the start of the period.', DAY),
      query('to', 'Last day (UTC), at most a year later. Default: today.', DAY),
    ],
    success: { '200': json('The usage.', 'Usage') },
    errors: ['invalid_fields'],
    isPage: true,
  });
}

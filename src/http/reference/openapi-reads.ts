// The free requests in the OpenAPI document: layout and usage.

import { CAPTION_FIELDS, LAYOUT_FIELDS, LOOK_FIELDS } from '../../caption/request-fields.ts';
import type { Json } from '../../primitives/json-schema.ts';
import { LAYOUT_WARNINGS } from '../../render/warnings.ts';
import { readErrorResponses } from './openapi-problem.ts';

const { strict, ...captions } = CAPTION_FIELDS;
const NUMBER: Json = { type: 'number' };
const INTEGER: Json = { type: 'integer' };
const STRING: Json = { type: 'string' };
const DAY: Json = { type: 'string', format: 'date' };
const TIME: Json = { type: 'string', format: 'date-time' };
const WARNINGS: Json = {
  type: 'array',
  items: { type: 'string' },
  description: `Codes such as ${LAYOUT_WARNINGS.map((code) => `\`${code}\``).join(', ')}. More may be added.`,
};

export const READ_SCHEMAS: Readonly<Record<string, Json>> = {
  LayoutRequest: {
    type: 'object',
    description: 'Send either `text`, `overlays` or `captions`.',
    required: ['width', 'height'],
    properties: { ...captions, ...LOOK_FIELDS, strict, duration: LAYOUT_FIELDS.duration },
    additionalProperties: false,
  },
  Layout: complete({
    width: INTEGER,
    height: INTEGER,
    bars: { type: 'array', items: { $ref: '#/components/schemas/LayoutBar' } },
    warnings: WARNINGS,
    credits: { type: 'integer', description: 'What the render would cost.' },
  }),
  LayoutBar: complete({
    x: NUMBER,
    y: NUMBER,
    width: NUMBER,
    height: NUMBER,
    font_size: NUMBER,
    direction: { type: 'string', enum: ['ltr', 'rtl'] },
    lines: { type: 'array', items: complete({ text: STRING, x: NUMBER, width: NUMBER, baseline: NUMBER }) },
    fonts: { type: 'array', items: STRING },
    missing_characters: { type: 'array', items: STRING },
    warnings: WARNINGS,
  }),
  Usage: complete({
    plan: complete({
      name: STRING,
      title: STRING,
      credits: INTEGER,
      requests_per_minute: INTEGER,
      concurrent_renders: INTEGER,
      limits: { type: 'object', additionalProperties: { type: 'integer' } },
    }),
    period: complete({ starts_at: TIME, ends_at: TIME, renews: { type: 'boolean' } }),
    credits: complete({ limit: INTEGER, used: INTEGER, reserved: INTEGER, remaining: INTEGER }),
    from: DAY,
    to: DAY,
    days: {
      type: 'array',
      description: 'Per day and outcome. Empty for a key with allowed origins.',
      items: complete({ day: DAY, mode: STRING, outcome: STRING, renders: INTEGER, credits: INTEGER }),
    },
    keys: {
      type: 'array',
      description: 'Delivered renders per day and key, as far back as single renders are kept.',
      items: complete({
        day: DAY,
        key_id: { type: ['string', 'null'] },
        mode: STRING,
        renders: INTEGER,
        credits: INTEGER,
      }),
    },
  }),
};

export function layoutOperation(): Json {
  return {
    operationId: 'layoutOverlay',
    summary: 'Show where captions would go, without rendering them',
    description: 'Returns the bars of a render with this size and these captions, and its price. Free.',
    tags: ['Rendering'],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/LayoutRequest' } } },
    },
    responses: { '200': json('The layout.', 'Layout'), ...readErrorResponses() },
  };
}

export function usageOperation(): Json {
  return {
    operationId: 'getUsage',
    summary: 'Plan, credits and usage of the account',
    description: 'Returns the plan, what is left of it, and renders per day and key. Free.',
    tags: ['Account'],
    parameters: [
      { name: 'from', in: 'query', description: 'First day (UTC). Default: the start of the period.', schema: DAY },
      { name: 'to', in: 'query', description: 'Last day (UTC), at most a year later. Default: today.', schema: DAY },
    ],
    responses: { '200': json('The usage.', 'Usage'), ...readErrorResponses() },
  };
}

function json(description: string, schema: string): Json {
  return { description, content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } } };
}

/** An object that has all these properties. */
function complete(properties: Readonly<Record<string, Json>>): Json {
  return { type: 'object', required: Object.keys(properties), properties };
}

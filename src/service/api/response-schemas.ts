// Every object that the API returns. The OpenAPI document contains these schemas, and the types of responses follow from them.

import type { ValueOf } from '../../shared/json-schema.ts';
import { BRAND_SCHEMAS } from './brand-schemas.ts';
import { FREE_SCHEMAS } from './free-schemas.ts';
import { PROBLEM_SCHEMAS } from './problem-schemas.ts';
import { RENDER_SCHEMAS } from './render-schemas.ts';
import { WEBHOOK_SCHEMAS } from './webhook-schemas.ts';

export const RESPONSE_SCHEMAS = {
  ...FREE_SCHEMAS,
  ...RENDER_SCHEMAS,
  ...BRAND_SCHEMAS,
  ...WEBHOOK_SCHEMAS,
  ...PROBLEM_SCHEMAS,
} as const;

type Schemas = typeof RESPONSE_SCHEMAS;

/** The response with this name. */
export type ResponseOf<Name extends keyof Schemas> = ValueOf<Schemas[Name], Schemas>;

// Parts that the operations of the OpenAPI document have in common.

import type { RESPONSE_SCHEMAS } from '../../api/response-schemas.ts';
import { ref } from '../../api/schema-parts.ts';
import { type ErrorCode, ERRORS } from '../../error-table.ts';
import type { Json } from '../../primitives/json-schema.ts';
import { COMMON_HEADERS, type HeaderName, KEY_HEADERS, PAGE_HEADERS } from './response-headers.ts';

/** Errors of every request. */
const ANY_ERRORS = ['malformed_body', 'upload_too_slow', 'internal_error', 'shutting_down'] as const;
/** Errors of every request with a key. */
const KEY_ERRORS = [
  ...ANY_ERRORS,
  'missing_api_key',
  'invalid_api_key',
  'marketplace_refused',
  'subscription_inactive',
  'key_suspended',
  'approval_required',
  'origin_not_allowed',
  'rate_limited',
  'too_many_failed_keys',
  'storage_unavailable',
] as const satisfies readonly ErrorCode[];
/** Errors of a body without an uploaded file. */
export const BODY_ERRORS = [
  'invalid_fields',
  'unsupported_content_type',
  'request_too_large',
] as const satisfies readonly ErrorCode[];
/** Errors of a request with an idempotency key. */
export const IDEMPOTENCY_ERRORS = [
  'invalid_idempotency_key',
  'idempotency_in_flight',
  'idempotency_mismatch',
] as const satisfies readonly ErrorCode[];
/** Errors of a render that is stored. */
export const STORED_ERRORS = [
  'async_disabled',
  'async_not_allowed',
  'too_many_queued',
  'stored_bytes_exceeded',
  'storage_full',
  'test_renders_exceeded',
  'too_many_failures',
] as const satisfies readonly ErrorCode[];

const RETRIED_STATUSES: ReadonlySet<number> = new Set([409, 429, 503]);

interface OperationParts {
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  readonly tag: 'Rendering' | 'Stored renders' | 'Brand' | 'Webhooks' | 'Account' | 'Service';
  readonly parameters?: readonly Json[];
  readonly body?: Json;
  /** Responses by status. */
  readonly success: Readonly<Record<string, Json>>;
  /** Errors in addition to those of every request with a key. */
  readonly errors: readonly ErrorCode[];
  /** Headers of errors besides those of every request with a key. */
  readonly errorHeaders?: readonly HeaderName[];
  /** True if a visitor of a browser tab gets errors as a page, which is possible for `GET` only. */
  readonly isPage?: boolean;
}

export interface Operation {
  readonly [name: string]: Json;
  readonly responses: Readonly<Record<string, Json>>;
}

export type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** Describes a request that needs a key. */
export function operation({ errors, errorHeaders = [], isPage = false, ...parts }: OperationParts): Operation {
  return described(parts, problems([...KEY_ERRORS, ...errors], { headers: [...KEY_HEADERS, ...errorHeaders], isPage }));
}

/** Describes a request that needs no key. Only browsers open it in a tab. */
export function openOperation({ errors, errorHeaders = [], ...parts }: OperationParts): Operation {
  const headers = [...COMMON_HEADERS, 'cache-control', ...errorHeaders] as const;
  return {
    ...described(parts, problems([...ANY_ERRORS, ...errors], { headers, isPage: true })),
    security: [],
  };
}

function described(
  { id, summary, description, tag, parameters, body, success }: Omit<OperationParts, 'errors'>,
  failures: Readonly<Record<string, Json>>,
): Operation {
  return {
    operationId: id,
    summary,
    description,
    tags: [tag],
    ...(parameters && { parameters }),
    ...(body !== undefined && { requestBody: body }),
    responses: { ...success, ...failures },
  };
}

/** Describes one response for each status, with the codes that use it. */
function problems(
  codes: readonly ErrorCode[],
  { headers, isPage }: { readonly headers: readonly HeaderName[]; readonly isPage: boolean },
): Readonly<Record<string, Json>> {
  const kinds = codes.map((code) => [code, ERRORS[code]] as const);
  const statuses = [...new Set(kinds.map(([, { status }]) => status))].toSorted((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status): [string, Json] => {
      const ofStatus = kinds.filter(([, kind]) => kind.status === status);
      const code = { enum: ofStatus.map(([name]) => name) };
      return [
        String(status),
        {
          description: ofStatus.map(([name, { advice }]) => `\`${name}\`: ${advice}`).join('\n\n'),
          headers: headersOf([
            ...headers,
            ...(isPage ? PAGE_HEADERS : []),
            ...(status === 401 ? (['www-authenticate'] as const) : []),
            ...(RETRIED_STATUSES.has(status) ? (['retry-after'] as const) : []),
          ]),
          content: {
            'application/problem+json': { schema: { allOf: [ref('Problem'), { properties: { code } }] } },
            ...(isPage && { 'text/html': { schema: { type: 'string' } } }),
          },
        },
      ];
    }),
  );
}

/** Describes a response with an object of the API. */
export function json(
  description: string,
  schema: keyof typeof RESPONSE_SCHEMAS,
  headers: readonly HeaderName[] = [],
): Json {
  return {
    description,
    headers: headersOf([...KEY_HEADERS, ...headers]),
    content: { 'application/json': { schema: ref(schema) } },
  };
}

export function noContent(description: string): Json {
  return { description, headers: headersOf(KEY_HEADERS) };
}

/** Describes a body without an uploaded file. */
export function jsonBody(schema: string, required: boolean): Json {
  return { required, content: { 'application/json': { schema: ref(schema) } } };
}

export function query(name: string, description: string, schema: Json): Json {
  return { name, in: 'query', description, schema };
}

export function header(name: string, description: string, schema: Json = { type: 'string' }): Json {
  return { name, in: 'header', required: false, description, schema };
}

export function headersOf(names: readonly HeaderName[]): Json {
  return Object.fromEntries([...new Set(names)].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Writes errors that several operations have in common once, as components. */
export function withSharedErrors(paths: Paths): { readonly paths: Json; readonly responses: Json } {
  const named = new Map<string, string>();
  const responses: Record<string, Json> = {};
  const share = (status: string, response: Json): Json => {
    if (!/^[45]/u.test(status)) return response;
    const text = JSON.stringify(response);
    const name = named.get(text) ?? nextName(responses, status);
    named.set(text, name);
    responses[name] = response;
    return { $ref: `#/components/responses/${name}` };
  };
  const operations = mapValues(paths, (methods) =>
    mapValues(methods, (one) => ({
      ...one,
      responses: mapValues(one.responses, (response, status) => share(status, response)),
    })),
  );
  return { paths: operations, responses };
}

/** Returns `Error404`, `Error404-2` and so on. */
function nextName(taken: Readonly<Record<string, Json>>, status: string): string {
  const count = Object.keys(taken).filter((name) => name.startsWith(`Error${status}`)).length;
  return count === 0 ? `Error${status}` : `Error${status}-${count + 1}`;
}

function mapValues<Value, Result>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value, name: string) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
}

// The paths of the OpenAPI document, made of the records of operations.

import { ref } from '../../api/schema-parts.ts';
import { type ErrorCode, ERRORS } from '../../../shared/error-table.ts';
import type { Json } from '../../../shared/json-schema.ts';
import { type Access, accessOf, header, headersOf, type Operation, type OperationGroup } from '../operation.ts';
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

const ACCESS: Readonly<Record<Access, { readonly errors: readonly ErrorCode[]; readonly text: string }>> = {
  open: { errors: ANY_ERRORS, text: '' },
  key: { errors: KEY_ERRORS, text: '' },
  'server key': {
    errors: [...KEY_ERRORS, 'server_key_required'],
    text: ' Needs a live key without allowed origins.',
  },
  'server key or marketplace': {
    errors: [...KEY_ERRORS, 'server_key_required'],
    text: ' Needs a live key without allowed origins, or a marketplace.',
  },
};

const STORING_ERRORS: Readonly<Record<NonNullable<Operation['stores']>, readonly ErrorCode[]>> = {
  render: [
    'async_disabled',
    'async_not_allowed',
    'too_many_queued',
    'stored_bytes_exceeded',
    'storage_full',
    'test_renders_exceeded',
  ],
  'brand file': ['brand_files_disabled', 'stored_bytes_exceeded', 'storage_full'],
};

const IDEMPOTENCY_KEY = header(
  'idempotency-key',
  'A unique value of your choice, such as a UUID. Retries with the same key within 24 hours are rendered and charged once.',
  { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
);

const RETRIED_STATUSES: ReadonlySet<number> = new Set([409, 429, 503]);

interface Described {
  readonly [name: string]: Json;
  readonly responses: Readonly<Record<string, Json>>;
}

type Paths = Readonly<Record<string, Readonly<Record<string, Described>>>>;

/** Returns the operations by path and method, and the errors that they have in common. */
export function describePaths(groups: readonly OperationGroup[]): { readonly paths: Json; readonly responses: Json } {
  const paths: Record<string, Record<string, Described>> = {};
  for (const group of groups) {
    for (const [id, operation] of Object.entries(group.operations)) {
      const [method = '', path = ''] = operation.route.split(' ');
      paths[path] = { ...paths[path], [method.toLowerCase()]: describe(group, id, operation) };
    }
  }
  return withSharedErrors(paths);
}

function describe(group: OperationGroup, id: string, operation: Operation): Described {
  const { summary, description = `${summary}.`, body, isIdempotent, success, errorHeaders = [] } = operation;
  const access = accessOf(group, operation);
  const isOpen = access === 'open';
  const parameters = [...(isIdempotent ? [IDEMPOTENCY_KEY] : []), ...(operation.parameters ?? [])];
  const headers = [...(isOpen ? ([...COMMON_HEADERS, 'cache-control'] as const) : KEY_HEADERS), ...errorHeaders];
  // A visitor of a browser tab gets errors as a page.
  const isPage = operation.route.startsWith('GET ');
  return {
    operationId: id,
    summary,
    description: `${description}${ACCESS[access].text}`,
    tags: [group.tag],
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: body }),
    responses: { ...success, ...problems(errorsOf(access, operation), { headers, isPage }) },
    ...(isOpen && { security: [] }),
  };
}

function errorsOf(
  access: Access,
  { route, body, parameters = [], isIdempotent = false, rate, stores, errors = [] }: Operation,
): readonly ErrorCode[] {
  const rules: readonly (readonly [boolean, readonly ErrorCode[]])[] = [
    [body !== undefined || parameters.some((parameter) => parameter.in === 'query'), ['invalid_fields']],
    [!route.startsWith('GET '), ['unsupported_content_type']],
    [body !== undefined, ['request_too_large']],
    [isIdempotent, ['invalid_idempotency_key', 'idempotency_in_flight', 'idempotency_mismatch']],
    [stores !== undefined, stores ? STORING_ERRORS[stores] : []],
    [rate === 'render', ['too_many_failures']],
    [true, errors],
    // The server refuses a malformed path.
    [route.includes('{'), ['not_found']],
  ];
  return [...ACCESS[access].errors, ...rules.flatMap(([applies, codes]) => (applies ? codes : []))];
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

/** Writes errors that several operations have in common once, as components. */
function withSharedErrors(paths: Paths): { readonly paths: Json; readonly responses: Json } {
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

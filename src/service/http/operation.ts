// An operation of the API is one record: route, text, access, rate, bodies and errors. Routes are registered by it, and the OpenAPI
// document is generated from it, so a route can't lack a description or differ from it.

import type { RouteShorthandOptionsWithHandler } from 'fastify';
import type { RESPONSE_SCHEMAS } from '../api/response-schemas.ts';
import { ref } from '../api/schema-parts.ts';
import type { ErrorCode } from '../../shared/error-table.ts';
import type { Json, ValueOf } from '../../shared/json-schema.ts';
import { type HeaderName, KEY_HEADERS } from './reference/response-headers.ts';
import type { RouteGroup } from './route-group.ts';

type Schemas = typeof RESPONSE_SCHEMAS;

export interface Operation {
  /** Method and path, such as `GET /v1/fonts/{id}`. */
  readonly route: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;
  readonly summary: string;
  /** By default the summary. What `access` needs is added to it. */
  readonly description?: string;
  /** By default that of the group, or any key. */
  readonly access?: Access;
  /** `render` counts against the requests per minute of the plan. Others have a larger limit of their own. */
  readonly rate?: 'render';
  readonly isIdempotent?: boolean;
  readonly parameters?: readonly Parameter[];
  readonly body?: Json;
  /** Responses by status. */
  readonly success: Readonly<Record<number, Json>>;
  readonly stores?: 'render' | 'brand file';
  /** Errors in addition to those that follow from the rest of the record. */
  readonly errors?: readonly ErrorCode[];
  /** Headers of errors in addition to those of every error. */
  readonly errorHeaders?: readonly HeaderName[];
}

/** A server key is a live key without allowed origins. */
export type Access = 'open' | 'key' | 'server key' | 'server key or marketplace';

export type Parameter = Readonly<Record<string, Json>> & { readonly in: 'path' | 'query' | 'header' };

export interface GroupRules {
  readonly tag: 'Rendering' | 'Stored renders' | 'Brand' | 'Webhooks' | 'Account' | 'Service';
  readonly access?: Access;
  /** What takes a server key. Completes "Use a live key without allowed origins to ...". */
  readonly change?: string;
}

/** Operations by id. */
export type Operations = Readonly<Record<string, Operation>>;

export interface OperationGroup<Members extends Operations = Operations> extends GroupRules {
  readonly operations: Members;
}

/** The body that an operation responds with: that of one of its statuses. */
export type BodyOf<One extends Operation> = {
  [Status in keyof One['success']]: One['success'][Status] extends {
    readonly content: { readonly 'application/json': { readonly schema: infer Schema } };
  }
    ? ValueOf<Schema, Schemas>
    : void;
}[keyof One['success']];

export function describeOperations<const Members extends Operations>(
  rules: GroupRules,
  operations: Members,
): OperationGroup<Members> {
  return { ...rules, operations };
}

export function accessOf(group: GroupRules, { access }: Operation): Access {
  return access ?? group.access ?? 'key';
}

/** Returns the routes of a group, one for each of its operations. */
export function routesOf<Members extends Operations>(
  { operations }: OperationGroup<Members>,
  routeOf: (id: keyof Members, operation: Operation) => RouteShorthandOptionsWithHandler,
): RouteGroup {
  return {
    register: (app) => {
      for (const [id, operation] of Object.entries(operations)) {
        const [method = '', path = ''] = operation.route.split(' ');
        app.route({ ...routeOf(id, operation), method, url: path.replaceAll(/\{(?<name>\w+)\}/gu, ':$<name>') });
      }
    },
  };
}

/** Describes a response with an object of the API. */
export function json<const Name extends keyof Schemas>(
  description: string,
  schema: Name,
  headers: readonly HeaderName[] = [],
) {
  return {
    description,
    headers: headersOf([...KEY_HEADERS, ...headers]),
    content: { 'application/json': { schema: ref(schema) } },
  };
}

/** The responses of an operation that only deletes. */
export const DELETED = { 204: { description: 'Deleted.', headers: headersOf(KEY_HEADERS) } } as const;

/** Describes a body without an uploaded file. */
export function jsonBody(schema: string, required = true): Json {
  return { required, content: { 'application/json': { schema: ref(schema) } } };
}

export function inPath(name: 'id' | 'name', description: string, schema: Json): Parameter {
  return { name, in: 'path', required: true, description, schema };
}

export function query(name: string, description: string, schema: Json): Parameter {
  return { name, in: 'query', description, schema };
}

export function header(name: string, description: string, schema: Json = { type: 'string' }): Parameter {
  return { name, in: 'header', required: false, description, schema };
}

export function headersOf(names: readonly HeaderName[]): Readonly<Record<string, Json>> {
  return Object.fromEntries([...new Set(names)].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

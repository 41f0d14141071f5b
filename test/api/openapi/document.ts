// docs/openapi.json, and how a response compares with it.

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { must } from '../../../src/shared/must.ts';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: Schema;
}

interface DescribedResponse {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

export interface Operation {
  readonly operationId: string;
  readonly security?: readonly unknown[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly responses: Readonly<Record<string, DescribedResponse>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
}

const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as Document;

export const OPERATIONS = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

export interface ReceivedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Headers of the connection and of the content, which OpenAPI doesn't describe as headers. */
const UNDESCRIBED_HEADERS = new Set(['connection', 'content-type', 'date', 'keep-alive', 'transfer-encoding']);

/** Lists every difference between a response and the document. */
export function faultsOf(operation: Operation, { status, headers, body }: ReceivedResponse): string[] {
  const described = resolve<DescribedResponse>(operation.responses[String(status)]);
  if (described === undefined) return [`status ${status} (${body.toString('utf8', 0, 200)})`];
  return [...headerFaults(described, headers), ...bodyFaults(described, headers['content-type'], body)].map(
    (fault) => `${status}: ${fault}`,
  );
}

function headerFaults({ headers: known = {} }: DescribedResponse, headers: ReceivedResponse['headers']): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (UNDESCRIBED_HEADERS.has(name)) return [];
    const header = resolve<{ readonly schema: Schema }>(known[name]);
    if (header === undefined) return [`header ${name}`];
    const typed = header.schema.type === 'integer' ? Number(value) : value;
    return problemsOf(header.schema, typed).map((problem) => `header ${name}: ${value} ${problem}`);
  });
}

function bodyFaults({ content }: DescribedResponse, type: string | undefined, body: Buffer): string[] {
  if (content === undefined) return body.length === 0 ? [] : [`a body of ${type}`];
  const [mediaType = ''] = (type ?? '').split(';');
  const described = content[mediaType] ?? content[mediaType.replace(/\/.*$/u, '/*')];
  if (described === undefined) return [`content type ${type}`];
  if (mediaType.endsWith('json')) return problemsOf(described.schema, JSON.parse(body.toString('utf8')));
  if (mediaType.startsWith('text/')) return problemsOf(described.schema, body.toString('utf8'));
  return body.length > 0 ? [] : ['an empty file'];
}

/** Lists every difference between a webhook and the document. */
export function webhookFaults(body: string): string[] {
  const event = JSON.parse(body) as { readonly type: string };
  const described = document.webhooks[event.type]?.post.requestBody?.content['application/json'];
  return described === undefined ? [`event ${event.type}`] : problemsOf(described.schema, event);
}

const schemas = new Map<Schema, z.ZodType>();

function problemsOf(schema: Schema, value: unknown): string[] {
  const known = schemas.get(schema) ?? z.fromJSONSchema(closed(schema) as Parameters<typeof z.fromJSONSchema>[0]);
  schemas.set(schema, known);
  const { error } = known.safeParse(value);
  return (error?.issues ?? []).map(({ path, message }) => `/${path.join('/')} ${message} in ${JSON.stringify(value)}`);
}

/** Resolves references, and forbids properties that the document doesn't mention. */
function closed(schema: Schema): Schema {
  const { $ref, allOf, items, anyOf, properties, ...rest } = schema;
  if ($ref !== undefined) return closed(resolved(schema));
  if (allOf) {
    const parts = allOf.map(resolved);
    const all = Object.assign({}, ...parts.map((part) => part.properties)) as Record<string, Schema>;
    return closed({ ...parts[0], properties: all });
  }
  const fields = properties && Object.entries(properties).map(([name, field]) => [name, closed(field)] as const);
  return {
    ...rest,
    ...(items && { items: closed(items) }),
    ...(anyOf && { anyOf: anyOf.map(closed) }),
    ...(fields && { properties: Object.fromEntries(fields), additionalProperties: false }),
  };
}

export function resolved(schema: Schema): Schema {
  return must(resolve<Schema>(schema), 'the schema');
}

function resolve<Node extends object>(
  node: (Partial<Node> & { readonly $ref?: string }) | undefined,
): Node | undefined {
  if (node?.$ref === undefined) return node as Node | undefined;
  let target: unknown = document;
  for (const step of node.$ref.split('/').slice(1)) target = (target as Record<string, unknown> | undefined)?.[step];
  return target as Node | undefined;
}

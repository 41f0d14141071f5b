// Generates a collection for Postman, which Bruno, Insomnia and Hoppscotch import too, from the OpenAPI document.

import { generateOpenApi } from './generate-docs.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly description?: string;
}

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly unknown[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

interface OpenApi {
  readonly info: { readonly title: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Fields with these names are filled in. The others are listed, but disabled. */
const EXAMPLES: Readonly<Record<string, string | number>> = {
  width: 1080,
  height: 1920,
  text: 'Golden hour',
  url: 'https://hooks.example.com/storybar',
};
const ENCODING_NAMES: Readonly<Record<string, string>> = {
  'multipart/form-data': 'upload a file',
  'application/json': 'JSON',
  'application/x-www-form-urlencoded': 'form',
};

export function generateCollection(): string {
  const api = JSON.parse(generateOpenApi()) as OpenApi;
  const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const folders = api.tags.map(({ name, description }) => ({
    name,
    description,
    item: operations
      .filter(({ operation }) => operation.tags?.includes(name))
      .flatMap(({ path, method, operation }) => requestsOf(api, path, method.toUpperCase(), operation)),
  }));
  const collection = {
    info: {
      name: api.info.title,
      description: `${api.info.description}\n\nSet the variables \`baseUrl\` and \`apiKey\` of this collection.`,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: { type: 'apikey', apikey: [pair('key', 'x-api-key'), pair('value', '{{apiKey}}'), pair('in', 'header')] },
    variable: [pair('baseUrl', 'http://127.0.0.1:8080'), pair('apiKey', 'sb_test_...')],
    item: folders.filter(({ item }) => item.length > 0),
  };
  return `${JSON.stringify(collection, null, 2)}\n`;
}

function pair(key: string, value: string): { key: string; value: string; type: string } {
  return { key, value, type: 'string' };
}

/** Returns one request per encoding. */
function requestsOf(api: OpenApi, path: string, method: string, operation: Operation): unknown[] {
  const encodings = Object.entries(operation.requestBody?.content ?? {});
  const base = {
    method,
    description: operation.description ?? operation.summary,
    url: urlOf(path, operation),
    ...(operation.security?.length === 0 && { auth: { type: 'noauth' } }),
  };
  const header = parametersIn(operation, 'header');
  const name = operation.summary ?? `${method} ${path}`;
  if (encodings.length === 0) return [{ name, request: { ...base, header } }];
  return encodings.map(([type, { schema }]) => ({
    name: encodings.length === 1 ? name : `${name} (${ENCODING_NAMES[type] ?? type})`,
    request: { ...base, header: [...header, ...contentType(type)], body: bodyOf(api, type, schema) },
  }));
}

/** Postman sets the type of a form itself, with its boundary. */
function contentType(type: string): unknown[] {
  return type === 'application/json' ? [{ key: 'content-type', value: type }] : [];
}

function parametersIn({ parameters = [] }: Operation, place: Parameter['in']): unknown[] {
  return parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name, description }) => ({
      key: name,
      value: '',
      description,
      ...(place !== 'path' && { disabled: true }),
    }));
}

function urlOf(path: string, operation: Operation): unknown {
  const raw = path.replaceAll(/\{(\w+)\}/gu, ':$1');
  const query = parametersIn(operation, 'query');
  const variable = parametersIn(operation, 'path');
  return {
    raw: `{{baseUrl}}${raw}`,
    host: ['{{baseUrl}}'],
    path: raw.split('/').slice(1),
    ...(query.length > 0 && { query }),
    ...(variable.length > 0 && { variable }),
  };
}

function bodyOf(api: OpenApi, type: string, schema: Schema): unknown {
  if (type === 'application/json') {
    const raw = JSON.stringify(exampleOf(api, schema), null, 2);
    return { mode: 'raw', raw, options: { raw: { language: 'json' } } };
  }
  const { properties = {} } = resolve(api, schema);
  const hasFile = 'asset' in properties;
  const fields = Object.entries(properties).map(([key, { description }]) => {
    if (key === 'asset') return { key, type: 'file', src: 'photo.jpg', description };
    const isUsed = key in EXAMPLES && !(hasFile && key !== 'text');
    return { key, type: 'text', value: String(EXAMPLES[key] ?? ''), description, ...(!isUsed && { disabled: true }) };
  });
  return type === 'multipart/form-data'
    ? { mode: 'formdata', formdata: fields }
    : { mode: 'urlencoded', urlencoded: fields };
}

function resolve(api: OpenApi, schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : (api.components.schemas[name] ?? {});
}

function exampleOf(api: OpenApi, schema: Schema): unknown {
  const { properties = {}, required = [], type, items } = resolve(api, schema);
  if (type === 'array' && items !== undefined) return [exampleOf(api, items)];
  if (type !== 'object') return '';
  const names = Object.keys(properties).filter((name) => name in EXAMPLES || required.includes(name));
  return Object.fromEntries(names.map((name) => [name, EXAMPLES[name] ?? exampleOf(api, properties[name] ?? {})]));
}

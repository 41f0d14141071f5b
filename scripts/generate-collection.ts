// Generates a collection for Postman, which Bruno, Insomnia and Hoppscotch import too, from the OpenAPI document. It runs from top
// to bottom: requests save the ids that later ones need, check their responses, and delete what they made.

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
  readonly operationId: string;
  readonly responses: Readonly<Record<string, unknown>>;
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

interface Described {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

/** The name of a style that only this collection uses. */
const STYLE = 'collection-example';
/** What a path parameter is filled with, by the part of the path before it. */
const IDS: Readonly<Record<string, string>> = {
  renders: '{{renderId}}',
  results: '{{resultName}}',
  batches: '{{batchId}}',
  styles: STYLE,
  logos: '{{logoId}}',
  fonts: '{{fontId}}',
  'webhook-endpoints': '{{endpointId}}',
  'webhook-deliveries': '{{deliveryId}}',
};

const save = (variable: string, value: string): string => `pm.collectionVariables.set('${variable}', ${value});`;
const AGAIN = 'pm.execution.setNextRequest(pm.info.requestName);';

/** Lines of scripts that run after the response of an operation. */
const AFTER: Readonly<Record<string, readonly string[]>> = {
  createBatch: [save('batchId', 'pm.response.json().id')],
  getBatch: [`if (pm.response.json().status === 'running') ${AGAIN}`],
  uploadLogo: [save('logoId', 'pm.response.json().id')],
  uploadFont: [save('fontId', 'pm.response.json().id')],
  createWebhookEndpoint: [save('endpointId', 'pm.response.json().id')],
  testWebhookEndpoint: [save('deliveryId', 'pm.response.json().id')],
};
/** Lines of scripts that run before a request. A changed secret would last, so it takes a decision. */
const BEFORE: Readonly<Record<string, readonly string[]>> = {
  rotateAccountWebhookSecret: ["if (pm.variables.get('rotateSecret') !== 'yes') pm.execution.skipRequest();"],
};
/** The JSON request asks for a link, so that the requests about stored renders have one to work with. */
const STORED = {
  body: { deliver: 'url' },
  after: [
    save('renderId', 'pm.response.json().id'),
    save('resultName', "pm.response.json().output.url.split('/').pop()"),
  ],
};
/** The files that uploads send. Renders take a photo. */
const FILES: Readonly<Record<string, string>> = { uploadLogo: 'logo.png', uploadFont: 'font.ttf' };
const BODIES: Readonly<Record<string, object>> = { saveStyle: { preset: 'box', size: 1.2 } };
/** Changes of these need a live key. Renders need only a test key, which costs nothing. */
const LIVE_FOLDERS: ReadonlySet<string> = new Set(['Brand', 'Webhooks']);

/** Fields with these names are filled in. The others are listed, but disabled. */
const EXAMPLES: Readonly<Record<string, string | number>> = {
  width: 1080,
  height: 1920,
  text: 'Golden hour',
  url: 'https://hooks.example.com/storybar',
  license_confirmed: 'true',
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
      .toSorted((one, other) => rankOf(one) - rankOf(other))
      .flatMap(({ path, method, operation }) => requestsOf(api, path, method.toUpperCase(), operation)),
    ...(LIVE_FOLDERS.has(name) && {
      auth: keyFrom('liveKey'),
      event: [script('prerequest', ["if (!pm.variables.get('liveKey')) pm.execution.skipRequest();"])],
    }),
  }));
  const collection = {
    info: {
      name: api.info.title,
      description:
        `${api.info.description}\n\nSet the variables \`baseUrl\` and \`apiKey\` of this collection, and run it from top to bottom. A test ` +
        'key is enough and costs nothing. Requests that change styles, logos, fonts and webhooks need a live key without allowed origins in ' +
        '`liveKey`, and are skipped without one. What the run makes, it deletes. The secret of your account is changed only ' +
        'if you set `rotateSecret` to `yes`.',
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: keyFrom('apiKey'),
    variable: [
      pair('baseUrl', 'http://127.0.0.1:8080'),
      pair('apiKey', 'sb_test_...'),
      ...['liveKey', 'rotateSecret'].map((name) => pair(name, '')),
    ],
    item: folders.filter(({ item }) => item.length > 0),
  };
  return `${JSON.stringify(collection, null, 2)}\n`;
}

function keyFrom(variable: string): unknown {
  return { type: 'apikey', apikey: [pair('key', 'x-api-key'), pair('value', `{{${variable}}}`), pair('in', 'header')] };
}

/** A test makes a delivery, which other requests are about. A disabled endpoint is enabled again. */
const RANKS: Readonly<Record<string, number>> = {
  testWebhookEndpoint: 1.5,
  disableWebhookEndpoint: 4,
  enableWebhookEndpoint: 5,
};

/** What is needed is made first, and deleted last. */
function rankOf({ path, method, operation }: Described): number {
  const isOne = path.includes('{');
  const ranks = { put: 0, post: isOne ? 3 : 0, patch: 3, get: isOne ? 2 : 1, delete: 6 };
  return RANKS[operation.operationId] ?? ranks[method as keyof typeof ranks];
}

function script(listen: 'prerequest' | 'test', exec: readonly string[]): unknown {
  return { listen, script: { type: 'text/javascript', exec } };
}

/** The test that an operation succeeded, and the scripts of its own. */
function eventsOf({ operationId, responses }: Operation, after: readonly string[] = []): unknown[] {
  const statuses = Object.keys(responses).filter((status) => status.startsWith('2'));
  const tests = [
    `pm.test('The status is ${statuses.join(' or ')}', () => pm.expect(pm.response.code).to.be.oneOf([${statuses.join(', ')}]));`,
    "pm.test('The response has a request id', () => pm.expect(pm.response.headers.has('x-request-id')).to.equal(true));",
  ];
  const before = BEFORE[operationId];
  return [
    ...(before ? [script('prerequest', before)] : []),
    script('test', [...tests, ...after, ...(AFTER[operationId] ?? [])]),
  ];
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
  if (encodings.length === 0) return [{ name, event: eventsOf(operation), request: { ...base, header } }];
  return encodings.map(([type, { schema }]) => {
    const isStored = operation.operationId === 'renderOverlay' && type === 'application/json';
    const example = { ...BODIES[operation.operationId], ...(isStored && STORED.body) };
    return {
      name: encodings.length === 1 ? name : `${name} (${ENCODING_NAMES[type] ?? type})`,
      event: eventsOf(operation, isStored ? STORED.after : []),
      request: {
        ...base,
        header: [...header, ...contentType(type)],
        body: bodyOf(api, type, schema, { example, file: FILES[operation.operationId] }),
      },
    };
  });
}

/** Postman sets the type of a form itself, with its boundary. */
function contentType(type: string): unknown[] {
  return type === 'application/json' ? [{ key: 'content-type', value: type }] : [];
}

function parametersIn({ parameters = [] }: Operation, place: Parameter['in'], path = ''): unknown[] {
  return parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name, description }) => ({
      key: name,
      value: place === 'path' ? IDS[path.split('/{', 1)[0]?.split('/').at(-1) ?? ''] : '',
      description,
      ...(place !== 'path' && { disabled: true }),
    }));
}

function urlOf(path: string, operation: Operation): unknown {
  const raw = path.replaceAll(/\{(\w+)\}/gu, ':$1');
  const query = parametersIn(operation, 'query');
  const variable = parametersIn(operation, 'path', path);
  return {
    raw: `{{baseUrl}}${raw}`,
    host: ['{{baseUrl}}'],
    path: raw.split('/').slice(1),
    ...(query.length > 0 && { query }),
    ...(variable.length > 0 && { variable }),
  };
}

interface BodyContent {
  readonly example: object;
  readonly file: string | undefined;
}

function bodyOf(api: OpenApi, type: string, schema: Schema, { example, file = 'photo.jpg' }: BodyContent): unknown {
  if (type === 'application/json') {
    const raw = JSON.stringify({ ...(exampleOf(api, schema) as object), ...example }, null, 2);
    return { mode: 'raw', raw, options: { raw: { language: 'json' } } };
  }
  const { properties = {} } = resolve(api, schema);
  const fields = Object.entries(properties).map(([key, { description }]) => {
    if (key === 'asset') return { key, type: 'file', src: file, description };
    // The size counts only where the file is missing.
    const isUsed = key in EXAMPLES;
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

// Every response of the server is one that docs/openapi.json describes: status, headers, content type and body.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { must } from '../../../src/shared/must.ts';
import { plainPng } from '../../pictures.ts';
import { randomCases } from '../../random-cases.ts';
import { until } from '../../running-server.ts';
import { type SharedServer, sharedServer } from '../../shared-server.ts';
import { faultsOf, OPERATIONS, type ReceivedResponse, webhookFaults } from './document.ts';
import { anyRequest, type RandomBody, type RandomRequest, type World } from './random-requests.ts';

const SEED = 20_261_117;
const ORIGIN = 'https://page.example.com';
/** At most this many more rounds, until a random request has succeeded with each operation. */
const MORE_ROUNDS = 50;
/** A request without any random part. */
const PLAIN = { query: {}, choice: 0, credentials: 15, isTab: false };

let server: SharedServer;
let other: Server;
let world: World;
let keys: { readonly test: string; readonly page: string };
const webhooks: string[] = [];

beforeAll(async () => {
  server = await sharedServer();
  const photo = await plainPng(60, 40, '#336699');
  other = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      if (request.method === 'POST') webhooks.push(body.toString('utf8'));
      response.writeHead(request.url === '/missing' ? 404 : 200).end(photo);
    });
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  world = {
    ids: new Map(),
    etags: [],
    assets: [photo, photo, Buffer.from('not an image'), photo.subarray(0, 100)],
    font: readFileSync(new URL('../../fuzz/corpus/fonts/postscript.otf', import.meta.url)),
    urls: [url, url, `${url}/photo.png`, `${url}/missing`, 'http://10.0.0.1/', 'not a url'],
  };
  keys = { test: (await createKey('--test')).key, page: (await pageKey()).key };
});

afterAll(() => {
  other.closeAllConnections();
  other.close();
});

async function createKey(...args: string[]): Promise<{ readonly id: string; readonly key: string }> {
  const created = await server.cli('keys', 'create', '--account', server.account, ...args, '--json');
  return JSON.parse(created) as { id: string; key: string };
}

async function pageKey(): Promise<{ readonly key: string }> {
  const created = await createKey();
  await server.cli('keys', 'origins', created.id, ORIGIN);
  return created;
}

it('the OpenAPI document describes every webhook', async () => {
  const [url = ''] = world.urls;
  const { id } = await post('/v1/webhook-endpoints', { url });
  await post(`/v1/webhook-endpoints/${id}/test`, {});
  const canvas = { text: 'Hello', width: 100, height: 80 };
  await post('/v1/batches', { requests: [canvas, { text: 'Hello', asset_url: `${url}/missing` }] });
  const types = ['webhook.test', 'render.succeeded', 'render.failed', 'batch.completed'];
  await until(() => types.every((type) => webhooks.some((body) => body.startsWith(`{"type":"${type}"`))));
  expect(webhooks.flatMap(webhookFaults)).toEqual([]);
});

/** Creates something that random requests can refer to. */
async function post(path: string, body: object): Promise<{ readonly id: string }> {
  const headers = { 'x-api-key': server.key };
  const fields = { ...body };
  const response = await send(path, 'POST', { ...PLAIN, headers, body: { mediaType: 'application/json', fields } });
  learn(path, response);
  return JSON.parse(response.body.toString('utf8')) as { id: string };
}

async function saveStyle(name: string): Promise<void> {
  const body = { mediaType: 'application/json', fields: { preset: 'box' } };
  const response = await send(`/v1/styles/${name}`, 'PUT', { ...PLAIN, headers: { 'x-api-key': server.key }, body });
  learn('/v1/styles/{name}', response);
}

it('the OpenAPI document describes every response to random requests', async () => {
  const rounds = randomCases({ usually: 12, all: 100 });
  await post('/v1/overlay', { text: 'Hello', width: 100, height: 80, deliver: 'url' });
  for (const name of ['one', 'two', 'three', 'four']) await saveStyle(name);
  // Renders have the most fields.
  const repeated = OPERATIONS.flatMap((one) => (one.path === '/v1/overlay' ? [one, one, one, one, one, one] : [one]));
  const cases = repeated.map((described, index) => ({
    ...described,
    requests: fc.sample(anyRequest(described.operation, world), { seed: SEED + index, numRuns: rounds + MORE_ROUNDS }),
  }));
  const faults = new Set<string>();
  const succeeded = new Set<string>();
  const isOver = (round: number): boolean =>
    round >= rounds + MORE_ROUNDS || (round >= rounds && succeeded.size === OPERATIONS.length);
  for (let round = 0; !isOver(round); round += 1) {
    for (const { path, method, operation, requests } of cases) {
      const request = must(requests[round], 'a request');
      const address = pathOf(path, request.choice);
      const response = await send(address, method, request);
      if (response.status < 400) succeeded.add(operation.operationId);
      for (const fault of faultsOf(operation, response)) faults.add(`${operation.operationId} ${fault}`);
      learn(path, response);
      if (response.status === 204) forget(path, address);
    }
  }
  expect([...faults]).toEqual([]);
  expect([...succeeded].toSorted()).toEqual(OPERATIONS.map(({ operation }) => operation.operationId).toSorted());
  expect(webhooks.flatMap(webhookFaults)).toEqual([]);
});

async function send(path: string, method: string, request: RandomRequest): Promise<ReceivedResponse> {
  const { query, headers, body, choice, credentials, isTab } = request;
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const encoded = body && (await encode(body));
  const etag = world.etags.at(-1);
  const sent = httpRequest(`${server.url}${path}?${search.toString()}`, {
    method,
    headers: {
      ...credentialsOf(credentials),
      ...headers,
      ...(etag !== undefined &&
        headers['if-none-match'] !== undefined &&
        choice % 2 === 0 && { 'if-none-match': etag }),
      ...(encoded && { 'content-length': encoded.content.length }),
      ...(encoded && encoded.mediaType !== '' && { 'content-type': encoded.mediaType }),
      ...(isTab && { accept: 'text/html', 'sec-fetch-mode': 'navigate' }),
    },
  });
  sent.end(encoded?.content);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const received = Object.entries(response.headers).map(([name, value]) => [name, [value].flat().join(', ')]);
  return {
    status: must(response.statusCode, 'the status'),
    headers: Object.fromEntries(received) as Record<string, string>,
    body: await bodyOf(response),
  };
}

function pathOf(path: string, choice: number): string {
  const known = world.ids.get(collectionOf(path))?.slice(-8) ?? [];
  const unknown = ['00000000-0000-4000-8000-000000000000', 'garbage', '%zz'];
  const ids = choice % 4 === 0 || known.length === 0 ? unknown : known;
  return path.replace(/\{\w+\}/u, () => must(ids[choice % ids.length], 'an id'));
}

function collectionOf(path: string): string {
  return path.replace(/\/\{.*$/u, '');
}

function credentialsOf(choice: number): Record<string, string> {
  const bad = [{}, { 'x-api-key': 'sb_live_x' }, { 'x-rapidapi-proxy-secret': 'wrong' }, { 'x-rapidapi-key': 'x' }];
  const some = [
    { authorization: `Bearer ${server.key}` },
    { 'x-api-key': keys.test },
    { 'x-api-key': keys.page, origin: ORIGIN },
    { 'x-api-key': keys.page, origin: 'https://other.example.com' },
    must(bad[choice % bad.length], 'bad credentials'),
  ];
  return some[choice % 16] ?? { 'x-api-key': server.key };
}

/** Forms have text, and JSON for objects. */
async function encode({ mediaType, fields }: RandomBody): Promise<{ mediaType: string; content: Buffer }> {
  if (typeof fields === 'string') return { mediaType, content: Buffer.from(fields) };
  if (mediaType === 'application/json') return { mediaType, content: Buffer.from(JSON.stringify(fields)) };
  const texts = Object.entries(fields).map(([name, value]): [string, string | Blob] => {
    if (Buffer.isBuffer(value)) return [name, new Blob([new Uint8Array(value)])];
    return [name, typeof value === 'string' ? value : JSON.stringify(value)];
  });
  const form = mediaType === 'multipart/form-data' ? new FormData() : new URLSearchParams();
  for (const [name, value] of texts) form.append(name, value as string);
  const encoded = new Response(form);
  const content = Buffer.from(await encoded.arrayBuffer());
  return { mediaType: must(encoded.headers.get('content-type') ?? undefined, 'the type of the form'), content };
}

/** Remembers ids, links and tags for later requests. */
function learn(path: string, { status, headers, body }: ReceivedResponse): void {
  if (headers['etag'] !== undefined) world.etags.push(headers['etag']);
  if (status >= 300 || headers['content-type']?.startsWith('application/json') !== true) return;
  const { id, name, output } = JSON.parse(body.toString('utf8')) as {
    id?: string;
    name?: string;
    output?: { url: string | null } | null;
  };
  const collections: Readonly<Record<string, string>> = {
    '/v1/overlay': '/v1/renders',
    '/v1/webhook-endpoints/{id}/test': '/v1/webhook-deliveries',
  };
  if (id !== undefined) remember(collections[path] ?? collectionOf(path), id);
  if (path === '/v1/styles/{name}' && name !== undefined) remember('/v1/styles', name);
  if (typeof output?.url !== 'string') return;
  remember('/v1/results', must(new URL(output.url).pathname.split('/').at(-1), 'the name of the result'));
}

function remember(collection: string, id: string): void {
  const known = world.ids.get(collection) ?? [];
  if (!known.includes(id)) world.ids.set(collection, [...known, id]);
}

function forget(path: string, address: string): void {
  const collection = collectionOf(path);
  const left = world.ids.get(collection)?.filter((id) => address !== `${collection}/${id}`);
  if (left !== undefined) world.ids.set(collection, left);
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

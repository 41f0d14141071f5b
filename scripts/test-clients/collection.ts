// Replays the Postman collection like a reader who goes through it from top to bottom and copies ids from responses.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { must } from '../../src/primitives/must.ts';
import { until } from '../../test/running-server.ts';
import type { Environment } from './package.ts';
import { withStandIn } from './readme.ts';

const EXAMPLES = path.resolve(import.meta.dirname, '../../examples');

interface Field {
  readonly key: string;
  readonly value?: string;
  readonly type?: string;
  readonly src?: string;
  readonly disabled?: boolean;
}

interface CollectionRequest {
  readonly method: string;
  readonly url: { readonly raw: string };
  readonly header: readonly Field[];
  readonly auth?: { readonly type: string };
  readonly body?: {
    readonly raw?: string;
    readonly formdata?: readonly Field[];
    readonly urlencoded?: readonly Field[];
  };
}

interface Item {
  readonly name: string;
  readonly request: CollectionRequest;
}

export async function replayCollection(file: string, env: Environment): Promise<void> {
  const text = withStandIn(readFileSync(file, 'utf8'), env);
  const { item: folders } = JSON.parse(text) as { item: readonly { readonly item: readonly Item[] }[] };
  const items = folders.flatMap(({ item }) => item).toSorted((one, other) => rankOf(one) - rankOf(other));
  // The last part of a path before an id, such as `renders`, and an id that fits there.
  const ids = await idsOfRender(env);
  for (const { name, request } of items) {
    const address = request.url.raw.replace('{{baseUrl}}', '').replace(/([\w-]+)\/:\w+/u, (_, kind: string) => {
      return `${kind}/${must(ids.get(kind), `id for ${request.url.raw}`)}`;
    });
    const response = await send(request, address, env);
    const received = await response.text();
    if (!response.ok) throw new Error(`${name}: ${response.status} ${received}`);
    console.log(`ok: the collection's request "${name}" returns ${response.status}`);
    if (request.method === 'POST') await remember(ids, address, received, env);
  }
}

/** Nothing works on objects that are disabled or deleted, so these requests come last. */
function rankOf({ request: { method, url } }: Item): number {
  if (method === 'DELETE') return 2;
  return url.raw.endsWith('/disable') ? 1 : 0;
}

async function idsOfRender(env: Environment): Promise<Map<string, string>> {
  const body = { raw: JSON.stringify({ width: 64, height: 32, text: 'Golden hour', deliver: 'url' }) };
  const header = [{ key: 'content-type', value: 'application/json' }];
  const response = await send({ method: 'POST', url: { raw: '' }, header, body }, '/v1/overlay', env);
  const { id, output } = (await response.json()) as { id: string; output: { url: string } };
  return new Map([
    ['renders', id],
    ['results', path.basename(output.url)],
  ]);
}

/**
 * Remembers the id of a created object, because later requests need it. A webhook can be sent again once it has been
 * sent.
 */
async function remember(ids: Map<string, string>, address: string, received: string, env: Environment): Promise<void> {
  const kind = path.basename(address);
  if (kind === 'batches' || kind === 'webhook-endpoints') ids.set(kind, (JSON.parse(received) as { id: string }).id);
  if (kind !== 'test') return;
  const { id } = JSON.parse(received) as { id: string };
  ids.set('webhook-deliveries', id);
  const get: CollectionRequest = { method: 'GET', url: { raw: '' }, header: [] };
  await until(async () => {
    const delivery = await (await send(get, `/v1/webhook-deliveries/${id}`, env)).json();
    return (delivery as { status: string }).status === 'succeeded';
  });
}

async function send({ method, header, auth, body }: CollectionRequest, url: string, env: Environment) {
  const headers = header
    .filter(({ disabled }) => disabled !== true)
    .map(({ key, value = '' }) => [key, value] as const);
  return await fetch(new URL(url, env['TESTS_URL']), {
    method,
    headers: {
      ...Object.fromEntries(headers),
      ...(auth?.type !== 'noauth' && { 'x-api-key': must(env['TESTS_KEY'], 'key') }),
    },
    body: encode(body),
  });
}

function encode(body: CollectionRequest['body']): string | FormData | URLSearchParams | null {
  if (body?.raw !== undefined) return body.raw;
  const fields = (body?.formdata ?? body?.urlencoded ?? []).filter(({ disabled }) => disabled !== true);
  if (body?.urlencoded)
    return new URLSearchParams(Object.fromEntries(fields.map(({ key, value = '' }) => [key, value])));
  if (body?.formdata === undefined) return null;
  const form = new FormData();
  for (const { key, type, value = '', src = '' } of fields) {
    if (type === 'file') form.append(key, new Blob([readFileSync(path.join(EXAMPLES, src))]), src);
    else form.append(key, value);
  }
  return form;
}

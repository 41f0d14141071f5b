// Stands in for what the service can't show on demand: errors that pass, and asynchronous renders with webhooks. It speaks
// the HTTP of the API reference, renders nothing, and tells tests which requests it got.

import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

const EXAMPLES = path.resolve(import.meta.dirname, '../examples');
const IMAGE = readFileSync(path.join(EXAMPLES, 'photo.jpg'));

/** A PNG of 64 by 64 white pixels. */
const SMALL_IMAGE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAAAAACPAi4CAAAAKUlEQVR42u3MQREAAAwCIPuX1hD77SAA6VEEAoFAIBAIBAKBQCAQfA8Gpwvw4qrwDDIAAAAASUVORK5CYII=',
  'base64',
);

interface StoredRender {
  readonly id: string;
  readonly text: string;
  readonly webhookUrl: string | undefined;
  status: 'queued' | 'rendering' | 'succeeded' | 'failed' | 'canceled';
}

interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  /** Newest first: webhooks are signed with each, as after a rotation. */
  readonly secrets: string[];
}

interface Fields {
  readonly text?: string;
  readonly webhook_url?: string;
  readonly deliver?: string;
}

interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: number;
}

export interface StandIn {
  readonly url: string;
  stop(): Promise<void>;
}

/** Requests whose URL in `webhook_url` wasn't registered are signed with this. */
export const ACCOUNT_SECRET = `whsec_${Buffer.from('the webhook secret of the account').toString('base64')}`;

export async function startStandIn(): Promise<StandIn> {
  const service = new ContractService();
  const server = createServer((request, response) => {
    service.respond(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  service.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: service.url,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

class ContractService {
  url = '';
  readonly #renders = new Map<string, StoredRender>();
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #attempts = new Map<string, number>();
  readonly #seen: SeenRequest[] = [];

  async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    const [, area, kind, id, action] = url.pathname.split('/');
    if (area === 'files' && kind === 'small.png') {
      response.setHeader('content-type', 'image/png').end(SMALL_IMAGE);
      return;
    }
    if (area === 'files') {
      createReadStream(path.join(EXAMPLES, path.basename(url.pathname))).pipe(response);
      return;
    }
    if (area === 'results') {
      response.writeHead(200, { 'content-type': 'image/jpeg', 'content-length': IMAGE.length }).end(IMAGE);
      return;
    }
    if (area === 'seen') {
      json(response, 200, this.#seen);
      return;
    }
    const body = await readBody(request);
    const { method = 'GET', headers } = request;
    this.#seen.push({ method, url: url.pathname, headers, bytes: body.length });
    if (headers['x-api-key'] === undefined) problem(response, 401, 'missing_api_key');
    else if (kind === 'overlay') this.#overlay(request, body, response);
    else if (kind === 'renders' && id !== undefined) await this.#render(method, id, url, response);
    else if (kind === 'webhook-endpoints') await this.#endpoint(method, { id, action }, body, response);
    else problem(response, 404, 'not_found');
  }

  /** The text of the caption decides what happens. */
  #overlay(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const { text = '', webhook_url: webhookUrl, deliver } = fieldsOf(request, body);
    const key = String(request.headers['idempotency-key']);
    const attempt = (this.#attempts.get(key) ?? 0) + 1;
    this.#attempts.set(key, attempt);
    if (text === 'busy twice' && attempt <= 2) problem(response, 503, 'overloaded', { 'retry-after': '0' });
    else if (text === 'busy for a day') problem(response, 429, 'rate_limited', { 'retry-after': '86400' });
    else if (text === 'no credits') problem(response, 429, 'quota_exceeded', { 'retry-after': '1' });
    else if (text === 'cut off' && attempt === 1) response.destroy();
    else if (text === 'silence') this.#attempts.set('silence', attempt);
    else if (request.headers.prefer === 'respond-async') this.#accept(text, webhookUrl, response);
    else if (deliver === 'url') this.#link(text, response);
    else
      response.writeHead(200, { 'content-type': 'image/png', 'x-render-id': randomUUID() }).end(`attempt ${attempt}`);
  }

  #link(text: string, response: ServerResponse): void {
    json(response, 200, this.#describe({ id: randomUUID(), text, webhookUrl: undefined, status: 'succeeded' }));
  }

  #accept(text: string, webhookUrl: string | undefined, response: ServerResponse): void {
    const render: StoredRender = { id: randomUUID(), text, webhookUrl, status: 'queued' };
    this.#renders.set(render.id, render);
    const headers = { location: `/v1/renders/${render.id}`, 'preference-applied': 'respond-async' };
    json(response, 202, this.#describe(render), headers);
    if (text === 'announce') this.#finish(render, 'succeeded');
  }

  /** Every request moves the render one step on, so that tests see each state without waiting. */
  async #render(method: string, id: string, url: URL, response: ServerResponse): Promise<void> {
    const render = this.#renders.get(id);
    if (render === undefined) problem(response, 404, 'render_not_found');
    else if (method === 'DELETE') this.#cancel(render, response);
    else {
      if (url.searchParams.has('wait')) this.#advance(render);
      json(response, 200, this.#describe(render));
    }
  }

  #advance(render: StoredRender): void {
    if (render.status === 'queued') render.status = 'rendering';
    else if (render.status === 'rendering' && render.text !== 'endless')
      this.#finish(render, render.text === 'fails' ? 'failed' : 'succeeded');
  }

  #cancel(render: StoredRender, response: ServerResponse): void {
    if (render.status === 'queued' || render.status === 'rendering') {
      this.#finish(render, 'canceled');
      json(response, 200, this.#describe(render));
    } else {
      this.#renders.delete(render.id);
      response.writeHead(204).end();
    }
  }

  #finish(render: StoredRender, status: 'succeeded' | 'failed' | 'canceled'): void {
    render.status = status;
    const type = `render.${status}`;
    const targets = [...this.#endpoints.values()].filter(({ events }) => events.length === 0 || events.includes(type));
    const data = this.#describe(render);
    for (const { url, secrets } of targets) void this.#deliver(url, secrets, type, data);
    if (render.webhookUrl !== undefined) void this.#deliver(render.webhookUrl, [ACCOUNT_SECRET], type, data);
  }

  /** Signed as https://www.standardwebhooks.com describes. A receiver that is gone is no concern of the stand-in. */
  async #deliver(url: string, secrets: readonly string[], type: string, data: unknown): Promise<void> {
    const id = `msg_${randomUUID()}`;
    const seconds = Math.floor(Date.now() / 1_000);
    const body = JSON.stringify({ type, timestamp: new Date().toISOString(), data });
    const signatures = secrets.map((secret) => {
      const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`;
    });
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': signatures.join(' '),
    };
    await fetch(url, { method: 'POST', headers, body }).catch(() => undefined);
  }

  async #endpoint(
    method: string,
    { id, action }: { readonly id: string | undefined; readonly action: string | undefined },
    body: Buffer,
    response: ServerResponse,
  ): Promise<void> {
    const endpoint = this.#endpoints.get(id ?? '');
    if (method === 'POST' && id === undefined) this.#createEndpoint(body, response);
    else if (method === 'GET' && id === undefined) {
      json(response, 200, { endpoints: [...this.#endpoints.values()].map(describeEndpoint) });
    } else if (endpoint === undefined) problem(response, 404, 'webhook_not_found');
    else if (method === 'DELETE') {
      this.#endpoints.delete(endpoint.id);
      response.writeHead(204).end();
    } else if (action === 'rotate-secret') {
      endpoint.secrets.unshift(newSecret());
      json(response, 200, { ...describeEndpoint(endpoint), secret: endpoint.secrets[0] });
    } else if (action === 'test') {
      json(response, 202, { id: randomUUID(), endpoint_id: endpoint.id, type: 'webhook.test', status: 'pending' });
      await this.#deliver(endpoint.url, endpoint.secrets, 'webhook.test', {
        endpoint_id: endpoint.id,
        text: 'A test.',
      });
    } else problem(response, 404, 'not_found');
  }

  #createEndpoint(body: Buffer, response: ServerResponse): void {
    const { url, events = [] } = JSON.parse(body.toString()) as { url: string; events?: string[] };
    const endpoint: Endpoint = { id: randomUUID(), url, events, secrets: [newSecret()] };
    this.#endpoints.set(endpoint.id, endpoint);
    json(response, 201, { ...describeEndpoint(endpoint), secret: endpoint.secrets[0] });
  }

  #describe({ id, status }: StoredRender): unknown {
    const hasSucceeded = status === 'succeeded';
    const url = `${this.url}/results/${id}.jpg`;
    const error = {
      type: `${this.url}/docs/errors`,
      title: 'Asset undecodable',
      status: 422,
      code: 'asset_undecodable',
    };
    return {
      id,
      status,
      progress: { queued: 0, rendering: 0.5, succeeded: 1, failed: 1, canceled: 0.5 }[status],
      source_type: 'image',
      credits: hasSucceeded ? 1 : 0,
      test: false,
      warnings: [],
      missing_glyphs: 0,
      created_at: new Date().toISOString(),
      finished_at: hasSucceeded ? new Date().toISOString() : null,
      output: hasSucceeded
        ? { url, content_type: 'image/jpeg', bytes: IMAGE.length, width: 1080, height: 1350, duration: null }
        : null,
      error: status === 'failed' ? { ...error, detail: 'The image could not be decoded.', instance: id } : null,
    };
  }
}

function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

function describeEndpoint({ id, url, events }: Endpoint): object {
  const state = { status: 'enabled', disabled_reason: null, disabled_at: null, failing_since: null };
  return { id, url, events, ...state, created_at: new Date().toISOString() };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Enough of a parser for the forms of well-behaved clients. */
function fieldsOf({ headers }: IncomingMessage, body: Buffer): Fields {
  if (headers['content-type'] === 'application/json') return JSON.parse(body.toString()) as Fields;
  const field = (name: string): string | undefined =>
    new RegExp(`name="${name}"\\r\\n(?:[^\\r]+\\r\\n)*\\r\\n([^\\r]*)`, 'u').exec(body.toString('latin1'))?.[1];
  const webhookUrl = field('webhook_url');
  return { text: field('text') ?? '', ...(webhookUrl !== undefined && { webhook_url: webhookUrl }) };
}

function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function problem(response: ServerResponse, status: number, code: string, headers: Record<string, string> = {}): void {
  const body = { type: 'about:blank', title: code, status, detail: `Stand-in: ${code}.`, instance: randomUUID(), code };
  response.writeHead(status, { 'content-type': 'application/problem+json', ...headers }).end(JSON.stringify(body));
}

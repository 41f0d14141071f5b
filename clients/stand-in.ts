// A stand-in for what the service can't show on demand: temporary errors. It renders nothing, and reports the requests
// it got to tests. It also serves the example files for `asset_url`, stores files for `put_url`, and receives webhooks.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
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

interface Fields {
  readonly text?: string;
}

interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: number;
}

interface ReceivedWebhook {
  readonly url: string;
  readonly body: string;
}

export interface StandIn {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startStandIn(): Promise<StandIn> {
  const service = new Service();
  const server = createServer((request, response) => {
    service.respond(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

class Service {
  readonly #webhooks: ReceivedWebhook[] = [];
  readonly #attempts = new Map<string, number>();
  readonly #seen: SeenRequest[] = [];
  readonly #files = new Map<string, Buffer>();

  async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', headers, url = '/' } = request;
    const [, area, name = ''] = url.split('/');
    const body = await readBody(request);
    if (area === 'files') await sendFile(name, response);
    else if (area === 'bucket') this.#bucket(method, name.split('?', 1)[0] ?? '', body, response);
    else if (area === 'seen') json(response, this.#seen);
    else if (area === 'hooks' && method === 'GET') {
      // Returns the webhooks that `POST` requests sent to the same URL.
      json(
        response,
        this.#webhooks.filter((webhook) => webhook.url === url),
      );
    } else if (area === 'hooks') {
      this.#webhooks.push({ url, body: body.toString() });
      response.writeHead(204).end();
    } else {
      this.#seen.push({ method, url, headers, bytes: body.length });
      if (headers['x-api-key'] === undefined) problem(response, 401, 'missing_api_key');
      else if (url === '/v1/overlay') this.#overlay(request, body, response);
      else problem(response, 404, 'not_found');
    }
  }

  /** Stores files that `PUT` requests send, and returns them, like a bucket. */
  #bucket(method: string, name: string, body: Buffer, response: ServerResponse): void {
    if (method === 'PUT') this.#files.set(name, body);
    const file = this.#files.get(name);
    if (file === undefined) response.writeHead(404).end();
    else response.end(method === 'PUT' ? '' : file);
  }

  /** The text of the caption decides the response. */
  #overlay(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const { text = '' } = fieldsOf(request, body);
    const key = String(request.headers['idempotency-key']);
    const attempt = (this.#attempts.get(key) ?? 0) + 1;
    this.#attempts.set(key, attempt);
    if (text === 'busy twice' && attempt <= 2) problem(response, 503, 'overloaded', { 'retry-after': '0' });
    else if (text === 'busy for a day') problem(response, 429, 'rate_limited', { 'retry-after': '86400' });
    else if (text === 'no credits') problem(response, 429, 'quota_exceeded', { 'retry-after': '1' });
    else if (text === 'cut off' && attempt === 1) response.destroy();
    else if (text !== 'silence')
      response.writeHead(200, { 'content-type': 'image/png', 'x-render-id': randomUUID() }).end(`attempt ${attempt}`);
  }
}

async function sendFile(name: string, response: ServerResponse): Promise<void> {
  if (name === 'small.png') response.setHeader('content-type', 'image/png').end(SMALL_IMAGE);
  else if (name === 'broken.jpg') response.end(IMAGE.subarray(0, 200));
  else if (name === 'endless.jpg') {
    // A render of this file goes on until it is canceled or the server gives up.
    response.write(IMAGE.subarray(0, 200));
  } else {
    const content = await readFile(path.join(EXAMPLES, path.basename(name))).catch(() => undefined);
    if (content === undefined) response.writeHead(404).end();
    else response.end(content);
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** A minimal parser for the forms of well-behaved clients. */
function fieldsOf({ headers }: IncomingMessage, body: Buffer): Fields {
  const type = headers['content-type'] ?? '';
  if (type === 'application/json') return JSON.parse(body.toString()) as Fields;
  if (type.startsWith('application/x-www-form-urlencoded'))
    return Object.fromEntries(new URLSearchParams(body.toString()));
  const text = /name="text"\r\n(?:[^\r]+\r\n)*\r\n([^\r]*)/u.exec(body.toString('latin1'))?.[1];
  return text === undefined ? {} : { text };
}

function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function problem(response: ServerResponse, status: number, code: string, headers: Record<string, string> = {}): void {
  const body = { type: 'about:blank', title: code, status, detail: `Stand-in: ${code}.`, instance: randomUUID(), code };
  response.writeHead(status, { 'content-type': 'application/problem+json', ...headers }).end(JSON.stringify(body));
}

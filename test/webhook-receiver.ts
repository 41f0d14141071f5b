// A receiver of webhooks on loopback that behaves or misbehaves according to its path.

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface ReceivedWebhook {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface WebhookReceiver {
  /** `http://<host>:<port>`. */
  readonly url: string;
  /** Webhooks in the order of arrival. */
  readonly received: ReceivedWebhook[];
  /** Connections that are open now. */
  connections(): number;
  /** Makes `/switch` respond with this status. It starts with 500. */
  respondWith(status: number): void;
  stop(): Promise<void>;
}

/** The chunk is larger than what this service reads of a response. */
const CHUNK = Buffer.alloc(64 * 1024, 'x');

/** `redirectTo` is where `/redirect` points to. */
export async function startWebhookReceiver(host = '127.0.0.1', redirectTo = ''): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  let status = 500;
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      received.push({ path: request.url ?? '', headers: request.headers, body });
      respond(response, request.url ?? '', { status, redirectTo });
    });
  });
  let open = 0;
  server.on('connection', (socket) => {
    open += 1;
    socket.once('close', () => (open -= 1));
    socket.on('error', () => undefined);
  });
  server.listen(0, host);
  await once(server, 'listening');
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    received,
    connections: () => open,
    respondWith: (next) => {
      status = next;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function respond(
  response: ServerResponse,
  path: string,
  { status, redirectTo }: { readonly status: number; readonly redirectTo: string },
): void {
  const [, kind = ''] = path.split('/');
  switch (kind) {
    case 'silent':
      return;
    case 'closed':
      response.destroy();
      return;
    case 'redirect':
      response.writeHead(302, { location: redirectTo }).end();
      return;
    case 'endless':
      response.writeHead(200, { 'content-type': 'text/plain' });
      writeForever(response);
      return;
    case 'trickle':
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.write('the rest never comes');
      return;
    case 'binary':
      response.writeHead(500).end(Buffer.from([0x61, 0, 0xff, 0xc3, 0x62]));
      return;
    case 'switch':
      response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(`<b>status ${status}</b>`);
      return;
    default:
      response.writeHead(/^\d{3}$/u.test(kind) ? Number(kind) : 200, { 'content-type': 'text/plain' }).end('thanks');
  }
}

function writeForever(response: ServerResponse): void {
  if (response.destroyed) return;
  if (response.write(CHUNK)) setImmediate(writeForever, response);
  else response.once('drain', () => writeForever(response));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

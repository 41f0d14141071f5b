// A receiver of files on loopback that stores a file only when it is complete, as buckets do, and that behaves or misbehaves
// according to its path.

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface PutTry {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Bytes of the body that have arrived. */
  readonly bytes: number;
}

export interface PutReceiver {
  /** `http://<host>:<port>`. */
  readonly url: string;
  readonly tries: PutTry[];
  /** Complete files by path. */
  readonly files: Map<string, Buffer>;
  /** How many tries a path has had. */
  triesOf(path: string): number;
  /** Lets `/hold` respond. */
  release(): void;
  stop(): Promise<void>;
}

/**
 * `/refuse-<status>` responds before the file is sent, `/status-<status>` after it, `/twice-<status>` so to the first two tries,
 * `/nine-times-<status>` to the first nine,
 * `/part` closes the connection after the first bytes, `/hold` responds when it is released, and every other path accepts the file.
 */
export async function startPutReceiver(host = '127.0.0.1'): Promise<PutReceiver> {
  const tries: PutTry[] = [];
  const files = new Map<string, Buffer>();
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const pathOf = ({ url = '' }: IncomingMessage): string => new URL(url, 'http://receiver').pathname;
  const triesOf = (path: string): number => tries.filter((one) => one.path === path).length;
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = pathOf(request);
    const { headers, socket } = request;
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        if (path.startsWith('/part')) break;
      }
    } catch {
      // The sender closed the connection.
    }
    const body = Buffer.concat(chunks);
    tries.push({ path, headers, bytes: body.length });
    if (path.startsWith('/part')) {
      socket.destroy();
      return;
    }
    if (path.startsWith('/hold')) await released;
    const status = statusOf(path, triesOf(path));
    if (status < 300 && body.length === Number(headers['content-length'])) files.set(path, body);
    response.writeHead(status, { location: 'http://127.0.0.1:1/elsewhere', 'x-secret': 'of the receiver' });
    response.end('A long message with details of the receiver.');
  };
  const server = createServer((request, response) => void receive(request, response));
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    const refused = /^\/refuse-(?<status>\d+)/u.exec(pathOf(request))?.groups?.['status'];
    if (refused === undefined) {
      response.writeContinue();
      void receive(request, response);
      return;
    }
    tries.push({ path: pathOf(request), headers: request.headers, bytes: 0 });
    response.writeHead(Number(refused), { location: 'http://127.0.0.1:1/elsewhere' }).end();
  });
  server.on('connection', (socket) => socket.on('error', () => undefined));
  server.listen(0, host);
  await once(server, 'listening');
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    tries,
    files,
    triesOf,
    release: () => release(),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const FAILING_TRIES: Readonly<Record<string, number>> = { status: Infinity, twice: 2, 'nine-times': 9 };

function statusOf(path: string, tries: number): number {
  const { kind = '', status } = /^\/(?<kind>status|twice|nine-times)-(?<status>\d+)/u.exec(path)?.groups ?? {};
  return tries <= (FAILING_TRIES[kind] ?? 0) ? Number(status) : 200;
}

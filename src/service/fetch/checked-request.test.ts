// Hosts that send anything but a response. Assets and webhooks use the same request.

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { sendChecked } from './checked-request.ts';
import { failureReason } from './fetch-failure.ts';
import { FetchPolicy } from './fetch-policy.ts';

const ALLOWED = '127.0.0.2';
const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const TOO_MUCH = 'it sends too many informational responses or too many bytes before its response';

const servers: Server[] = [];
let sent = 0;
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  sent = 0;
});

/** Sends a request to a host that responds with the parts, the last of them until the connection is closed. */
async function requestTo(...parts: readonly string[]): Promise<IncomingMessage> {
  const server = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => void repeat(socket, parts));
  });
  servers.push(server);
  server.listen(0, ALLOWED);
  await once(server, 'listening');
  const url = new URL(`http://${ALLOWED}:${(server.address() as AddressInfo).port}/`);
  const { signal } = new AbortController();
  return await sendChecked(url, { policy: new FetchPolicy('public', [ALLOWED]), headers: {} }, signal, signal);
}

async function repeat(socket: Socket, parts: readonly string[]): Promise<void> {
  for (const part of parts.slice(0, -1)) socket.write(part);
  const last = parts.at(-1) ?? '';
  while (!socket.destroyed) {
    sent += last.length;
    if (!socket.write(last)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => undefined);
    await new Promise(setImmediate);
  }
}

describe('a host that never responds', () => {
  it.each([
    ['informational responses', HINTS],
    ['large informational responses', `HTTP/1.1 103 Early Hints\r\nlink: ${'a'.repeat(15_000)}\r\n\r\n`],
    ['thousands of informational responses at a time', HINTS.repeat(1_400)],
    ['empty lines', '\r\n'.repeat(1_000)],
  ])('a request ends when the host sends only %s', async (_name, part) => {
    const failure = await requestTo(part).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Error);
    expect(failureReason(failure)).toBe(TOO_MUCH);
    // The host can send only what fits into the buffers of the connection, not what it could send in ten seconds.
    expect(sent).toBeLessThan(20_000_000);
  });

  it('a request ends at its deadline although a response follows', async () => {
    const failure = await requestTo(HINTS.repeat(100) + OK).catch((error: unknown) => error);
    expect(failureReason(failure)).toBe(TOO_MUCH);
  });
});

describe('a host that responds', () => {
  it('a host that responds may send a few informational responses first', async () => {
    const response = await requestTo(`HTTP/1.1 100 Continue\r\n\r\n${HINTS.repeat(4)}`, OK);
    expect(response.statusCode).toBe(200);
    response.destroy();
  });

  it('a host that responds may send more than the limit after its response headers, also in the same packet', async () => {
    const response = await requestTo(`HTTP/1.1 200 OK\r\n\r\n${'a'.repeat(100_000)}`);
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > 200_000) break;
    }
    expect(response.statusCode).toBe(200);
    expect(bytes).toBeGreaterThan(200_000);
  });
});

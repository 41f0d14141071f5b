import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refuseBrokenRequest } from './broken-request.ts';

let server: Server;

beforeAll(async () => {
  server = createServer({ headersTimeout: 100, requestTimeout: 100, connectionsCheckingInterval: 20 });
  server.on('clientError', (error, socket) => refuseBrokenRequest(error, socket as never));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => {
  server.close();
});

async function responseTo(bytes: string): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  if (bytes !== '') socket.write(bytes);
  return await text(socket);
}

describe('refuseBrokenRequest', () => {
  it('responds with 400 to bytes that are not HTTP', async () => {
    const response = await responseTo('no HTTP\r\n\r\n');
    expect(response).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/u);
    expect(response).toContain('"code":"malformed_body"');
  });

  it('responds with 408 to a client that stops in the middle of the headers', async () => {
    const response = await responseTo('POST /v1/overlay HTTP/1.1\r\nhost: x\r\n');
    expect(response).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/u);
    expect(response).toContain('"code":"upload_too_slow"');
  });

  it('closes a connection that never sent a byte without a response', async () => {
    expect(await responseTo('')).toBe('');
  });
});
